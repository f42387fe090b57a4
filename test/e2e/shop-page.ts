/** A page of a shop with the widget's tag and nothing else. */
import type { Page } from 'playwright-core';
import type { Stage } from './stage.js';

/** Opens the page, on the server's own origin. */
export async function openShop({ server }: Stage, page: Page, body: string): Promise<void> {
  const url = `${server.url}/a-shop`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
    <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
    <script type="module" src="/crypto-checkout.js"></script></head><body><main>${body}</main></body></html>`;
  await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.goto(url);
}

/** The tag of an order over 20 USD. Its id is the reference. */
export function tagOf({ server }: Stage, reference: string): string {
  return `<crypto-checkout id="${reference}" public-key="${server.publicKey}" amount="20" base-currency="USD" tx-ref="${reference}"></crypto-checkout>`;
}
