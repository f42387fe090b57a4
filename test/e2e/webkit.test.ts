/** A payment in WebKit, the engine of Safari and of every iPhone, on the built server. `arrival-order.long.test.ts` has more orders. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { holdChunks, type HeldChunks } from './held-chunks.js';
import type { Tab } from '../support/webdriver.js';
import { openWebkit, payerIn } from './payer.js';
import { tagOf } from './shop-page.js';
import { useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 200 });

describe.skipIf(inject('webkitPrograms') === undefined)('in WebKit', () => {
  let chunks: HeldChunks;
  let tab: Tab;
  beforeAll(async () => {
    chunks = await holdChunks(stage.server.url);
  });
  beforeEach(async () => {
    tab = await openWebkit();
  });
  afterEach(() => tab.close());
  afterAll(() => chunks.stop());

  test('the address is drawn and stays alive after the texts have loaded, and before their code has', async () => {
    chunks.show(tagOf(stage, 'webkit-order'), 'after-qr');
    const payer = payerIn(tab);
    await tab.open(chunks.pageUrl);
    await payer.choose();
    await expect.poll(() => chunks.held()).toEqual(['after-qr']);
    await expect.poll(() => chunks.delivered).toContain('en-after-qr');
    // A page that renders without end answers nothing from here on.
    await tab.run(() => new Promise((resolve) => setTimeout(resolve, 200)));
    expect(await payer.text('address')).toMatch(/^T\w{33}$/);
    await chunks.release('after-qr');
    expect(await payer.see('time-log')).toContain('USDT');
  });

  test('a payment goes from the pay button to its success', async () => {
    chunks.show(tagOf(stage, 'webkit-flow'));
    const payer = payerIn(tab);
    await tab.open(chunks.pageUrl);
    await payer.choose();
    const id = await tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
    const payment = await stage.verify(id ?? '');
    await stage.send(payment, payment.amountDue ?? 0);
    await payer.reach('success');
    expect(await payer.see('receipt')).toContain('USDT');
  });
});
