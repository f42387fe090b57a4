/** Everything that a server does with payments, once: their whole life, every endpoint, every job, and every command that reads. */
import { join } from 'node:path';
import { api, consoleApi, endpointsOf } from 'crypto-checkout/contract';
import { expect, vi } from 'vitest';
import { commands } from '../../src/command-line/registry.js';
import type { Command } from '../../src/core/commands/command.js';
import { signIn } from './browser.js';
import { liveWithCoins } from './busy-coins.js';
import { evm, type BusyShop, type OpenShop } from './busy-shop.js';
import { nobody, routesOf } from './routes.js';
import { pathOf, validCall } from './valid-calls.js';

const { signal } = new AbortController();

/** @param during is called with the name of the next step */
export async function liveWholeLife(busy: BusyShop, shop: OpenShop, during: (name: string) => void) {
  const { server, records } = shop;
  const { merchant } = records;
  const verify = async (id: string) =>
    (await merchant.transactions.verify({ params: { transaction_id: id } })).data.status;
  const units = (amount: number) => BigInt(Math.round(amount * 1e6));

  /** Waits for the jobs of the server that run at intervals. */
  const reaches = (id: string, status: string) =>
    vi.waitFor(async () => expect(await verify(id)).toBe(status), { timeout: 20_000, interval: 100 });

  during('scans');
  for (const count of [1, 10, 100]) {
    during(`locks of ${count}`);
    const locked: { id: string; address: string; amount: bigint }[] = [];
    for (let made = 0; made < count; made += 10) {
      const some = Array.from({ length: Math.min(10, count - made) }, async () => {
        const { id, address, amount } = await records.lockedPayment(evm.network);
        return { id, address, amount: units(amount) };
      });
      locked.push(...(await Promise.all(some)));
    }
    shop.pay(locked);
    during(`pending scan of ${count}`);
    await shop.mine(0);
    during(`scan of ${count}`);
    await shop.mine(1);
    during(`confirming scan of ${count}`);
    await shop.mine(2);
    await reaches(locked[0]?.id ?? '', 'success');
  }

  if (busy.litecoin) await liveWithCoins(shop, busy.litecoin, during);

  during('a retry of what was set aside');
  const { id: aside } = await records.lockedPayment(evm.network);
  await shop.setAside(aside);
  await shop.mine(1);
  expect(await server.database.reader.selectFrom('quarantine').select('id').execute()).toEqual([]);

  during('payments that are not paid as they should');
  const tron = async (id: string, amount: string | number, currency = 'USDT') => {
    const { addressInformation } = (await merchant.payments.retrieve({ params: { payment_id: id } })).data;
    await records.shop.send(addressInformation?.address ?? '', String(amount), { currency });
  };
  const { id: partial } = await records.lockedPayment('tron');
  await tron(partial, 1);
  const { id: over } = await records.lockedPayment('tron');
  await tron(over, 1000);
  const { id: wrongCoin } = await records.lockedPayment('tron');
  await tron(wrongCoin, 5, 'TRX');
  await records.shop.mine(1);
  during('reorganisation');
  await records.shop.sandbox('reorgs', { network: 'tron', depth: 1, keep: true });
  await records.shop.mine(3);
  await records.shop.sandbox('reorgs', { network: 'tron', depth: 3, keep: false });
  await records.shop.mine(3);
  during('deposit');
  const wallet = (await merchant.wallets.create({ body: { currency: 'USDT', label: 'Till' } })).data;
  const till = wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '';
  await records.shop.send(till, '3');
  await records.shop.mine(3);

  during('expiry');
  const { id: late } = await records.lockedPayment('tron');
  const unlocked = await records.payment();
  await records.shop.advance(200_000);
  await records.shop.mine(2);
  await reaches(late, 'error');
  await reaches(unlocked, 'error');
  during('late');
  await tron(late, 100);
  await records.shop.mine(3);

  during('webhooks');
  busy.receiver.answer = { status: 500 };
  const failing = await records.delivery();
  await vi.waitFor(
    async () => {
      const { data } = await merchant.webhooks.retrieve({ params: { webhook_id: failing.id } });
      expect(data.tries.length).toBeGreaterThan(0);
    },
    { timeout: 20_000 },
  );
  busy.receiver.answer = { status: 204 };
  await merchant.webhooks.retry({ params: { webhook_id: failing.id } });

  for (const one of endpointsOf(api)) {
    during(one.name);
    const call = await validCall(records, one);
    const path = pathOf(one.endpoint, call);
    const answer = await server.api(one.endpoint.method, path, call.body ? { body: call.body } : {});
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200);
  }

  const browser = await signIn(server, 'owner', `owner-${Date.now()}@shop.example`);
  for (const { name, method, title, url } of routesOf(consoleApi)) {
    if (method !== 'GET') continue;
    during(`console ${name}`);
    const { status } = await browser.send('GET', url(nobody));
    expect([200, 404, 400], title).toContain(status);
  }

  for (const { name, run } of server.jobs) {
    during(`job ${name}`);
    await run(signal);
  }
}

/**
 * Commands that read a part of the records, with the rest of their lines. Those that end in one of the `readingWords` run without a line here,
 * with the option of `usualLine`, and fail if they need arguments.
 */
const reading: Readonly<Record<string, (ids: Ids) => string>> = {
  doctor: () => '',
  'merchants list': () => '',
  'keys list': () => '',
  'users list': () => '',
  'audit list': ({ own }) => `${own} --from ${new Date().toISOString().slice(0, 10)}`,
  'chains retry': () => '',
  'payments find': ({ own }) => `order-7 ${own}`,
  'payments show': ({ own, payment }) => `${payment} ${own}`,
  'links show': ({ link }) => link,
  'refunds show': ({ refund }) => refund,
  'transfers psbt list': () => '',
  'transfers export': () => '--network evm-dev --format json',
  'transfers exported': () => '',
  'sweeps plan': () => '--network evm-dev',
  'sweeps export': () => '--network evm-dev --format json',
  'sweeps list': () => '',
  'deposit-keys list': () => '',
  'networks check': () => '--network evm-dev',
};

/** Commands that read all by design, each with its reason. They read in parts. */
const readingAll: Readonly<Record<string, { readonly why: string; line(ids: Ids): string }>> = {
  'payments export': {
    why: 'writes all payments',
    line: ({ own, directory }) => `${own} --format csv --output ${join(directory, 'payments.csv')}`,
  },
  'books export': {
    why: 'writes all bookings of the month',
    line: ({ own, directory }) =>
      `${own} --month ${new Date().toISOString().slice(0, 7)} --output ${join(directory, 'books.csv')}`,
  },
  'addresses export': { why: 'writes all addresses', line: ({ own }) => `${own} --format csv` },
  'audit check': { why: 'computes the hash of every entry', line: () => '' },
  'ledger check': { why: 'adds up all postings, and asks nodes for all coins', line: () => '--chain' },
  'chains reconcile': { why: 'the round through all addresses', line: () => '--network evm-dev' },
  'customers erase': {
    why: 'looks into every webhook event and stored reply of the merchant for the person',
    line: ({ own, email }) => `${email} ${own}`,
  },
  'sandbox reset': { why: 'deletes all', line: ({ foreign }) => `--merchant ${foreign} --yes` },
};

/**
 * The last words of commands that read. All others that are not named above change one record, whose statements the API's endpoints run too,
 * or copy the whole database.
 */
const readingWords = /(?:^| )(?:list|show|find|status|check|plan|exported?)$/;
/** They end in such a word, and work on one PSBT. */
const ofOnePsbt = ['transfers psbt export', 'transfers psbt show'];

const usualLine = ({ options = {} }: Command, { own }: Ids) => ('merchant' in options ? own : '');

interface Ids {
  readonly own: string;
  readonly payment: string;
  readonly refund: string;
  readonly link: string;
  readonly foreign: string;
  readonly email: string;
  readonly directory: string;
}

interface CommandRun {
  readonly name: string;
  /** Why it may read all rows. */
  readonly why?: string;
  run(): Promise<unknown>;
}

/** A run of each command that reads. @param directory for the files that they write */
export async function readingCommands(shop: OpenShop, directory: string): Promise<readonly CommandRun[]> {
  const named = [...Object.keys(reading), ...Object.keys(readingAll), ...ofOnePsbt];
  expect([...commands.keys()]).toEqual(expect.arrayContaining(named));
  const usual = [...commands].filter(([name]) => readingWords.test(name) && !named.includes(name));
  expect(usual.length).toBeGreaterThan(0);
  const { server, records } = shop;
  const ids: Ids = {
    own: `--merchant ${server.bootstrapped.merchantId}`,
    payment: await records.paidPayment('ethereum'),
    refund: (await records.refund()).id,
    link: await records.link(),
    email: (await records.customer()).email,
    foreign: await server.database.write(
      async (transaction) => (await server.app.merchants.create(transaction, { name: 'Another' })).id,
    ),
    directory,
  };
  const runOf = (name: string, rest: string) => () => shop.command(`${name} ${rest}`.trim());
  return [
    ...usual.map(([name, command]) => ({ name, run: runOf(name, usualLine(command, ids)) })),
    ...Object.entries(reading).map(([name, line]) => ({ name, run: runOf(name, line(ids)) })),
    ...Object.entries(readingAll).map(([name, { why, line }]) => ({
      name,
      why,
      run: runOf(name, line(ids)),
    })),
  ];
}
