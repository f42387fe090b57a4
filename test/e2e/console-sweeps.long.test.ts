/** Sweeps sent from a wallet in the browser, on a real chain: anvil mines, the watcher books, and the page follows each transaction. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { anvilChainId, startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { deployFactory } from '../../server/test/support/forwarders.js';
import { batchId, declined, giveWallet, SendingWallet } from './browser-wallet.js';
import { look } from './claim-page.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { signInAs } from './staff.js';
import { inspect, useStageWithCommands, writeNetworks } from './stage.js';

/** The second to fourth of anvil's published accounts. Coins for one treasury are one transaction. */
const treasuries = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
];
/** The fifth, which pays the gas and is no treasury. */
const sender = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const network = 'evm-dev';

let anvil: Anvil;
let token: Hex;
const paid: string[] = [];

const { stage, env, pathOf } = useStageWithCommands({
  async prepare(directory) {
    anvil = await startAnvil();
    token = await anvil.deploy('SilentToken');
    await deployFactory(anvil);
    const assets = { USDT: { contract: token, decimals: 6 } };
    return writeNetworks(directory, { [network]: { nodes: [anvil.url], assets } });
  },
});
afterAll(() => anvil.stop());

const run = <T>(line: string) => runCommand(env(), ...line.split(' ')) as Promise<T>;
const patient = { timeout: 60_000, interval: 300 };

/** A payer pays 20 dollars, which are for this treasury. */
async function payFor(treasury: string): Promise<void> {
  const merchant = await merchantIdOf(env());
  await run(
    `deposit-keys set --merchant ${merchant} --family evm --treasury ${treasury} --mode test --now --yes`,
  );
  const { payment } = await vi.waitFor(async () => {
    const locked = await stage.createLocked('USDT', network);
    const keys = await run<{ treasury: string; used: number }[]>(`deposit-keys list --merchant ${merchant}`);
    expect(keys.find((key) => key.treasury === treasury)?.used).toBeGreaterThan(0);
    return locked;
  }, patient);
  const to = payment.addressInformation?.address ?? '';
  paid.push(to);
  await anvil.call('SilentToken', token, 'transfer', [to, BigInt((payment.amount ?? 0) * 1e6)]);
  await anvil.mine(5);
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), patient);
}

const planned = async () =>
  (await run<{ transactions: unknown[] }>(`sweeps export --network ${network} --format json`)).transactions
    .length;

beforeAll(async () => {
  for (const treasury of treasuries) await payFor(treasury);
  expect(await planned()).toBe(3);
}, 240_000);

/** A wallet with an account that anvil has unlocked. @param refused the transaction that is declined, counted from 1 */
async function installWallet(
  page: Page,
  { refused = 0, isAtomic = false }: { readonly refused?: number; readonly isAtomic?: boolean } = {},
): Promise<SendingWallet> {
  let asked = 0;
  const wallet = new SendingWallet({
    account: sender,
    chains: [anvilChainId],
    isAtomic,
    async send({ to, data, value }) {
      asked += 1;
      if (asked === refused) throw declined();
      return anvil.rpc<string>('eth_sendTransaction', [{ from: sender, to, data, value }]);
    },
  });
  await giveWallet(page, wallet);
  return wallet;
}

const signIn = (role: string) => signInAs(role, stage, env(), /40[0139]/);

async function openPlan(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/test/sweeps`);
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.getByRole('heading', { name: 'Plan on' }).waitFor();
}

async function send(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send from this browser…' }).click();
  await page.getByRole('button', { name: 'Open the wallet' }).click();
}

/** The transactions are booked automatically, and the page says so. */
async function areBooked(page: Page, hashes: readonly string[]): Promise<void> {
  for (const hash of hashes) {
    await vi.waitFor(async () => {
      await anvil.mine();
      await look(page);
      const row = page.getByRole('row').filter({ hasText: hash }).filter({ hasText: 'Booked' });
      await row.first().waitFor({ timeout: 3000 });
    }, patient);
  }
  await run('ledger check');
}

test('without a wallet, the page says what to do, and saves the plan for Safe', async () => {
  const page = await signIn('owner');
  await openPlan(page);
  await inspect(page, 'console-sweeps');
  await page.getByRole('button', { name: 'Send from this browser…' }).click();
  await page.getByText('No wallet was found').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save for Safe' }).click(),
  ]);
  const path = pathOf(download.suggestedFilename());
  await download.saveAs(path);
  const { transactions } = JSON.parse(String(await readFile(path))) as { transactions: unknown[] };
  expect(transactions).toHaveLength(3);
});

test('a wallet that declines the second of three has sent only the first, which is kept and booked', async () => {
  const page = await signIn('manager');
  const wallet = await installWallet(page, { refused: 2 });
  await openPlan(page);
  await send(page);
  await page.getByText('You declined in the wallet').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  expect(wallet.sends).toEqual(['eth_sendTransaction', 'eth_sendTransaction']);
  for (const [number, state] of ['Sent', 'Not sent', 'Not sent yet'].entries()) {
    const row = page.getByRole('row', { name: `Transaction ${number + 1}` });
    await row.getByText(state, { exact: true }).waitFor();
  }
  expect(await page.getByRole('button', { name: 'Send from this browser…' }).count()).toBe(0);
  await inspect(page, 'console-sweeps-declined');
  await areBooked(page, wallet.hashes);
  expect(await planned()).toBe(2);
});

test('a wallet that supports batches sends the rest together, and reports its transactions after the page was closed', async () => {
  const page = await signIn('owner');
  const wallet = await installWallet(page, { isAtomic: true });
  wallet.report = 'pending';
  await openPlan(page);
  await send(page);
  await page.getByText('Sent with the others').first().waitFor();
  expect(wallet.sends).toEqual(['wallet_sendCalls']);
  const batch = page.getByRole('row').filter({ hasText: batchId }).filter({ hasText: 'Under way' });
  await page.reload();
  await batch.waitFor();
  wallet.report = 'with transactions';
  await page.reload();
  await areBooked(page, wallet.hashes);
  expect(await batch.count()).toBe(0);
  expect(await planned()).toBe(0);
});

test('a wallet that cannot sends three one by one', async () => {
  for (const to of paid) await anvil.call('SilentToken', token, 'transfer', [to, 30_000_000n]);
  await anvil.mine(5);
  await vi.waitFor(async () => expect(await planned()).toBe(3), patient);
  const page = await signIn('manager');
  const wallet = await installWallet(page);
  await openPlan(page);
  await send(page);
  await vi.waitFor(() => expect(wallet.hashes).toHaveLength(3), patient);
  expect(wallet.sends).toEqual(Array.from({ length: 3 }, () => 'eth_sendTransaction'));
  await areBooked(page, wallet.hashes);
  expect(await planned()).toBe(0);
});
