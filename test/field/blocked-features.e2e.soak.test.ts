/** Public reports of browsers that block what pages may usually use: the checkout works without it. */
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { inEachEngine } from '../e2e/engines.js';
import { holdChunks, type HeldChunks } from '../e2e/held-chunks.js';
import { openFirefox, payerIn } from '../e2e/payer.js';
import { tagOf } from '../e2e/shop-page.js';
import { useStage } from '../e2e/stage.js';
import type { Tab } from '../support/webdriver.js';

const stage = useStage({ blockIntervalMs: 200 });

/** Optional features, as paths from the window. */
const optional = [
  'localStorage',
  'sessionStorage',
  'BroadcastChannel',
  'requestIdleCallback',
  'navigator.clipboard',
  'navigator.locks',
  'navigator.share',
  'navigator.vibrate',
  'navigator.wakeLock',
  'crypto.randomUUID',
  'URL.canParse',
  'Intl.supportedValuesOf',
  'Intl.DisplayNames',
  'Intl.ListFormat',
  'Intl.PluralRules',
  'Intl.RelativeTimeFormat',
];

/**
 * Makes each of them absent, or throw when it is read, or when it is called, as browsers do that block it. The tests' own driver reads
 * `requestIdleCallback`, which no browser refuses.
 */
const withoutFeatures = (kind: 'is absent' | 'refuses to be read' | 'refuses to be called') => `<script>
  const refuse = function () { throw new DOMException('The operation is insecure.', 'SecurityError'); };
  for (const path of ${JSON.stringify(optional)}) {
    const names = path.split('.');
    const last = names.pop();
    const owner = names.reduce((object, name) => object[name], window);
    const value = { 'is absent': undefined, 'refuses to be called': refuse }['${kind}'];
    const isRead = '${kind}' === 'refuses to be read' && last !== 'requestIdleCallback';
    Object.defineProperty(owner, last, { configurable: true, ...(isRead ? { get: refuse } : { value }) });
  }
</script>`;

/** From the pay button to the success. */
async function pay(tab: Tab): Promise<void> {
  const payer = payerIn(tab);
  await payer.choose();
  const id = await tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
  const payment = await stage.verify(id ?? '');
  await payer.see('time-log');
  await payer.press('copy-address');
  await stage.send(payment, payment.amountDue ?? 0);
  await payer.reach('success');
  await payer.see('receipt');
}

inEachEngine(stage, (page, { name }) => {
  test('hotosm/field-tm#2403, WordPress/wordpress-playground#2887: a shop that names its page of thanks learns of the success without URL.canParse', async () => {
    // The server keeps the URL as browsers write it, with a slash, so the element has to compare the two.
    const thanks = `${new URL(page.chunks.pageUrl).origin}?thanks`;
    const tag = tagOf(stage, `${name}-can-parse`).replace(' ', ` redirect-url="${thanks}" `);
    const listener = `<script>
      delete URL.canParse;
      addEventListener('checkout-success', () => (window.isPaid = true));
    </script>`;
    await page.show(listener + tag);
    await pay(page.tab);
    expect(await page.tab.run(() => Reflect.get(window, 'isPaid') as unknown)).toBe(true);
    expect(await page.payer.text('error')).toBe('');
    expect(await page.uncaught()).toEqual([]);
  });

  for (const kind of ['is absent', 'refuses to be read', 'refuses to be called'] as const) {
    test(`a payment reaches its success where every optional feature ${kind}`, async () => {
      await page.show(withoutFeatures(kind) + tagOf(stage, `${name}-${kind.replaceAll(' ', '-')}`));
      await pay(page.tab);
      expect(await page.uncaught()).toEqual([]);
    });

    test(`a payment of the shop's server is shown where every optional feature ${kind}`, async () => {
      await page.show(withoutFeatures(kind) + (await page.tagOfLocked('locale="fr"')));
      await page.payer.reach('awaiting-funds');
      await page.payer.see('time-log');
      expect(await page.uncaught()).toEqual([]);
    });
  }
});

// Firefox's own setting: "Block cookies and site data: all".
describe.skipIf(inject('firefoxPath') === undefined)('in Firefox without site data', () => {
  let tab: Tab;
  let chunks: HeldChunks;
  beforeEach(async () => {
    chunks = await holdChunks(stage.server.url);
    tab = await openFirefox({ 'network.cookie.cookieBehavior': 2 });
  });
  afterEach(async () => {
    await tab.close();
    await chunks.stop();
  });

  test('WalletConnect/walletconnect-monorepo#3650: a payment that the page names is shown and paid', async () => {
    const { payment, url } = await stage.createLocked('USDT', 'tron');
    chunks.show(
      `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`,
    );
    await tab.open(chunks.pageUrl);
    const payer = payerIn(tab);
    await payer.reach('awaiting-funds');
    expect(await tab.run(() => Reflect.get(window, 'uncaught') as string[])).toEqual([]);
    await tab.open(url);
    await payer.reach('awaiting-funds');
    await stage.send(payment, payment.amountDue ?? 0);
    await payer.reach('success');
  });

  test('a payment goes from the pay button to its success', async () => {
    chunks.show(tagOf(stage, 'no-site-data'));
    await tab.open(chunks.pageUrl);
    await pay(tab);
    expect(await tab.run(() => Reflect.get(window, 'uncaught') as string[])).toEqual([]);
  });
});
