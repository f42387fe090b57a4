/** Nearly valid requests of a shop's page and server: each answer can be read, and says what was meant. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from '../support/call.js';
import { sqlite } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ engine: sqlite });
});
afterAll(() => server.stop());

it.each([
  ['/checkout-offer/pk_test_nobody.json', 401, 'invalid_api_key'],
  ['/checkout-offers/pk_test_nobody.json', 404, 'not_found'],
  ['/api/v1/payments/checkout', 404, 'not_found'],
  ['/chunks/gone-12345678.js', 404, 'not_found'],
  ['/%ff', 400, 'validation_error'],
])('a page of any origin can read why %s is refused', async (path, status, code) => {
  const reply = await fetch(server.url + path, { headers: { Origin: 'https://shop.example' } });
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([status, '*']);
  expect(await reply.json()).toMatchObject({ data: { code } });
});

const order = { amount: '20', baseCurrency: 'USD' };
const messageOf = async (body: object, key = server.secretKey) => {
  const { status, body: reply } = await call(server.url, 'POST', '/v1/payments/checkout', { key, body });
  expect(status).toBe(200);
  return reply.message;
};

it('with a test key, the reply names the fields of a create that are ignored, and what was probably meant', async () => {
  expect(await messageOf(order)).not.toContain('Ignored');
  const message = await messageOf({
    ...order,
    redirectURL: 'https://shop.example',
    email: 'ada@shop.example',
  });
  expect(message).toContain('redirectURL (did you mean redirectUrl?)');
  expect(message).toContain('email (did you mean customer.email?)');
  const nested = await messageOf({
    ...order,
    customer: { e_mail: 'x', Email: 'y' },
    metadata: { anything: 'z' },
  });
  expect(nested).toMatch(/: customer\.e_mail \(did you mean customer\.email\?\), customer\.Email \(did/);
});
