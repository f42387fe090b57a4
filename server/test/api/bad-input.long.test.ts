/** Sends bad input to every route of the API on PostgreSQL. The quick tests send it on SQLite. */
import { describe } from 'vitest';
import { lastEngine } from '../support/engines.js';
import { testBadInput } from './bad-input.js';

describe('On the other engine', () => testBadInput(lastEngine));
