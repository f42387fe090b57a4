/** checkout.ts is what a browser loads of the contract: it may pull in nothing but zod/mini. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('imports zod/mini, and types alone from elsewhere', () => {
  const source = readFileSync(new URL('../../src/contract/checkout.ts', import.meta.url), 'utf8');
  const loaded = [...source.matchAll(/^(?:import|export)\s+(type\s)?.*?from\s+'([^']+)';$/gms)]
    .filter(([, type]) => type === undefined)
    .map(([, , module]) => module);
  expect(loaded).toEqual(['zod/mini']);
  expect(source).not.toMatch(/import\s*\(|require\s*\(|^import\s+'/m);
});
