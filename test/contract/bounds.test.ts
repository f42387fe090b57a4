/** Each list and record in a request is counted before its contents are parsed. */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { api, consoleApi, type Endpoint, endpointsOf, sandbox } from '../../src/contract/index.js';

interface Container {
  readonly name: string;
  readonly kind: 'array' | 'record';
  readonly path: readonly string[];
  readonly endpoint: Endpoint;
}

const endpoints = endpointsOf({ ...api, ...consoleApi, sandbox }).map(
  ({ name, endpoint }) => [name, endpoint] as const,
);

/** The lists and records of a schema, however they are wrapped. */
function containersOf(schema: z.core.$ZodType, path: readonly string[]): Pick<Container, 'kind' | 'path'>[] {
  const { def } = schema._zod as { def: z.core.$ZodTypes['_zod']['def'] };
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([name, field]) => containersOf(field, [...path, name]));
    case 'array':
    case 'record':
      return [{ kind: def.type, path }];
    case 'optional':
    case 'nullable':
    case 'default':
      return containersOf(def.innerType, path);
    case 'pipe':
      return [...containersOf(def.in, path), ...containersOf(def.out, path)];
    case 'union':
      return def.options.flatMap((option) => containersOf(option, path));
    default:
      return [];
  }
}

const containers: Container[] = endpoints.flatMap(([name, endpoint]) =>
  [endpoint.params, endpoint.query, endpoint.body].flatMap((schema) =>
    schema
      ? containersOf(schema, []).map((one) => ({ ...one, name: `${name} ${one.path.join('.')}`, endpoint }))
      : [],
  ),
);

function withValue(body: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  const object = (body ?? {}) as Record<string, unknown>;
  return { ...object, [name]: rest.length === 0 ? value : withValue(object[name], rest, value) };
}

describe('Every list and record of a request', () => {
  it('The lists and records of requests are found', () => {
    expect(containers.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['payments.create metadata', 'paymentPlans.create currencies']),
    );
  });

  it.each(containers.map((one) => [one.name, one] as const))(
    '%s with 6,000 wrong entries is one error, and says how many it may have',
    (_name, { kind, path, endpoint }) => {
      const entries = Array.from({ length: 6000 }, (_, index) => [`name${index}`, index] as const);
      const wrong = kind === 'record' ? Object.fromEntries(entries) : entries;
      const result = endpoint.body?.safeParse(withValue(endpoint.sample.body, path, wrong));
      expect(result?.success).toBe(false);
      expect(result?.error?.issues.map((issue) => issue.path)).toEqual([path]);
    },
  );

  it.each(containers.flatMap((one) => [null, 'text', 1].map((value) => [one.name, value, one] as const)))(
    '%s that is %j is refused in words',
    (_name, value, { path, endpoint }) => {
      const result = endpoint.body?.safeParse(withValue(endpoint.sample.body, path, value));
      expect(result?.error?.issues.map((issue) => issue.path)).toEqual([path]);
    },
  );
});
