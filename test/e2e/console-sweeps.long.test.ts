/** Sweeps sent from a wallet in the browser, on a real chain: anvil mines, the watcher books, and the page follows each transaction. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { anvilChainId, startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { deployFactory } from '../../server/test/support/forwarders.js';
import { look } from './claim-page.js';
import { merchantIdOf, runCommand, type ServerEnv } from './deposit-keys.js';
import { inspect, useStage } from './stage.js';

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
let directory: string;
let serverEnv: ServerEnv;
const paid: string[] = [];

const stage = useStage({
  async start() {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-sweeps-'));
    anvil = await startAnvil();
    token = await anvil.deploy('SilentToken');
    await deployFactory(anvil);
    const file = join(directory, 'networks.json');
    const assets = { USDT: { contract: token, decimals: 6 } };
    await writeFile(file, JSON.stringify({ networks: { [network]: { nodes: [anvil.url], assets } } }));
    serverEnv = { DATABASE_URL: `sqlite:${join(directory, 'data.sqlite')}`, NETWORKS_FILE: file };
    return { env: serverEnv };
  },
});
afterAll(async () => {
  await anvil.stop();
  await rm(directory, { recursive: true, force: true });
});

const run = <T>(line: string) => runCommand(serverEnv, ...line.split(' ')) as Promise<T>;
const patient = { timeout: 60_000, interval: 300 };

/** A payer pays 20 dollars, which are for this treasury. */
async function payFor(treasury: string): Promise<void> {
  const merchant = await merchantIdOf(serverEnv);
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

interface TestWallet {
  /** Methods that send, in the order in which the page called them. */
  readonly sends: string[];
  readonly hashes: string[];
  chainId: number;
  isAtomic: boolean;
  /** The transaction that is declined, counted from 1. */
  declined: number;
  /** True while it does not report its batches. */
  isSilent: boolean;
}

async function installWallet(page: Page, options: Partial<TestWallet> = {}): Promise<TestWallet> {
  const wallet: TestWallet = {
    ...{ sends: [], hashes: [], chainId: 1, isAtomic: false, declined: 0, isSilent: false },
    ...options,
  };
  const chain = `0x${anvilChainId.toString(16)}`;
  async function send({ to, data, value }: Record<string, string>): Promise<string> {
    const hash = await anvil.rpc<string>('eth_sendTransaction', [{ from: sender, to, data, value }]);
    wallet.hashes.push(hash);
    return hash;
  }
  async function handle(method: string, params: readonly unknown[]): Promise<object> {
    if (/send/i.test(method)) wallet.sends.push(method);
    const [first] = params;
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return { result: [sender] };
      case 'eth_chainId':
        return { result: `0x${wallet.chainId.toString(16)}` };
      case 'wallet_switchEthereumChain':
        wallet.chainId = anvilChainId;
        return { result: null };
      case 'wallet_getCapabilities':
        return { result: wallet.isAtomic ? { [chain]: { atomic: { status: 'ready' } } } : {} };
      case 'wallet_sendCalls': {
        const { calls } = first as { calls: Record<string, string>[] };
        for (const call of calls) await send(call);
        return { result: { id: 'batch-1' } };
      }
      case 'wallet_getCallsStatus':
        if (wallet.isSilent) return { result: { status: 100 } };
        return {
          result: { status: 200, receipts: wallet.hashes.map((transactionHash) => ({ transactionHash })) },
        };
      case 'eth_sendTransaction':
        if (wallet.sends.length === wallet.declined) return { error: { code: 4001, message: 'Rejected' } };
        return { result: await send(first as Record<string, string>) };
      default:
        return { error: { code: 4200, message: 'Unsupported' } };
    }
  }
  await page.exposeFunction('testWallet', handle);
  await page.addInitScript(() => {
    const { testWallet } = globalThis as unknown as {
      testWallet(
        method: string,
        params: readonly unknown[],
      ): Promise<{ result?: unknown; error?: { code: number; message: string } }>;
    };
    const provider = {
      async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
        const { result, error } = await testWallet(method, params);
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      },
    };
    const uuid = '6f4a1f0e-6c70-4d7b-9a54-000000000001';
    const info = { uuid, name: 'Test Wallet', icon: '', rdns: 'test.wallet' };
    addEventListener('eip6963:requestProvider', () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })),
    );
  });
  return wallet;
}

async function signIn(role: string): Promise<Page> {
  const line = `users invite --merchant ${await merchantIdOf(serverEnv)} --email ${role}@shop.example --role ${role}`;
  const { signInUrl } = await run<{ signInUrl: string }>(line);
  const { port } = new URL(stage.server.url);
  const page = await stage.page({ expectedErrors: /40[0139]/ });
  await page.goto(signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return page;
}

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
  const path = join(directory, download.suggestedFilename());
  await download.saveAs(path);
  const { transactions } = JSON.parse(String(await readFile(path))) as { transactions: unknown[] };
  expect(transactions).toHaveLength(3);
});

test('a wallet that declines the second of three has sent only the first, which is kept and booked', async () => {
  const page = await signIn('manager');
  const wallet = await installWallet(page, { declined: 2 });
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
  const wallet = await installWallet(page, { isAtomic: true, isSilent: true });
  await openPlan(page);
  await send(page);
  await page.getByText('Sent with the others').first().waitFor();
  expect(wallet.sends).toEqual(['wallet_sendCalls']);
  const batch = page.getByRole('row').filter({ hasText: 'batch-1' }).filter({ hasText: 'Under way' });
  await page.reload();
  await batch.waitFor();
  wallet.isSilent = false;
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
