/** Sends bad input to every route of the API, on SQLite. The long tests send it on PostgreSQL. */
import { api, sandbox, type Endpoint } from 'crypto-checkout/contract';
import { describe, expect, it } from 'vitest';
import { sqlite } from '../support/engines.js';
import { all, ofRecord, testBadInput } from './bad-input.js';

it('The tests cover every route', () => {
  const declared = [...Object.values(api), sandbox].flatMap((verbs) => Object.values<Endpoint>(verbs));
  expect(new Set(all.map(({ endpoint }) => endpoint)).size).toBe(declared.length);
  expect(all.length).toBeGreaterThan(declared.length);
  expect(ofRecord.length).toBeGreaterThan(0);
});

describe('On SQLite', () => testBadInput(sqlite));
