/**
 * Rules that every endpoint of the table keeps. No test repeats the table: a change to it is seen in `openapi.json`, which is made from
 * it, and `server/test/roles.test.ts` lists the endpoints that need no secret key.
 */
import { describe, expect, it } from 'vitest';
import { api, endpointsOf, pathsOf, placeholdersOf } from '../../src/contract/index.js';

const rows = endpointsOf(api);

describe('the table', () => {
  it('The only aliases are the /checkout/ paths of public endpoints', () => {
    const having = rows.flatMap(({ endpoint: { aliases = [], path, key } }) =>
      aliases.length === 0 ? [] : [{ aliases, path, key }],
    );
    expect(having.length).toBeGreaterThan(0);
    expect(having).toEqual(
      having.map(({ path }) => ({
        aliases: [path.replace('/v1/payments/', '/v1/payments/checkout/')],
        path,
        key: 'public',
      })),
    );
  });

  it('Each method and path belongs to one endpoint, including aliases', () => {
    const places = rows.flatMap(({ endpoint }) =>
      pathsOf(endpoint).map((path) => `${endpoint.method} ${path.replace(/\{\*?[a-z_]+\}/g, '{}')}`),
    );
    expect(places.length).toBeGreaterThan(rows.length);
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });
});

describe.each(rows)('$name', ({ endpoint }) => {
  it.each(pathsOf(endpoint))('%s: the placeholders match the params', (path) => {
    const params = Object.keys(endpoint.params?.shape ?? {});
    expect(placeholdersOf(path).sort()).toEqual(params.sort());
  });

  it('The endpoint has a description in sentences', () => {
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/);
  });

  it('The endpoint takes a body only with POST or PATCH', () => {
    expect(endpoint.body === undefined || ['POST', 'PATCH'].includes(endpoint.method)).toBe(true);
  });

  it('The endpoint is paginated if and only if it takes page and skip', () => {
    const query = Object.keys(endpoint.query?.shape ?? {});
    const asks = ['page', 'skip', 'from', 'to'].filter((name) => query.includes(name));
    // Lists that are read by a cursor have a period too.
    const others = query.includes('cursor') ? ['from', 'to'] : [];
    expect(asks).toEqual(endpoint.paginated ? ['page', 'skip', 'from', 'to'] : others);
    if (endpoint.paginated) expect(endpoint.sample.data).toBeInstanceOf(Array);
  });
});
