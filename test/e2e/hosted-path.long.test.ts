/** The hosted page of a server that shares its host with other sites: a proxy in front takes a path off each request. */
import { request as forward, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { useStage } from './stage.js';

const path = '/crypto';
let target = '';

const proxy: Server = createServer((incoming, outgoing) => {
  const { method, headers, url = '' } = incoming;
  if (!url.startsWith(`${path}/`)) return outgoing.writeHead(404).end();
  const onward = forward(target + url.slice(path.length), { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  return incoming.pipe(onward);
});

const stage = useStage({
  async start() {
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    return { env: { PUBLIC_URL: `http://127.0.0.1:${port}${path}` } };
  },
});

afterAll(() => void proxy.close());

test('a payment is paid on it, by its link as the API gives it', async () => {
  target = stage.server.url;
  const { url, payment } = await stage.create({ amount: '49.90', baseCurrency: 'USD' });
  expect(new URL(url).pathname).toBe(`${path}/pay/${payment.id}`);
  const page = await stage.page();
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('choosing-currency');
  await page.locator('crypto-checkout input[value="USDT"]').click();
  await page.locator('crypto-checkout input[value="tron"]').click();
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  const locked = await stage.verify(payment.id);
  await stage.send(locked, locked.amountDue ?? 0);
  await checkout.reach('success');
});
