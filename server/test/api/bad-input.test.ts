/** Sends bad input to every route of the API, on SQLite. The long tests send it on PostgreSQL. */
import { api, endpointsOf, sandbox } from 'crypto-checkout/contract';
import { describe, expect, it } from 'vitest';
import { sqlite } from '../support/engines.js';
import { all, ofRecord, testBadInput } from './bad-input.js';

it('The tests cover every route', () => {
  const declared = endpointsOf({ ...api, sandbox });
  expect(new Set(all.map(({ endpoint }) => endpoint)).size).toBe(declared.length);
  expect(all.length).toBeGreaterThan(declared.length);
  expect(ofRecord.length).toBeGreaterThan(0);
});

describe('On SQLite', () => testBadInput(sqlite));
