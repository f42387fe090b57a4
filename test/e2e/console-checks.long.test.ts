/** The comparison with a real chain in the console: it runs with progress, finds what blocks did not show, and credits it. */
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { deployFactory } from '../../server/test/support/forwarders.js';
import { focused, press, tabTo } from './by-keyboard.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { misfitsOn } from './fitting.js';
import { signInAs } from './staff.js';
import { inspect, useStageWithCommands, writeNetworks } from './stage.js';

const network = 'evm-dev';
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const patient = { timeout: 60_000, interval: 300 };

let anvil: Anvil;
let splitter: Hex;
let address: string;

const { stage, env } = useStageWithCommands({
  async prepare(directory) {
    anvil = await startAnvil();
    splitter = await anvil.deploy('Splitter');
    await deployFactory(anvil);
    return writeNetworks(directory, { [network]: { nodes: [anvil.url] } });
  },
});
afterAll(() => anvil.stop());

beforeAll(async () => {
  const merchant = await merchantIdOf(env());
  const given = `deposit-keys set --merchant ${merchant} --family evm --treasury ${treasury} --mode test --now --yes`;
  await runCommand(env(), ...given.split(' '));
  const { payment } = await vi.waitFor(() => stage.createLocked('ETH', network), patient);
  address = payment.addressInformation?.address ?? '';
  const value = `0x${BigInt(Math.round((payment.amount ?? 0) * 1e9) * 1e9).toString(16)}`;
  await anvil.rpc('eth_sendTransaction', [{ from: treasury, to: address, value }]);
  await anvil.mine(5);
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), patient);
}, 120_000);

const open = async (page: Page) => {
  await page.goto(`${new URL(page.url()).origin}/console/test/money`);
  await page.getByRole('link', { name: 'Compare with the chain' }).click();
  await page.getByRole('heading', { name: 'Compare with the chain', level: 1 }).waitFor();
};
const compare = (page: Page) => page.getByRole('button', { name: 'Compare now' }).click();

test('an accountant compares, sees that the books agree, and later a difference, and advice about it', async () => {
  const page = await signInAs('accountant', stage, env());
  await open(page);
  await page.getByText('The books agree with the chain.').waitFor();
  await compare(page);
  await page.getByText(/: 1 address at block [\d,]+, no difference\.$/).waitFor();
  // A contract pays it: no block names the payment.
  await anvil.call('Splitter', splitter, 'pay', [[address as Hex]], 7n);
  await anvil.mine(2);
  await vi.waitFor(async () => {
    await compare(page);
    await page.getByText(/, 1 difference\.$/).waitFor({ timeout: 2000 });
  }, patient);
  const row = page.getByRole('table', { name: 'Found just now' }).getByRole('row').nth(1);
  await row.getByText('0.000000000000000007 ETH').waitFor();
  await row.getByRole('link', { name: 'Payment' }).waitFor();
  expect(await page.getByRole('button', { name: 'Credit it…' }).count()).toBe(0);
});

test('a manager credits the difference, once the nodes agree, and the books agree again', async () => {
  const page = await signInAs('manager', stage, env());
  await open(page);
  await compare(page);
  const credit = async () => {
    await page.getByRole('button', { name: 'Credit it…' }).first().click();
    await page.getByRole('heading', { name: 'Credit 0.000000000000000007 ETH?' }).waitFor();
    await page.getByRole('button', { name: 'Look again and credit' }).click();
  };
  await credit();
  await page.getByText('Noted. A later block must confirm it').waitFor();
  await page
    .getByRole('table', { name: 'Known differences' })
    .getByText(/^(Seen once|Dust)$/)
    .waitFor();
  await inspect(page, 'console-checks');
  for (const width of [390, 768, 1024, 1366, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await misfitsOn(page), `${width} px`).toEqual([]);
  }
  await vi.waitFor(async () => {
    await anvil.mine(1);
    if ((await page.getByText('The books agree with the chain.').count()) > 0) return;
    await credit();
    await page.getByText('The books agree with the chain.').waitFor({ timeout: 3000 });
  }, patient);
  await compare(page);
  await page.getByText(/: 1 address at block [\d,]+, no difference\.$/).waitFor();
});

test('a comparison is started, stopped and repeated without a pointer', async () => {
  const page = await signInAs('accountant', stage, env());
  await open(page);
  let release = () => {};
  const held = new Promise<void>((resume) => (release = resume));
  await page.route(/\/chain-checks\/evm-dev\?/, async (route) => {
    await held;
    await route.continue();
  });
  await press(page, 'Compare now');
  await press(page, 'Stop');
  release();
  await page.getByText(/: stopped after 1 address\.$/).waitFor();
  await expect.poll(() => focused(page)).toBe('Compare now');
  await page.keyboard.press('Enter');
  await page.getByText(/: 1 address at block [\d,]+, no difference\.$/).waitFor();
  await expect.poll(() => focused(page)).toBe('Compare now');
});

test('books that differ are on Home, which leads to the comparison and what it says of them', async () => {
  const balance = await anvil.rpc<string>('eth_getBalance', [address, 'latest']);
  await anvil.rpc('anvil_setBalance', [address, '0x7']);
  const page = await signInAs('accountant', stage, env());
  const link = page.getByRole('link', { name: '1 address holds a different amount from the books' });
  const words = ['chains', 'reconcile', '--network', network, '--mode', 'test', '--apply'];
  await vi.waitFor(async () => {
    await anvil.mine(1);
    // It exits with 3, because something is missing.
    await runCommand(env(), ...words).catch(() => undefined);
    await page.reload();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await link.waitFor({ timeout: 1000 });
  }, patient);
  await tabTo(page, '1 address holds a different amount from the books');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Compare with the chain', level: 1 }).waitFor();
  const row = page.getByRole('table', { name: 'Known differences' }).getByRole('row').nth(1);
  await row.getByText('Missing', { exact: true }).waitFor();
  expect(await row.innerText()).toMatch(/-0\.\d+ ETH/);
  await row.getByText('Less than in the books.').waitFor();
  await inspect(page, 'console-checks-missing');
  // Nobody can credit what is missing.
  const owner = await signInAs('owner', stage, env());
  await open(owner);
  await owner.getByText('Missing', { exact: true }).waitFor();
  expect(await owner.getByRole('button', { name: 'Credit it…' }).count()).toBe(0);
  await anvil.rpc('anvil_setBalance', [address, balance]);
});
