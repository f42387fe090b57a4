/** The page at `/`, where a server has no demo shop, and at addresses without a page. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const html = { headers: { Accept: 'text/html,*/*;q=0.8' } };
const [engine] = enginesOfQuick;
if (!engine) throw new Error('No engine');
let live: TestServer;
let trial: TestServer;
beforeAll(async () => {
  live = await startServer({ engine, env: { SANDBOX: 'off' } });
  trial = await startServer({ engine });
});
afterAll(async () => {
  await live.stop();
  await trial.stop();
});

it('A live server shows staff and developers the way, and a payer the way back', async () => {
  const reply = await fetch(`${live.url}/`, html);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await reply.text();
  expect(text).toContain('open the link that your shop gave you');
  for (const path of ['/docs', '/console']) {
    expect(text).toContain(
      `href="${live.url}${path}"`.replace('127.0.0.1', path === '/console' ? 'localhost' : '127.0.0.1'),
    );
    expect((await fetch(live.url + path, html)).status).toBe(200);
  }
  expect((await fetch(`${live.url}/start.css`)).status).toBe(200);
});

it('Programs that ask for JSON get the error of the API', async () => {
  const reply = await fetch(`${live.url}/`, { headers: { Accept: 'application/json' } });
  expect(reply.status).toBe(404);
  expect(await reply.json()).toMatchObject({ data: { code: 'not_found' } });
});

it('A browser at an address that has no page gets one with the way on, and programs get the error of the API', async () => {
  for (const server of [live, trial])
    for (const path of ['/nope', '/docs/nope', '/docs/api/nope/', '/nope.js']) {
      const reply = await fetch(server.url + path, html);
      const text = await reply.text();
      expect([path, reply.status, reply.headers.get('content-type')]).toEqual([
        path,
        404,
        'text/html; charset=utf-8',
      ]);
      expect(text).toContain('Page not found');
      expect(text).toContain(`href="${server.url}/docs"`);
      expect(text).not.toContain('nope');
      for (const Accept of ['*/*', 'application/json']) {
        const refused = await fetch(server.url + path, { headers: { Accept } });
        expect(refused.status).toBe(404);
        expect(await refused.json()).toMatchObject({ status: 'error', data: { code: 'not_found' } });
      }
    }
  for (const path of ['/v1/nope', '/console/api/nope']) {
    const reply = await fetch(live.url + path, html);
    expect([path, reply.headers.get('content-type')]).toEqual([path, 'application/json; charset=utf-8']);
  }
  expect((await fetch(`${live.url}/nope`, { ...html, method: 'POST' })).headers.get('content-type')).toMatch(
    /json/,
  );
});

it('The demo shop keeps its place', async () => {
  expect(await (await fetch(`${trial.url}/`, html)).text()).not.toContain(
    'This server takes payments for shops',
  );
});
