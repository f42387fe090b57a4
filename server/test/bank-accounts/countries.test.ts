/** Countries over real HTTP, and their flags. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { rowsOf } from '../support/lists.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('countries, on $name', (engine) => {
  let server: TestServer;
  let countries: Record<string, unknown>[] = [];

  beforeAll(async () => {
    server = await startServer({ engine });
    const answer = await server.api('GET', '/v1/countries');
    expect(answer.body).not.toHaveProperty('meta');
    countries = rowsOf(answer);
  });
  afterAll(() => server.stop());

  it('the countries are complete, sorted by name, with each code once', () => {
    expect(countries.length).toBeGreaterThanOrEqual(249);
    expect(new Set(countries.map(({ code }) => code)).size).toBe(countries.length);
    const names = countries.map(({ name }) => String(name));
    expect(names).toEqual([...names].sort(new Intl.Collator('en').compare));
    expect(countries.every(({ code }) => /^[A-Z]{2}$/.test(String(code)))).toBe(true);
    expect(countries).toContainEqual({ name: 'Nigeria', code: 'NG', flag: `${server.url}/flags/ng.svg` });
    expect(countries).toContainEqual({
      name: "Cote d'Ivoire",
      code: 'CI',
      flag: `${server.url}/flags/ci.svg`,
    });
  });

  it('each country has a flag that the server serves', async () => {
    for (const { flag } of countries) {
      const response = await fetch(String(flag));
      const svg = await response.text();
      expect([response.status, response.headers.get('content-type')], String(flag)).toEqual([
        200,
        'image/svg+xml',
      ]);
      expect(svg).toMatch(/^<svg[^>]* viewBox="0 0 640 480"/);
    }
  });

  it('flags can be embedded and cached, and cannot run anything', async () => {
    const { headers } = await fetch(`${server.url}/flags/ng.svg`);
    expect(headers.get('cache-control')).toBe('public, max-age=604800');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const etag = headers.get('etag') ?? '';
    const status = await new Promise((resolve, reject) => {
      request(`${server.url}/flags/ng.svg`, { headers: { 'If-None-Match': etag } }, (reply) => {
        resolve(reply.resume().statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(304);
  });

  it.each([
    'zz.svg',
    'NG.svg',
    'ng.png',
    'ng',
    'gb-eng.svg',
    '..%2Fng.svg',
    '%2e%2e%2f%2e%2e%2fpackage.json',
  ])('there is no flag %s', async (name) => {
    const response = await fetch(`${server.url}/flags/${name}`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('not_found');
  });

  it('the URLs of flags begin with the public URL of the server', async () => {
    const elsewhere = await startServer({ engine, env: { PUBLIC_URL: 'https://pay.example.com/api' } });
    try {
      const [first] = rowsOf(await elsewhere.api('GET', '/v1/countries'));
      expect(first).toMatchObject({ code: 'AF', flag: 'https://pay.example.com/api/flags/af.svg' });
    } finally {
      await elsewhere.stop();
    }
  });
});
