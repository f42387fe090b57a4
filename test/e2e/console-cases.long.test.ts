/** “Needs attention” is emptied in the console: handled with a note, assigned, or accepted as paid. */
import type { Payment } from 'crypto-checkout/contract';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { misfitsOn } from './fitting.js';
import { long } from './long-data.js';
import { go, signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

let short: Payment;
let other: Payment;
beforeAll(async () => {
  const made = [await stage.createLocked('USDT', 'tron'), await stage.createLocked('USDT', 'tron')];
  for (const { payment } of made) await stage.send(payment, (payment.amount ?? 0) / 2);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await stage.sandbox('clock', { advanceSeconds: 86_400 });
  for (const { payment } of made) {
    await vi.waitFor(
      async () => expect((await stage.verify(payment.id)).state).toBe('expired_partial'),
      20_000,
    );
  }
  const [one, two] = made.map(({ payment }) => payment);
  if (!one || !two) throw new Error('Two payments were made');
  [short, other] = [one, two];
}, 90_000);

const menu = (page: Page) => page.getByRole('navigation', { name: 'Menu' });
const waiting = (page: Page, count: number) =>
  menu(page)
    .getByRole('link', { name: `Payments, ${count} to do` })
    .waitFor();

test('support takes care of a payment, handles it with a note, and undoes it; the menu counts along', async () => {
  const page = await signInAs('support', stage, env());
  await waiting(page, 2);
  await go(page, `payment/${short.id}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  expect(await page.getByRole('button', { name: 'Accept as paid…' }).count()).toBe(0);
  await press('Take care of it');
  await page.getByText('support@shop.example takes care of it.').waitFor();
  await press('Add a note…');
  await page.getByRole('textbox', { name: 'Note' }).fill(`${long.name}\n${long.reference}`);
  await press('Save');
  await page.getByText(long.name).waitFor();
  await go(page, 'home');
  await page.getByRole('heading', { name: 'Assigned to you' }).waitFor();

  await go(page, `payment/${short.id}`);
  await press('Mark as handled…');
  await page.getByRole('textbox', { name: 'Resolution' }).fill('Settled in the shop');
  await press('Handled');
  await page.getByText('Handled: Settled in the shop').waitFor();
  await waiting(page, 1);
  await press('Undo');
  await page.getByText('Needs attention again', { exact: true }).first().waitFor();
  await waiting(page, 2);
  await inspect(page, 'console-case');
});

test('a manager sees the sum before accepting it, and the payment says so afterwards', async () => {
  const page = await signInAs('manager', stage, env());
  await go(page, `payment/${other.id}`);
  await page.getByRole('button', { name: 'Accept as paid…' }).click();
  await page.getByRole('heading', { name: /^Accept 10.00\sUSDT as paid\?$/ }).waitFor();
  await page.getByText(/^10.00\sUSDT of 20.00\sUSDT came\. Order .* counts as paid/).waitFor();
  await inspect(page, 'console-accept');
  await page.getByRole('button', { name: /^Accept 10.00/ }).click();
  await page.getByText(/^10.00\sUSDT of 20.00\sUSDT came, and the shop accepted it as paid\.$/).waitFor();
  expect((await stage.verify(other.id)).state).toBe('settled');
  await waiting(page, 1);
});

test('notes fit at every width', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, `payment/${short.id}`);
  await page.getByText(long.name).waitFor();
  const found = new Set<string>();
  for (const width of [320, 390, 768, 1024, 1280, 1366, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    for (const one of await misfitsOn(page)) found.add(`${width} px: ${one}`);
  }
  expect([...found]).toEqual([]);
});
