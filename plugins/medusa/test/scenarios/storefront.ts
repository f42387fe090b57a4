/** A whole purchase in a browser, in the storefront of `examples/`. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import { chromium, type Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findBrowser } from '../../../../scripts/find-browser.mjs';
import { eventually, expectPaid, orderOf, send } from '../support/customer.js';
import { plugin } from '../support/processes.js';
import type { Stage } from '../support/stage.js';
import { serveStorefront } from '../support/storefront.js';

const screens = join(plugin, '../../.tmp/screens');

async function picture(page: Page, name: string): Promise<void> {
  if (env['SCREENS'] !== '1') return;
  await mkdir(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `medusa-${name}.png`), fullPage: true });
}

export function storefront(stage: () => Stage, port: () => number): void {
  it('sells in a browser: cart, address, crypto, a reload in between, paid, order settled', async () => {
    const server = await serveStorefront(stage(), port());
    const browser = await chromium.launch(await findBrowser());
    try {
      const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
      const texts: Promise<string>[] = [];
      const problems: string[] = [];
      page.on('response', (response) => texts.push(response.text().catch(() => '')));
      page.on('pageerror', ({ message }) => problems.push(message));
      await page.goto(`http://127.0.0.1:${port()}/`);
      await page.getByRole('option', { name: 'Lantern, €50.00' }).waitFor({ state: 'attached' });
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Name').fill('Ada Example');
      await page.getByLabel('Street').fill('Road 1');
      await page.getByLabel('Town').fill('Town');
      await page.getByLabel('Postal code').fill('12345');
      await picture(page, 'form');
      await page.getByRole('button', { name: 'Pay with crypto' }).click();

      const tag = page.locator('crypto-checkout');
      const reach = (status: string) => page.locator(`crypto-checkout[status="${status}"]`).waitFor();
      await reach('choosing-currency');
      expect(await page.locator('main > form').isVisible()).toBe(false);
      await tag.getByRole('radio', { name: /USDT$/ }).click();
      await reach('choosing-network');
      await tag.getByRole('radio', { name: /Tron/ }).click();
      await reach('awaiting-funds');
      const address = async () => ((await tag.locator('[part~="address"]').textContent()) ?? '').trim();
      const before = await address();
      await picture(page, 'address');

      // The customer leaves, and comes back to the same payment.
      await page.reload();
      await reach('awaiting-funds');
      expect(await address()).toBe(before);
      const payment_id = (await tag.getAttribute('payment-id')) ?? '';
      const { data } = await stage().eu.client.payments.retrieve({ params: { payment_id } });
      expect(data.baseAmount).toBe(50);
      await send(stage(), stage().eu, before, data.amount ?? 0);
      await reach('success');
      const order = page.locator('[data-order]');
      await order.waitFor();
      await picture(page, 'paid');
      const id = (await order.getAttribute('data-order')) ?? '';
      await eventually(
        () => orderOf(stage(), id),
        (one) => expectPaid(one, 50),
      );
      const received = (await Promise.all(texts)).join('\n');
      expect(received).toContain(payment_id);
      expect(received).not.toMatch(/sk_test_|whsec_/);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      server.close();
      server.closeAllConnections();
    }
  });
}
