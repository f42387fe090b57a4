/** Sends bad input to every route of the API: bad values on both engines; what is refused unread, on one. The long tests have the rest. */
import { api, sandbox, type Endpoint } from 'crypto-checkout/contract';
import { describe, expect, it } from 'vitest';
import { engines, sqlite } from '../support/engines.js';
import { all, ofRecord, testBadValues, testMalformed } from './bad-input.js';

it('The tests cover every route', () => {
  const declared = [...Object.values(api), sandbox].flatMap((verbs) => Object.values<Endpoint>(verbs));
  expect(new Set(all.map(({ endpoint }) => endpoint)).size).toBe(declared.length);
  expect(all.length).toBeGreaterThan(declared.length);
  expect(ofRecord.length).toBeGreaterThan(0);
});

describe('On SQLite', () => testMalformed(sqlite));

describe.each(engines)('On $name', (engine) => testBadValues(engine));
