/** Transfers in the console, on a real chain: exported for the treasury's wallet, paid by it, found and settled by the watcher. */
import { readFile } from 'node:fs/promises';
import { HDKey } from '@scure/bip32';
import type { BrowserContext, Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { anvilChainId, startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { deployFactory, transact } from '../../server/test/support/forwarders.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../../server/test/support/litecoin.js';
import { signWith, tpub } from '../../server/test/support/sign-psbt.js';
import { giveWallet, SendingWallet } from './browser-wallet.js';
import { look } from './claim-page.js';
import { merchantIdOf, runCommand, setDepositKey } from './deposit-keys.js';
import { signInAs, signInFirst } from './staff.js';
import { cutFilters, inspect, useStageWithCommands, writeNetworks } from './stage.js';

/** The second of anvil's published accounts. */
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const network = 'evm-dev';

let anvil: Anvil;
let litecoin: LitecoinNode | undefined;
let token: Hex;
let paymentId: string;

const { stage, env, pathOf } = useStageWithCommands({
  async prepare(directory) {
    [anvil, litecoin] = await Promise.all([startAnvil(), hasLitecoind ? startLitecoin() : undefined]);
    token = await anvil.deploy('SilentToken');
    await deployFactory(anvil);
    const assets = { USDT: { contract: token, decimals: 6 } };
    const networks = {
      [network]: { nodes: [anvil.url], assets },
      ...(litecoin && { 'litecoin-regtest': { nodes: [litecoin.url] } }),
    };
    return writeNetworks(directory, networks);
  },
});
afterAll(() => Promise.all([anvil.stop(), litecoin?.stop()]));

const run = <T>(line: string) => runCommand(env(), ...line.split(' ')) as Promise<T>;

/** A payer pays 20 dollars, which the treasury then holds. */
beforeAll(async () => {
  const merchant = await merchantIdOf(env());
  await run(`deposit-keys set --merchant ${merchant} --family evm --treasury ${treasury} --mode test --yes`);
  await vi.waitFor(
    async () => {
      const { currencyOptions = [] } = (await stage.create()).payment;
      expect(currencyOptions.map((option) => option.network)).toContain(network);
    },
    { timeout: 20_000, interval: 200 },
  );
  const { payment } = await stage.createLocked('USDT', network);
  paymentId = payment.id;
  const to = payment.addressInformation?.address ?? '';
  await anvil.call('SilentToken', token, 'transfer', [to, BigInt((payment.amount ?? 0) * 1e6)]);
  await anvil.mine(5);
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), {
    timeout: 20_000,
  });
  const { transactions } = await run<{ transactions: { to: string; data: string }[] }>(
    `sweeps export --network ${network} --format json`,
  );
  for (const { to: factory, data } of transactions) await transact(anvil, factory, data);
  await anvil.mine(5);
}, 90_000);

const signIn = (role: string, context?: BrowserContext) => signInAs(role, stage, env(), /40[0139]/, context);

async function createTransfer(amount: number, more: object = {}): Promise<string> {
  const body = { amount, currency: 'USDT', walletAddress: destination, walletNetwork: network, ...more };
  return (await stage.merchant.transfers.create({ body })).data.id;
}
const statusOf = async (id: string) =>
  (await stage.merchant.transfers.retrieve({ params: { transfer_id: id } })).data.status;
const isPaid = (id: string) =>
  vi.waitFor(
    async () => {
      await Promise.all([anvil.mine(), litecoin?.mine()]);
      expect(await statusOf(id)).toBe('success');
    },
    { timeout: 20_000, interval: 300 },
  );

/** Saves what a button gives, and reads it. */
async function save(page: Page, press: () => Promise<void>): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  const path = pathOf(download.suggestedFilename());
  await download.saveAs(path);
  return readFile(path);
}

async function openExports(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/test/exports`);
  await page.getByRole('heading', { name: 'Transfers to sign', level: 1 }).waitFor();
}

test('an export is written for Safe and as CSV, released, and paid by the treasury that got it', async () => {
  const ids = [await createTransfer(1.01), await createTransfer(1.02)];
  const page = await signIn('owner');
  await openExports(page);
  await inspect(page, 'console-exports-waiting');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('heading', { name: `Reserved for your wallet on ${network}` }).waitFor();
  await inspect(page, 'console-exports');

  await page.getByRole('button', { name: 'Release without a proof…' }).click();
  await page.getByLabel('Your checks').fill('Nothing was signed');
  await inspect(page, 'console-release');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await page.getByRole('button', { name: 'Export' }).click();

  const press = (name: string) => save(page, () => page.getByRole('button', { name }).click());
  const csv = String(await press('Save as CSV'));
  expect(csv.split('\r\n')[0]).toBe('transfer,network,address,amount,currency,to,value,data,link');
  for (const id of ids) expect(csv).toContain(`${id},${network},${destination},1.0`);
  const { transactions } = JSON.parse(String(await press('Save for Safe'))) as {
    transactions: { to: string; data: string }[];
  };
  expect(transactions).toHaveLength(2);
  for (const { to, data } of transactions) await transact(anvil, to, data, treasury);
  for (const id of ids) await isPaid(id);
  await look(page);
  await page.getByText('Nothing waits').waitFor();
});

test('an accountant sees what is reserved, and can neither export nor release it', async () => {
  await createTransfer(1.03);
  const page = await signIn('accountant');
  await openExports(page);
  await page.getByRole('row', { name: network }).waitFor();
  expect(await page.getByRole('button', { name: /Export|Release|Save/ }).count()).toBe(0);
});

test.skipIf(!hasLitecoind)(
  'a PSBT is created, saved, signed by a wallet, imported, sent and settled',
  async () => {
    const node = litecoin;
    if (!node) throw new Error('There is no Litecoin Core');
    const litecoins = 'litecoin-regtest';
    await setDepositKey(stage, env(), await merchantIdOf(env()), 'litecoin', litecoins);
    const { payment } = await stage.createLocked('LTC', litecoins);
    await node.pay(payment.addressInformation?.address ?? '', String(payment.amount));
    await node.mine(6);
    await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), {
      timeout: 20_000,
    });
    const walletAddress = await node.rpc<string>('getnewaddress');
    const id = await createTransfer(0.01, { currency: 'LTC', walletAddress, walletNetwork: litecoins });

    const page = await signIn('owner');
    await openExports(page);
    const feeRate = page.getByLabel('Satoshis per virtual byte');
    await signInFirst(page, () => page.getByRole('button', { name: 'PSBT…' }).click(), feeRate);
    await feeRate.fill('2');
    const file = await save(page, () => page.getByRole('button', { name: 'Make the PSBT' }).click());
    await page.getByRole('cell', { name: 'To be signed' }).waitFor();
    await inspect(page, 'console-psbts');
    const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(9), tpub).derive("m/84'/1'/0'");
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Import what was signed…' }).click(),
    ]);
    await chooser.setFiles({
      name: 'signed.psbt',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(signWith(account, file.toString('base64'))),
    });
    await page.getByRole('status').getByText('Sent as').waitFor();
    await isPaid(id);
    await look(page);
    await page.getByRole('cell', { name: 'Settled' }).waitFor();
  },
);

test('a transfer is cancelled, and none is settled by an unknown transaction', async () => {
  const [paid, unwanted] = [await createTransfer(1.04), await createTransfer(1.05)];
  const page = await signIn('manager');
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/console/test/transfer/${unwanted}`);
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByLabel('Reason').fill('No longer needed');
  await page.getByRole('button', { name: 'Cancel the transfer' }).click();
  await page.getByText('No longer needed').waitFor();
  expect(await statusOf(unwanted)).toBe('failed');

  await page.goto(`${origin}/console/test/transfer/${paid}`);
  await page.getByRole('button', { name: 'It was paid…' }).click();
  await page.getByRole('textbox', { name: 'Transaction' }).fill(`0x${'ab'.repeat(32)}`);
  await page.getByRole('button', { name: 'Settle', exact: true }).click();
  await page.getByText('does not know this transaction').waitFor();
  expect(await statusOf(paid)).toBe('pending');
});

/** A wallet with the treasury's account, which anvil has unlocked. @param dies the page closes before it learns of a transaction */
async function installWallet(page: Page, isAtomic: boolean, dies = false): Promise<SendingWallet> {
  const wallet = new SendingWallet({
    account: treasury,
    chains: [anvilChainId],
    ...(isAtomic && { isAtomic }),
    async send({ to, data = '0x' }) {
      const { transactionHash } = await transact(anvil, to, data, treasury);
      if (dies) await page.close();
      return transactionHash;
    },
  });
  wallet.report = 'ended';
  await giveWallet(page, wallet);
  return wallet;
}

/** The treasury's payments to the destination, in units. */
const received = async () =>
  BigInt(
    await anvil.rpc<Hex>('eth_call', [
      { to: token, data: `0x70a08231${destination.slice(2).toLowerCase().padStart(64, '0')}` },
      'latest',
    ]),
  );

/** Exports the pending transfers, and presses the button that asks the wallet. */
async function openSending(page: Page, count: number): Promise<void> {
  if ((await page.getByRole('button', { name: 'Export' }).count()) > 0) {
    await page.getByRole('button', { name: 'Export' }).click();
  }
  await page.getByRole('button', { name: 'Send from a wallet here…' }).click();
  await page.getByRole('heading', { name: `Send ${count} transfers from your wallet?` }).waitFor();
}

/** Left over from the earlier tests. */
async function release(): Promise<void> {
  const rows = await run<{ id: string }[]>('transfers exported');
  for (const { id } of rows) await run(`transfers release ${id} --yes`);
  for (const { id, status } of (await stage.merchant.transfers.list({})).data) {
    if (status === 'pending') await run(`transfers fail ${id} --reason Over`);
  }
}

test.each([true, false])(
  'a wallet in the browser sends the transfers once, also after it refused (several calls as one: %s)',
  async (isAtomic) => {
    await release();
    const ids = [await createTransfer(1.11), await createTransfer(1.12)];
    const before = await received();
    const page = await signIn('owner');
    await openExports(page);
    const wallet = await installWallet(page, isAtomic);
    wallet.owner = 'declines';
    await openSending(page, 2);
    if (isAtomic) {
      await inspect(page, 'console-send');
    }
    await page.getByRole('button', { name: 'Ask the wallet' }).click();
    await page.getByText('Nothing more was paid').waitFor();
    expect(await received()).toBe(before);
    wallet.owner = 'confirms';
    await openSending(page, 2);
    await page.getByRole('button', { name: 'Ask the wallet' }).click();
    await page.getByText(isAtomic ? '2 transfers sent' : '1 transfer sent').waitFor();
    await vi.waitFor(async () => expect(await received()).toBe(before + 2_230_000n), { timeout: 20_000 });
    expect(await received()).toBe(before + 2_230_000n);
    expect(wallet.sends).toEqual(
      isAtomic
        ? ['wallet_sendCalls', 'wallet_sendCalls']
        : ['eth_sendTransaction', 'eth_sendTransaction', 'eth_sendTransaction'],
    );
    for (const id of ids) await isPaid(id);
    await look(page);
    await page.getByText('Nothing waits').waitFor();
    expect(await received()).toBe(before + 2_230_000n);
  },
);

test('a page that closes before the wallet has answered leaves nothing to be paid twice', async () => {
  await release();
  const ids = [await createTransfer(1.21), await createTransfer(1.22)];
  const before = await received();
  const context = await stage.context();
  const page = await signIn('owner', context);
  const { origin } = new URL(page.url());
  await openExports(page);
  await installWallet(page, false, true);
  await openSending(page, 2);
  const closed = page.waitForEvent('close');
  await page.getByRole('button', { name: 'Ask the wallet' }).click();
  await closed;

  const next = await stage.page({ context, expectedErrors: /40[0139]/ });
  await next.goto(`${origin}/console/test/exports`);
  await next.getByText('its answer is not known').waitFor();
  await inspect(next, 'console-unanswered');
  await next.getByRole('button', { name: 'Release without a proof…' }).click();
  await next.getByLabel('Your checks').fill('The signers have signed nothing');
  await inspect(next, 'console-release-handed');
  await next.getByRole('button', { name: 'Close' }).click();
  // A file would contain both transfers.
  expect(await next.getByRole('button', { name: /^Save/ }).count()).toBe(0);
  await installWallet(next, false);
  await next.getByRole('button', { name: 'Send from a wallet here…' }).click();
  await next.getByRole('heading', { name: 'Send 1 transfer from your wallet?' }).waitFor();
  await next.getByRole('button', { name: 'Ask the wallet' }).click();
  await next.getByText('1 transfer sent').waitFor();
  for (const id of ids) await isPaid(id);
  expect(await received()).toBe(before + 2_430_000n);
});

test('an outflow from the treasury is explained, and the books of the month contain all of it', async () => {
  const page = await signIn('manager');
  const { origin } = new URL(page.url());
  const somebody = '15d34aaf54267db7d7c367839aaf71a00a2c6a65'.padStart(64, '0');
  await transact(anvil, token, `0xa9059cbb${somebody}${(333_000).toString(16).padStart(64, '0')}`, treasury);
  await anvil.mine(5);
  await vi.waitFor(
    async () => {
      await anvil.mine();
      await openExports(page);
      await page.getByRole('button', { name: 'Explain…' }).waitFor({ timeout: 1000 });
    },
    { timeout: 20_000 },
  );
  await inspect(page, 'console-outflows');
  await page.getByRole('button', { name: 'Explain…' }).click();
  await page.getByLabel('Purpose').fill('To the exchange, for the rent of November');
  await inspect(page, 'console-explain');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Explain…' }).waitFor({ state: 'detached' });

  const month = new Date().toISOString().slice(0, 7);
  await page.goto(`${origin}/console/test/books?month=${month}&zone=UTC`);
  await page.getByRole('columnheader', { name: 'Change' }).waitFor();
  await inspect(page, 'console-books');
  expect(await cutFilters(page)).toEqual([]);
  await page.goto(`${origin}/console/test/payments?review=excess`);
  await page.locator('h1').waitFor();
  await inspect(page, 'console-review');
  expect(await cutFilters(page)).toEqual([]);
});

test('an approved refund leads to its transfer, which somebody has to pay', async () => {
  const { refunds } = stage.merchant;
  const body = { kind: 'partial', amount: 0.5, address: destination } as const;
  const { data: refund } = await refunds.create({ params: { payment_id: paymentId }, body });
  await refunds.approve({ params: { refund_id: refund.id }, body: { address: destination } });
  const page = await signIn('manager');
  await page.goto(`${new URL(page.url()).origin}/console/test/refunds`);
  await page.getByRole('link', { name: 'Transfer', exact: true }).click();
  await page.getByRole('heading', { name: /^Transfer of 0\.50\sUSDT$/, level: 1 }).waitFor();
  await page.getByText('It waits for your wallet to pay it.').waitFor();
  await page.getByRole('link', { name: refund.id }).click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
});
