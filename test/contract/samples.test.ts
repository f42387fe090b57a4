/** Every sample is valid under its endpoint's schemas, which drop unknown keys. */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { api, endpointsOf, sandbox } from '../../src/contract/index.js';

const all = endpointsOf({ ...api, sandbox });

type Part = 'params' | 'query' | 'body' | 'data';
interface SamplePart {
  readonly name: string;
  readonly part: Part;
  readonly schema: z.ZodMiniType;
  /** As sent over the wire. */
  readonly sample: unknown;
}

const sampleParts: readonly SamplePart[] = all.flatMap(({ name, endpoint }) =>
  (['params', 'query', 'body', 'data'] as const).flatMap((part) => {
    const schema = endpoint[part];
    const sample = endpoint.sample[part];
    if (schema === undefined || sample === undefined) return [];
    return [{ name, part, schema, sample: JSON.parse(JSON.stringify(sample)) as unknown }];
  }),
);

/** Objects that may have any keys, so no key is unknown. */
const isOpen = (name: string) => ['headers', 'spec', 'sample_response', 'metadata', 'query'].includes(name);

/** Adds an unknown key to every object in the value. */
function withUnknownKeys(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withUnknownKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, unknown>).map(([name, inner]) => [
    name,
    isOpen(name) ? inner : withUnknownKeys(inner),
  ]);
  return { ...Object.fromEntries(entries), unknown_key: 'unknown' };
}

describe.each(all)('$name', ({ endpoint }) => {
  it('The endpoint has samples of its params, body and data, and none of a part that it lacks', () => {
    const { sample } = endpoint;
    expect(sample.params !== undefined).toBe(endpoint.params !== undefined);
    expect(sample.body !== undefined).toBe(endpoint.body !== undefined);
    expect(sample.data !== undefined).toBe(endpoint.data !== undefined);
    if (sample.query) expect(endpoint.query).toBeDefined();
    expect(sample.message).toMatch(/^[A-Z]/);
  });
});

describe.each(sampleParts)('$name $part', ({ schema, sample }) => {
  it('The sample is valid', () => {
    expect(schema.safeParse(sample).error?.issues).toBeUndefined();
  });

  it('The schema drops unknown keys', () => {
    expect(schema.parse(withUnknownKeys(sample))).toEqual(schema.parse(sample));
  });
});

it.each(sampleParts.filter(({ part }) => part === 'data'))(
  '$name returns its sample data unchanged',
  ({ schema, sample }) => {
    expect(schema.parse(sample)).toEqual(sample);
  },
);

it('Every record says whether it is of test mode or of live mode', () => {
  const records = sampleParts
    .filter(({ part }) => part === 'data')
    .flatMap(({ name, sample }) => [sample].flat().map((record) => ({ name, record })))
    .filter(({ record }) => typeof record === 'object' && record !== null && 'id' in record);
  expect(records.length).toBeGreaterThan(30);
  const without = records.filter(({ record }) => !('mode' in (record as object)));
  expect(without.map(({ name }) => name)).toEqual([]);
});
