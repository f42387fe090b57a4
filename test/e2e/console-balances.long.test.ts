/** Balances on the page Money: rows that add up, their worth at a rate with its age, and a coin without a rate. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { sumOfDecimals } from '../../console/sum.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { misfitsOn } from './fitting.js';
import { signInAs } from './staff.js';
import { schemesThatFit, useStageWithCommands } from './stage.js';

const rates = {
  source: 'a price list',
  unitsPerDollar: { USD: '1', EUR: '0.92' },
  dollarsPerUnit: { USDT: '1', USDC: '1', ETH: '3050' },
};
const { stage, env } = useStageWithCommands({
  async prepare(directory) {
    const file = join(directory, 'rates.json');
    await writeFile(file, JSON.stringify(rates));
    return { RATES_FILE: file };
  },
});

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));

beforeAll(async () => {
  await runCommand(env(), 'merchants', 'update', await merchantIdOf(env()), '--books-currency', 'EUR');
  const tron = (await stage.createLocked('USDT', 'tron')).payment;
  await stage.send(tron, tron.amount ?? 0);
  // Another coin than it was asked for: it is credited, and there is no rate of it.
  await stage.send(tron, 50, 'TRX');
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  for (const currency of ['USDT', 'ETH']) {
    const { payment } = await stage.createLocked(currency, 'ethereum');
    await stage.send(payment, payment.amount ?? 0);
  }
  await stage.sandbox('blocks', { network: 'ethereum', count: 30 });
  await vi.waitFor(async () => {
    const { data } = await stage.merchant.balances.list({});
    expect(data.filter(({ totalBalance }) => totalBalance > 0)).toHaveLength(3);
    expect(data.find(({ currency }) => currency === 'USDT')?.totalBalance).toBe(39.6);
  }, 20_000);
  await stage.merchant.transfers.create({
    body: {
      amount: '5',
      currency: 'USDT',
      walletNetwork: 'tron',
      walletAddress: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    },
  });
  const { data: account } = await stage.merchant.bankAccounts.create({
    body: {
      accountNumber: 'DE89370400440532013000',
      accountBank: 'Sparkasse Bonn',
      country: 'DE',
      currency: 'EUR',
      accountName: 'Ada Example',
    },
  });
  const words = `payouts create --mode test --currency USDT --amount 12.5 --reference Rent --bank-account ${account.id}`;
  await runCommand(env(), ...words.split(' '), '--merchant', await merchantIdOf(env()));
}, 90_000);

async function open(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/test/money`);
  await page.getByRole('heading', { name: 'Money', level: 1 }).waitFor();
  await page.waitForFunction(() => !document.querySelector('main .wait'));
}

const table = (page: Page) => page.getByRole('table', { name: 'Balances' });
const plain = (text: string) => text.replace(/[^\d.-]/g, '');

test('each row adds up to its last sum, as the page shows them', async () => {
  const page = await signInAs('owner', stage, env());
  await open(page);
  const rows = await table(page).locator('tbody tr').count();
  expect(rows).toBe(3);
  for (let index = 0; index < rows; index += 1) {
    const row = table(page).locator('tbody tr').nth(index);
    const sums = async (...labels: string[]) =>
      Promise.all(
        labels.map(async (label) => plain(await row.locator(`td[data-label="${label}"]`).innerText())),
      );
    const parts = await sums('Available', 'Reserved', 'Not settled yet');
    expect(sumOfDecimals(parts)).toBe(sumOfDecimals(await sums('In all')));
    const places = (await row.locator('.place').allInnerTexts()).map((text) =>
      plain(text.split(':')[1] ?? ''),
    );
    const held = await sums('Available', 'Not settled yet');
    const fees = plain(await row.getByText('of which service fees:').innerText());
    const banks = await row.getByText('of which paid out by bank instead:').allInnerTexts();
    expect(sumOfDecimals(places)).toBe(sumOfDecimals([...held, fees, ...banks.map(plain)]));
  }
});

test('the service fees are those of the payments: coins of a bank payout, which stay on the network, are none', async () => {
  const page = await signInAs('owner', stage, env());
  await open(page);
  const { data: payments } = await stage.merchant.transactions.list({});
  const fees = payments.flatMap(({ credited = [] }) =>
    credited.filter(({ currency }) => currency === 'USDT').map(({ fee }) => fee),
  );
  const row = table(page).getByRole('row', { name: /^USDT/ });
  expect(plain(await row.getByText('of which paid out by bank instead:').innerText())).toBe('12.50');
  expect(Number(plain(await row.getByText('of which service fees:').innerText()))).toBe(
    Number(sumOfDecimals(fees)),
  );
});

test('the worth of each balance is shown, with a total, and with the rates and their ages', async () => {
  const page = await signInAs('owner', stage, env());
  await open(page);
  const worth = (coin: string) =>
    table(page)
      .getByRole('row', { name: new RegExp(`^${coin}`) })
      .locator('td[data-label="Worth"]')
      .innerText();
  const { data } = await stage.merchant.balances.list({});
  const of = (coin: string) => data.find(({ currency }) => currency === coin)?.worth;
  expect(plain(await worth('ETH'))).toBe(Number(of('ETH')?.amount).toFixed(2));
  expect(await worth('TRX')).toBe('No rate');
  const total = sumOfDecimals([of('USDT')?.amount ?? '', of('ETH')?.amount ?? '']);
  const line = page.locator('p.worth');
  expect(plain(await line.locator('b').innerText())).toBe(Number(total).toFixed(2));
  await line.getByText('without TRX, for which there is no rate now').waitFor();
  await line.getByText(/^1 USDT = €0.92, \d+ s ago$/).waitFor();
  await line.getByText(/^1 ETH = €2,806.00, \d+ s ago$/).waitFor();
});

test('each network has a bar, as long as what it holds', async () => {
  const page = await signInAs('owner', stage, env());
  await open(page);
  const bars = table(page).getByRole('row', { name: /^USDT/ }).locator('.place');
  expect((await bars.allInnerTexts()).map((text) => text.split(':')[0])).toEqual(['Tron', 'Ethereum']);
  const lengths = await bars
    .locator('progress')
    .evaluateAll((all) => all.map((one) => (one instanceof HTMLProgressElement ? one.position : 0)));
  expect(Math.max(...lengths)).toBe(1);
  expect(Math.min(...lengths)).toBeGreaterThan(0);
});

test('the page fits on every width', async () => {
  const page = await signInAs('owner', stage, env());
  await open(page);
  const found = new Set<string>();
  for (const colorScheme of schemesThatFit) {
    await page.emulateMedia({ colorScheme });
    for (const width of [320, 390, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      for (const one of await misfitsOn(page)) found.add(`${width} px: ${one}`);
      if (process.env['SCREENS'] !== '1') continue;
      await mkdir(screens, { recursive: true });
      await page.screenshot({ path: join(screens, `balances-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  expect([...found]).toEqual([]);
});
