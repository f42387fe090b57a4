/** Every sample parses under its own endpoint's schemas, and what the schemas do not know is dropped. */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { sandbox } from '../../src/contract/index.js';
import { rows, type Row } from './endpoints.js';

const all: readonly Row[] = [
  ...rows,
  ...Object.entries(sandbox).map(([verb, endpoint]) => ({ name: `sandbox.${verb}`, endpoint })),
];

type Part = 'params' | 'query' | 'body' | 'data';
interface Given {
  readonly name: string;
  readonly part: Part;
  readonly schema: z.ZodMiniType;
  /** As it goes over the wire. */
  readonly sample: unknown;
}

const given: readonly Given[] = all.flatMap(({ name, endpoint }) =>
  (['params', 'query', 'body', 'data'] as const).flatMap((part) => {
    const schema = endpoint[part];
    const sample = endpoint.sample[part];
    if (schema === undefined || sample === undefined) return [];
    return [{ name, part, schema, sample: JSON.parse(JSON.stringify(sample)) as unknown }];
  }),
);

/** Objects with names of their own choosing, where nothing is surplus. */
const isOpen = (name: string) => ['headers', 'spec', 'sample_response'].includes(name);

/** The value with a key that no schema knows in each of its objects. */
function withSurplus(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withSurplus);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, unknown>).map(([name, inner]) => [
    name,
    isOpen(name) ? inner : withSurplus(inner),
  ]);
  return { ...Object.fromEntries(entries), surplus_key: 'surplus' };
}

describe.each(all)('$name', ({ endpoint }) => {
  it('has a sample of everything it declares, and of nothing else', () => {
    const { sample } = endpoint;
    expect(sample.params !== undefined).toBe(endpoint.params !== undefined);
    expect(sample.body !== undefined).toBe(endpoint.body !== undefined);
    expect(sample.data !== undefined).toBe(endpoint.data !== undefined);
    if (sample.query) expect(endpoint.query).toBeDefined();
    expect(sample.message).toMatch(/^[A-Z]/);
  });
});

describe.each(given)('$name $part', ({ schema, sample }) => {
  it('parses', () => {
    expect(schema.safeParse(sample).error?.issues).toBeUndefined();
  });

  it('drops unknown keys', () => {
    expect(schema.parse(withSurplus(sample))).toEqual(schema.parse(sample));
  });
});

it.each(given.filter(({ part }) => part === 'data'))(
  '$name answers what its sample shows',
  ({ schema, sample }) => {
    expect(schema.parse(sample)).toEqual(sample);
  },
);
