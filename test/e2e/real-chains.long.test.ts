/**
 * The main job with real coins: somebody reads the page and pays on anvil or Litecoin Core, in full, in two parts, or
 * too much, and gets the excess back.
 */
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook, type ReceivedWebhook } from 'crypto-checkout/client';
import { decimalOf, fromUnits, toUnits, type Payment } from 'crypto-checkout/contract';
import { HDKey } from '@scure/bip32';
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { deployFactory, transact } from '../../server/test/support/forwarders.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../../server/test/support/litecoin.js';
import { signWith, tpub } from '../../server/test/support/sign-psbt.js';
import { ScriptedWallet } from '../support/scripted-wallet.js';
import { giveWallet } from './browser-wallet.js';
import { checkoutOn, type Checkout } from './checkout.js';
import { merchantIdOf, runCommand, setDepositKey } from './deposit-keys.js';
import { enter, heading, look, press } from './claim-page.js';
import { useStageWithCommands, writeNetworks } from './stage.js';

/** The way to pay and mine a coin. */
interface Coin {
  readonly currency: string;
  /** As the coin picker names it. */
  readonly name: string;
  readonly network: string;
  readonly networkName: string;
  /** Decimals on the chain. */
  readonly decimals: number;
  readonly explorer: string;
  /** Sends this much, and returns the transaction's hash. It waits for a block. */
  send(address: string, amount: string): Promise<string>;
  mine(): Promise<void>;
  /** The coins of an address that are in a block, in the smallest unit of the chain. */
  balanceOf(address: string): Promise<bigint>;
}

const explorer = 'https://explorer.example/tx/';
const explorers = { tx: `${explorer}{txHash}`, address: `${explorer}{address}` };
/** Of public test networks by default. */
const confirmations = 2;

let anvil: Anvil;
let litecoin: LitecoinNode | undefined;
let token: Hex;
let shop: Server;
let shopUrl: string;
let secret: string;
/** The content of the shop's page. */
let shopPage = '';
const webhooks: ReceivedWebhook[] = [];

const { stage, env, pathOf } = useStageWithCommands({
  async prepare(directory) {
    [anvil, litecoin] = await Promise.all([startAnvil(), hasLitecoind ? startLitecoin() : undefined]);
    token = await anvil.deploy('SilentToken');
    await anvil.automine(false);
    const networks = {
      'evm-dev': {
        nodes: [anvil.url],
        explorer: explorers,
        assets: { USDT: { contract: token, decimals: 6 } },
      },
      ...(litecoin && { 'litecoin-regtest': { nodes: [litecoin.url], explorer: explorers } }),
    };
    return writeNetworks(directory, networks);
  },
});

beforeAll(async () => {
  shop = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(shopPage);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      webhooks.push(verifyWebhook(Buffer.concat(chunks).toString(), request.headers, secret));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  const merchant = await merchantIdOf(env());
  // The secret comes before the deposit keys: their webhook is already signed with it.
  const updated = await runCommand(env(), 'merchants', 'update', merchant, '--webhook-url', shopUrl);
  secret = (updated as { webhookSecret: string }).webhookSecret;
  await setDepositKey(stage, env(), merchant, 'evm', 'evm-dev');
  if (litecoin) await setDepositKey(stage, env(), merchant, 'litecoin', 'litecoin-regtest');
});
beforeEach(() => {
  webhooks.length = 0;
});
afterAll(async () => {
  shop.close();
  await Promise.all([anvil.stop(), litecoin?.stop()]);
});

const mineOnAnvil = () => anvil.mine();
const onAnvil = { network: 'evm-dev', networkName: 'EVM development chain', mine: mineOnAnvil, explorer };
const ether: Coin = {
  ...onAnvil,
  currency: 'ETH',
  name: 'Ether',
  decimals: 18,
  send: (address, amount) => anvil.send(address, toUnits(amount, 18)),
  balanceOf: (address) => anvil.rpc<Hex>('eth_getBalance', [address, 'latest']).then(BigInt),
};
const tether: Coin = {
  ...onAnvil,
  currency: 'USDT',
  name: 'Tether USD',
  decimals: 6,
  send: (address, amount) => anvil.call('SilentToken', token, 'transfer', [address, toUnits(amount, 6)]),
  async balanceOf(address) {
    const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
    return BigInt(await anvil.rpc<Hex>('eth_call', [{ to: token, data }, 'latest']));
  },
};
const litecoins: Coin = {
  currency: 'LTC',
  name: 'Litecoin',
  decimals: 8,
  explorer,
  network: 'litecoin-regtest',
  networkName: 'Litecoin regtest',
  send: (address, amount) => coreNode().pay(address, amount),
  async mine() {
    await coreNode().mine();
  },
  async balanceOf(address) {
    const found = await coreNode().rpc<{ total_amount: number }>('scantxoutset', 'start', [
      `addr(${address})`,
    ]);
    return toUnits(decimalOf(found.total_amount), 8);
  },
};
function coreNode(): LitecoinNode {
  if (!litecoin) throw new Error('There is no Litecoin Core');
  return litecoin;
}

interface Opened {
  readonly page: Page;
  readonly checkout: Checkout;
}

/** Opens a payment of 20 dollars that the shop's server created. */
async function openHostedPage(): Promise<Opened> {
  const { url } = await stage.create();
  const page = await stage.page();
  await page.goto(url);
  return { page, checkout: checkoutOn(page) };
}

let orders = 0;
/** Opens a shop's own page, whose widget creates the payment at a press of its button. */
async function openWidget(): Promise<Opened> {
  orders += 1;
  const { url, publicKey } = stage.server;
  shopPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
    <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
    <script type="module" src="${url}/crypto-checkout.js"></script></head><body><h1>A shop</h1>
    <crypto-checkout public-key="${publicKey}" amount="20" base-currency="USD" tx-ref="shop-${orders}"></crypto-checkout>
    </body></html>`;
  const page = await stage.page();
  await page.goto(shopUrl);
  const checkout = checkoutOn(page);
  await checkout.reach('idle');
  await checkout.act();
  return { page, checkout };
}

/** The amount that the page asks for: the plain decimal. */
async function amountOn(checkout: Checkout, { currency }: Coin): Promise<string> {
  const [amount = '', code] = (await checkout.part('amount').innerText()).split(/\s/u);
  expect(code).toBe(currency);
  expect(amount).toMatch(/^\d+(\.\d+)?$/);
  return amount;
}

/** The payment, as the shop's server sees it. */
async function paymentTo(address: string): Promise<Payment> {
  const { data } = await stage.merchant.transactions.list();
  const found = data.find(({ addressInformation }) => addressInformation?.address === address);
  if (!found) throw new Error(`No payment has the address ${address}`);
  return stage.verify(found.id);
}

const eventsOf = ({ id }: Payment) => webhooks.flatMap(({ type, data }) => (data.id === id ? [type] : []));

/** The page and the shop's server agree that it is paid, by these transactions. */
async function expectPaid(
  { page, checkout }: Opened,
  coin: Coin,
  address: string,
  amount: string,
  hashes: readonly string[],
): Promise<Payment> {
  await checkout.reach('success');
  expect(await checkout.sentence()).toContain(`${amount} ${coin.currency}`);
  const shown = checkout.part('transaction').locator('a');
  expect(await shown.evaluateAll((links) => links.map((link) => link.getAttribute('title')).sort())).toEqual(
    [...hashes].sort(),
  );
  expect(await shown.first().getAttribute('href')).toBe(
    `${explorer}${await shown.first().getAttribute('title')}`,
  );
  expect(await page.title()).toBe('✓ Paid');
  const units = toUnits(amount, coin.decimals);
  expect(await coin.balanceOf(address)).toBe(units);
  const payment = await paymentTo(address);
  expect(payment).toMatchObject({ status: 'success', state: 'settled', ...coinOf(coin) });
  expect(decimalOf(payment.amountReceived ?? 0)).toBe(decimalOf(Number(amount)));
  expect(payment.receipts?.map(({ status, txHash }) => ({ status, txHash }))).toEqual(
    hashes.map((txHash) => ({ status: 'confirmed', txHash })),
  );
  await expect.poll(() => eventsOf(payment)).toContain('payment.success');
  return payment;
}

const coinOf = ({ currency, network }: Coin) => ({ currency, currencyNetwork: network });

describe.each([
  { where: 'the hosted page', open: openHostedPage },
  { where: "a shop's page with the widget", open: openWidget },
])('on $where', ({ open }) => {
  /** Opens a new payment, up to its address. */
  async function openPayment(coin: Coin) {
    const opened = await open();
    const { checkout } = opened;
    await checkout.choose(coin.name, coin.networkName);
    return { ...opened, address: await checkout.address(), amount: await amountOn(checkout, coin) };
  }

  /** Presses "Check now", like an impatient payer, until the page shows it. */
  async function checkUntil({ checkout }: Opened, sentence: RegExp): Promise<void> {
    await expect
      .poll(
        async () => {
          const shown = await checkout.sentence();
          if (!sentence.test(shown)) await checkout.part('check-now').click();
          return shown;
        },
        { interval: 150, timeout: 20_000 },
      )
      .toMatch(sentence);
  }

  async function payExactly(coin: Coin): Promise<void> {
    const opened = await openPayment(coin);
    const { checkout, address, amount } = opened;
    const hash = await coin.send(address, amount);
    await checkUntil(
      opened,
      new RegExp(`^${amount} ${coin.currency} seen: 0 of ${confirmations} confirmations`),
    );
    expect(await checkout.element.getAttribute('status')).toBe('confirming');
    expect(await paymentTo(address)).toMatchObject({ status: 'in progress', amountReceived: 0 });
    expect(await coin.balanceOf(address), 'nothing is in a block').toBe(0n);
    await coin.mine();
    await checkUntil(opened, new RegExp(`1 of ${confirmations} confirmations`));
    expect(webhooks.filter(({ type }) => type.startsWith('payment.'))).toEqual([]);
    await coin.mine();
    const payment = await expectPaid(opened, coin, address, amount, [hash]);
    expect(eventsOf(payment)).toEqual(['payment.success']);
  }

  async function payInTwoParts(coin: Coin): Promise<void> {
    const opened = await openPayment(coin);
    const { checkout, address, amount } = opened;
    const whole = toUnits(amount, coin.decimals);
    // A quarter, in whole cents or 1000 of the smallest unit, as a person would type it.
    const first = fromUnits(whole / 4n - ((whole / 4n) % 10_000n), coin.decimals);
    // A quarter of dollars is whole here, and dollar coins are shown with cents.
    const shown = coin.currency === 'USDT' ? `${first}.00` : first;
    const rest = fromUnits(whole - toUnits(first, coin.decimals), coin.decimals);
    const hashes = [await coin.send(address, first)];
    await checkUntil(
      opened,
      new RegExp(`^${shown} ${coin.currency} seen, 0(\\.00)? ${coin.currency} confirmed`),
    );
    expect(await checkout.element.getAttribute('status')).toBe('partially-paid');
    expect(await checkout.sentence()).toMatch(/\(about (US)?\$15\.00\)/);
    expect(decimalOf(Number(await amountOn(checkout, coin)))).toBe(rest);
    expect(await checkout.address()).toBe(address);
    await coin.mine();
    await coin.mine();
    await checkUntil(
      opened,
      new RegExp(`^${shown} ${coin.currency} seen, ${shown} ${coin.currency} confirmed`),
    );
    const underpaid = await paymentTo(address);
    expect(underpaid).toMatchObject({ status: 'in progress', state: 'partially_paid' });
    expect(decimalOf(underpaid.amountReceived ?? 0)).toBe(first);
    await checkout.part('transfer-check').locator('summary').click();
    await checkout.part('transfer-hash').fill(`${explorer}${hashes[0]}`);
    await checkout.part('check-transfer').click();
    await checkout
      .part('transfer-answer')
      .filter({ hasText: `It paid this payment: ${shown} ${coin.currency} on ${coin.networkName}.` })
      .filter({ hasText: `Confirmations: ${confirmations} of ${confirmations}.` })
      .waitFor();

    hashes.push(await coin.send(address, await amountOn(checkout, coin)));
    await checkUntil(
      opened,
      new RegExp(`^${amount} ${coin.currency} seen: 0 of ${confirmations} confirmations`),
    );
    await coin.mine();
    await coin.mine();
    const payment = await expectPaid(opened, coin, address, amount, hashes);
    expect(eventsOf(payment)).toEqual(['payment.partial', 'payment.success']);
  }

  test('ether is paid exactly', () => payExactly(ether));
  test('a token is paid in two parts', () => payInTwoParts(tether));
  test.skipIf(!hasLitecoind)('litecoin is paid exactly', () => payExactly(litecoins));
  test.skipIf(!hasLitecoind)('litecoin is paid in two parts', () => payInTwoParts(litecoins));
});

describe('an over-payment is refunded to the address that its payer gives on the claim page', () => {
  const deep = { timeout: 20_000 };
  const refundOf = async (id: string) =>
    (await stage.merchant.refunds.retrieve({ params: { refund_id: id } })).data;

  async function overpay(coin: Coin, extra: string, networkFee: 'merchant' | 'payer') {
    const { payment, url } = await stage.createLocked(coin.currency, coin.network);
    const price = toUnits(decimalOf(payment.amount ?? 0), coin.decimals);
    const sent = fromUnits(price + toUnits(extra, coin.decimals), coin.decimals);
    await coin.send(payment.addressInformation?.address ?? '', sent);
    for (let block = 0; block < confirmations; block += 1) await coin.mine();
    await expect.poll(async () => (await stage.verify(payment.id)).state, deep).toBe('settled_over');
    const { data } = await stage.merchant.refunds.create({
      params: { payment_id: payment.id },
      body: { kind: 'excess', refundFee: true, networkFee },
    });
    return { ...data, claimUrl: data.claimUrl ?? '', url };
  }

  /**
   * The server finds the transaction automatically, and everybody reads it: the open page, the shop, the payment's
   * page.
   */
  async function expectSent(page: Page, refund: { id: string; url: string }, amount: string, hash: string) {
    await expect.poll(async () => (await refundOf(refund.id)).status, deep).toBe('paid');
    await look(page);
    await heading(page, 'Refund sent');
    expect(await page.locator('.hash').innerText()).toBe(hash);
    expect(await page.locator('a:has(.hash)').getAttribute('href')).toBe(`${explorer}${hash}`);
    await expect
      .poll(() => webhooks.find(({ type, data }) => type === 'refund.paid' && data.id === refund.id)?.data)
      .toMatchObject({ txHash: hash, amount: Number(amount) });
    await page.goto(refund.url);
    const note = page.locator('[part="refund"]');
    await note.waitFor();
    expect(decimalOf(Number(/: ([\d.]+)/.exec(await note.innerText())?.[1]))).toBe(decimalOf(Number(amount)));
  }

  test('A token is refunded by the wallet that paid, which signs, from an export of the treasury', async () => {
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const owner = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
    await anvil.automine(true);
    try {
      await deployFactory(anvil);
      const merchant = await merchantIdOf(env());
      const key = ['--merchant', merchant, '--mode', 'test', '--family', 'evm', '--treasury', treasury];
      // A server that starts knows the key, and no payment goes to an address of the previous one.
      await stage.server.restart(async () => {
        await runCommand(env(), 'deposit-keys', 'set', ...key, '--yes', '--now');
      });
      const offered = async () =>
        (await stage.create()).payment.currencyOptions?.map(({ network }) => network);
      await expect.poll(offered, deep).toContain('evm-dev');
      // The payer's wallet got its tokens from their issuer.
      await anvil.call('SilentToken', token, 'transfer', [owner, toUnits('1000', 6)]);
      const payer: Coin = {
        ...tether,
        async send(address, amount) {
          const data = `0xa9059cbb${address.slice(2).padStart(64, '0')}${toUnits(amount, 6).toString(16).padStart(64, '0')}`;
          return (await transact(anvil, token, data, owner)).transactionHash;
        },
      };
      const refund = await overpay(payer, '5', 'merchant');
      const before = await tether.balanceOf(owner);
      const swept = (await runCommand(
        ...[env(), 'sweeps', 'export', '--network', 'evm-dev', '--format', 'json'],
      )) as { transactions: { to: string; data: string }[] };
      for (const { to, data } of swept.transactions) await transact(anvil, to, data);
      await anvil.mine(confirmations);

      const page = await stage.page();
      const wallet = new ScriptedWallet();
      wallet.account = owner;
      wallet.answers['personal_sign'] = (params) => anvil.rpc('personal_sign', params);
      await giveWallet(page, wallet);
      await page.goto(refund.claimUrl);
      await press(page, 'Use the address of Test Wallet');
      await heading(page, 'Is this your address?');
      await press(page, 'Prove with Test Wallet that it paid');
      await page.getByText('The shop sees that this is the wallet that paid.').waitFor();
      await press(page, 'Yes, send it here');
      await heading(page, 'Waiting for the shop');
      expect(await refundOf(refund.id)).toMatchObject({ address: owner, sameWallet: true });
      await stage.merchant.refunds.approve({ params: { refund_id: refund.id }, body: { address: owner } });

      // The watcher reads a sweep before its coins can be paid out.
      const exported: { to: string; data: string }[] = [];
      await expect
        .poll(async () => {
          const { transfers } = (await runCommand(
            ...[env(), 'transfers', 'export', '--network', 'evm-dev', '--format', 'json'],
          )) as { transfers: { to: string; data: string }[] };
          exported.push(...transfers);
          return exported.length;
        }, deep)
        .toBe(1);
      const [{ to, data } = { to: '', data: '' }] = exported;
      const { transactionHash } = await transact(anvil, to, data, treasury);
      await anvil.mine(confirmations);
      await expectSent(page, refund, '5', transactionHash);
      expect((await tether.balanceOf(owner)) - before).toBe(toUnits('5', 6));
    } finally {
      await anvil.automine(false);
    }
  });

  test.skipIf(!hasLitecoind)('Litecoins are refunded by hand, from a PSBT', async () => {
    const refund = await overpay(litecoins, '0.1', 'payer');
    const address = await coreNode().rpc<string>('getnewaddress');
    const page = await stage.page();
    await page.goto(refund.claimUrl);
    await page.getByText('a little less can arrive').waitFor();
    await enter(page, address);
    await press(page, 'Continue');
    await press(page, 'Yes, send it here');
    await heading(page, 'Waiting for the shop');
    await stage.merchant.refunds.approve({ params: { refund_id: refund.id }, body: { address } });

    const merchant = ['--merchant', await merchantIdOf(env()), '--mode', 'test'];
    const { psbt, versions } = (await runCommand(
      ...[env(), 'transfers', 'psbt', 'export', ...merchant],
      ...['--network', litecoins.network, '--fee-rate', '2'],
    )) as { psbt: string; versions: { txHash: string }[] };
    const file = pathOf('signed.psbt');
    const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(9), tpub).derive("m/84'/1'/0'");
    await writeFile(file, signWith(account, psbt));
    await runCommand(env(), 'transfers', 'psbt', 'import', file);
    for (let block = 0; block < confirmations; block += 1) await litecoins.mine();
    await expectSent(page, refund, '0.1', versions[0]?.txHash ?? '');
    expect(await litecoins.balanceOf(address)).toBe(toUnits('0.1', 8));
  });
});
