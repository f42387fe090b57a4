/** The payer's actions on the page where a refund is claimed. */
import type { Page } from 'playwright-core';

/** Waits for a step of the page. */
export const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
export const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
export const enter = (page: Page, address: string) =>
  page.getByRole('textbox', { name: 'Your address' }).fill(address);

/** Polls immediately, as a page does that comes to the front. */
export const look = (page: Page) =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
