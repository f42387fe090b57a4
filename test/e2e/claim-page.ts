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

/** A wallet in the browser, as EIP-6963 announces it. @param answer its reply; it rejects with a thrown error */
export async function giveWallet(
  page: Page,
  answer: (method: string, params: readonly unknown[]) => unknown,
): Promise<void> {
  await page.exposeFunction('walletAnswer', answer);
  await page.addInitScript(() => {
    const { walletAnswer } = globalThis as unknown as {
      walletAnswer(method: string, params: unknown): Promise<unknown>;
    };
    const request = ({ method, params = [] }: { method: string; params?: unknown }) =>
      walletAnswer(method, params);
    const detail = { info: { uuid: '1', name: 'Test Wallet', icon: '' }, provider: { request } };
    addEventListener('eip6963:requestProvider', () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })),
    );
  });
}
