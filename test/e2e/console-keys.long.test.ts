/** The console by the keyboard: rows, search and the command palette. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

beforeAll(async () => {
  const customer = { email: 'grace.hopper@navy.example', name: 'Grace Hopper' };
  await stage.create({ txRef: 'ORDER-5012', amount: '1234.5', customer });
  for (const number of [1, 2, 3]) await stage.create({ txRef: `other-${number}` });
});

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const go = (page: Page, path: string) => page.goto(`${new URL(page.url()).origin}/console/test/${path}`);

test('a press anywhere on a row opens it, and its own controls still work', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'payments');
  const row = page.getByRole('row', { name: 'ORDER-5012' });
  const box = await row.getByRole('cell').last().boundingBox();
  expect(box).not.toBeNull();
  if (box) await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await heading(page, 'Payment ORDER-5012');
});

test('j and k go through the rows, and Enter opens one', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'payments');
  await page.getByRole('row', { name: 'ORDER-5012' }).waitFor();
  const at = () => page.evaluate(() => document.activeElement?.textContent.trim());
  for (const [key, row] of [
    ['j', 'other-3'],
    ['j', 'other-2'],
    ['k', 'other-3'],
    ['k', 'other-3'],
    ['j', 'other-2'],
    ['j', 'other-1'],
    ['j', 'ORDER-5012'],
    ['j', 'ORDER-5012'],
  ] as const) {
    await page.keyboard.press(key);
    expect(await at()).toBe(row);
  }
  await page.keyboard.press('Enter');
  await heading(page, 'Payment ORDER-5012');
  await page.keyboard.press('?');
  await page.getByText('Next row').waitFor();
});

test('the beginning of a reference, an e-mail or a name is enough to find a payment; so is its sum', async () => {
  const page = await signInAs('owner', stage, env());
  for (const text of ['ORDER-50', 'grace.h', 'hopper', '1,234.50']) {
    await go(page, 'home');
    await heading(page, 'Home');
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await heading(page, 'Payment ORDER-5012');
  }
});

test('the palette opens pages and payments, and starts actions', async () => {
  const page = await signInAs('owner', stage, env());
  const palette = page.getByRole('dialog', { name: 'Go to, find or start' });
  const choose = async (text: string, option: string) => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill(text);
    await palette.getByRole('option', { name: option, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await palette.waitFor({ state: 'detached' });
  };
  await choose('cust', 'Customers Page');
  await heading(page, 'Customers');
  await choose('order-50', 'ORDER-5012');
  await heading(page, 'Payment ORDER-5012');
  await choose('new pay', 'New payment Action');
  await page.getByRole('heading', { name: 'New payment' }).waitFor();
  expect(page.url()).toMatch(/\/test\/payments$/);
  // Escape and the next key in one task: the dialog's close event comes after both.
  await page.evaluate(() => {
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
  });
  await palette.waitFor();
  await inspect(page, 'console-palette');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  expect(await palette.getByRole('option', { selected: true }).count()).toBe(1);
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
});

test('the palette has only what the role may do', async () => {
  const page = await signInAs('accountant', stage, env());
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Payments Page' }).waitFor();
  expect(await page.getByRole('option', { name: 'Action' }).count()).toBe(0);
});
