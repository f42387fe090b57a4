/** checkout.ts is the only part of the contract that a browser loads, so it may import nothing but zod/mini. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('imports only zod/mini, and types', () => {
  const source = readFileSync(new URL('../../src/contract/checkout.ts', import.meta.url), 'utf8');
  const loaded = [...source.matchAll(/^(?:import|export)\s+(type\s)?.*?from\s+'([^']+)';$/gms)]
    .filter(([, type]) => type === undefined)
    .map(([, , module]) => module);
  expect(loaded).toEqual(['zod/mini']);
  expect(source).not.toMatch(/import\s*\(|require\s*\(|^import\s+'/m);
});
