/** docs/errors.md has one entry for each error code, in order, with its HTTP status. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorStatus } from '../../src/contract/errors.js';

const entries = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((entry) => entry.trim().split('\n'));

it('documents the closed list of codes', () => {
  expect(entries.map(([heading]) => heading)).toEqual(Object.keys(errorStatus));
});

it('gives each code the status that the API answers with', () => {
  const documented = entries.map(([code, , first = '']) => [
    code,
    Number(/^HTTP (\d{3})[.,]/.exec(first)?.[1]),
  ]);
  expect(documented).toEqual(Object.entries(errorStatus));
});

it.each(entries)('%s: says what it means, when it happens and what to do', (_, ...lines) => {
  const prose = lines.filter((line) => line !== '');
  expect(prose.length).toBeGreaterThanOrEqual(3);
  expect(prose.filter((line) => line.startsWith('It happens'))).toHaveLength(1);
});
