/** The console in the hands of somebody without a pointer. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The text of the control that has the focus, or the name of its field. */
export const focused = (page: Page) =>
  page.evaluate(() => {
    const one = document.activeElement;
    if (!(one instanceof HTMLElement)) return '';
    return one.getAttribute('name') ?? one.innerText.trim();
  });

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 80; count += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`80 times Tab do not lead to ${name}`);
}

export const isInDialog = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest('dialog') !== null && document.activeElement !== null);

/** Fills in the open form in its order, by the names of its fields, and sends it with Enter. */
export async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('dialog').waitFor();
  expect(await isInDialog(page)).toBe(true);
  for (const [name, value] of Object.entries(values)) {
    await tabTo(page, name);
    await page.keyboard.type(value);
  }
  await page.keyboard.press('Enter');
}

/** Presses the button with Enter. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}
