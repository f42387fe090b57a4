/** Malformed requests for every route of the API on PostgreSQL. The quick tests send them on SQLite: no record is looked up. */
import { describe } from 'vitest';
import { lastEngine } from '../support/engines.js';
import { testMalformed } from './bad-input.js';

describe('On the other engine', () => testMalformed(lastEngine));
