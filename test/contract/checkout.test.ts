/**
 * checkout.ts is the only part of the contract that a browser loads, so it may import only the shapes and the payment's
 * states.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it.each([
  ['checkout.ts', ['./payment-states.js', './shape.js']],
  ['payment-states.ts', []],
  ['shape.ts', []],
])('%s imports only %j, and types', (file, expected) => {
  const source = readFileSync(new URL(`../../src/contract/${file}`, import.meta.url), 'utf8');
  const loaded = [...source.matchAll(/^(?:import|export)\s+(type\s)?.*?from\s+'([^']+)';$/gms)]
    .filter(([, type]) => type === undefined)
    .map(([, , module]) => module);
  expect(loaded).toEqual(expected);
  expect(source).not.toMatch(/import\s*\(|require\s*\(|^import\s+'/m);
});
