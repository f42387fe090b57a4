/** A link that strangers press thousands of times: its numbers stay whole, its page stays quick, and nothing of its stock is held. */
import type { Link } from 'crypto-checkout/contract';
import { expect, test } from 'vitest';
import { links } from '../../src/modules/links/module.js';
import { lastEngine } from '../support/engines.js';
import { openLink } from '../support/link-page.js';
import { openShop } from '../support/shop.js';
import { startServer } from '../support/server.js';

const presses = 10_000;
/** As many as wait for the same link at once. */
const together = 20;

test(`${presses} presses make as many payments, and hold nothing`, { timeout: 600_000 }, async () => {
  const server = await startServer({ engine: lastEngine });
  const merchant = openShop(server);
  const link = await merchant.createLink({ title: 'Lamp', amount: 10, baseCurrency: 'USD', stock: 1 });
  const { sales } = links.rules(server.app);
  const msOfPage = async () => {
    const began = performance.now();
    expect((await openLink(server, link.slug)).status).toBe(200);
    return performance.now() - began;
  };
  const before = Math.min(await msOfPage(), await msOfPage(), await msOfPage());
  const ids = new Set<string>();
  const began = performance.now();
  for (let made = 0; made < presses; made += together) {
    const some = Array.from({ length: together }, (_, index) =>
      sales.press(link.id, {
        amount: undefined,
        quantity: 1,
        answers: {},
        token: `press ${made + index}`,
        address: `10.0.${made % 250}.${index}`,
      }),
    );
    for (const id of await Promise.all(some)) ids.add(id);
  }
  const msOfPress = (performance.now() - began) / presses;
  expect(ids.size).toBe(presses);
  const numbers = await server.database.reader
    .selectFrom('link_payments')
    .select((e) => [e.fn.min<number>('number').as('first'), e.fn.max<number>('number').as('last')])
    .where('link_id', '=', link.id)
    .executeTakeFirstOrThrow();
  expect(numbers).toEqual({ first: 1, last: presses });
  expect(await merchant.ask<Link>('GET', `/v1/links/${link.id}`)).toMatchObject({
    reserved: 0,
    sold: 0,
    payments: presses,
  });
  const after = Math.min(await msOfPage(), await msOfPage(), await msOfPage());
  console.log(
    `A press takes ${msOfPress.toFixed(1)} ms; the page ${before.toFixed(1)} ms, then ${after.toFixed(1)} ms`,
  );
  expect(after).toBeLessThan(20 + 10 * before);

  // The last one of them is still sold, once.
  const all = [...ids];
  const codes = [];
  for (const id of [all.at(-1) ?? '', all[0] ?? '']) {
    const path = `/v1/payments/${id}/currency`;
    const key = server.publicKey;
    await merchant.ask('PATCH', `${path}/set/USDT/tron`, { key });
    codes.push((await server.api('PATCH', `${path}/lock`, { key })).status);
  }
  expect(codes).toEqual([200, 409]);
  await server.stop();
});
