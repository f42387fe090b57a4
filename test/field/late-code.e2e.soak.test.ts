/**
 * Public reports of pages that update without end, of code that is requested repeatedly, and of modules that arrive in
 * another order than requested, tried in the reported shape in each engine.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Tab } from '../support/webdriver.js';
import { idleWallet } from '../e2e/browser-wallet.js';
import { holdChunks, type HeldChunks } from '../e2e/held-chunks.js';
import { engines } from '../e2e/engines.js';
import { payerIn, type Payer } from '../e2e/payer.js';
import { tagOf } from '../e2e/shop-page.js';
import { useStage } from '../e2e/stage.js';

const stage = useStage();
let chunks: HeldChunks;
beforeAll(async () => {
  chunks = await holdChunks(stage.server.url);
});
afterAll(() => chunks.stop());

/** The page's countdown updates it once a second. */
const perSecond = 5;

describe.each(engines.map((one) => [one.name, one] as const))('in %s', (engine, { open, isMissing }) => {
  let tab: Tab;
  let payer: Payer;
  beforeEach(async () => {
    if (isMissing) return;
    tab = await open(stage, /503/);
    payer = payerIn(tab);
  });
  afterEach(async () => {
    if (!isMissing) await tab.close();
  });

  const show = async (body: string, ...held: string[]) => {
    chunks.show(body, ...held);
    await tab.open(chunks.pageUrl);
  };
  const tagOfLocked = async (more = '', network = 'tron') => {
    const { payment } = await stage.createLocked('USDT', network);
    return `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}" ${more}></crypto-checkout>`;
  };
  /** Number of updates that the element requests within a time. */
  const updatesIn = (ms: number) =>
    tab.run(async (time) => {
      const element = document.querySelector('crypto-checkout');
      if (!element) throw new Error('There is no element');
      let updates = 0;
      const { requestUpdate } = element;
      element.requestUpdate = (...change) => {
        updates += 1;
        // A page that hangs could not report it.
        if (updates > 1000) throw new Error('It updates without end');
        requestUpdate.apply(element, change);
      };
      await new Promise((resolve) => setTimeout(resolve, time));
      Reflect.deleteProperty(element, 'requestUpdate');
      return updates;
    }, ms);

  // import() of a module that is loaded already settles without a task: in WebKit, and since 2023 in the others.
  test.skipIf(isMissing)(
    'web-platform-tests/wpt#35949: nothing updates while only one file is missing',
    async () => {
      await show(tagOf(stage, `wpt-${engine}`), 'after-qr');
      await payer.choose();
      await expect.poll(() => chunks.delivered).toContain('en-after-qr');
      expect(await updatesIn(1000)).toBeLessThanOrEqual(perSecond);
      await chunks.release('after-qr');
      await payer.see('time-log');
    },
  );

  // "falls in an endless loading loop because it cannot load"
  test.skipIf(isMissing)(
    'Adyen/adyen-web#567: code that cannot be loaded is requested once a view, not with every update',
    async () => {
      const tag = await tagOfLocked('mode="modal" locale="fr"');
      chunks.show(tag);
      for (const name of ['modal', 'qr-code', 'after-qr']) chunks.refuse(name);
      await tab.open(chunks.pageUrl);
      await payer.reach('awaiting-funds');
      await tab.run(() => new Promise((resolve) => setTimeout(resolve, 2500)));
      for (const name of ['modal', 'qr-code', 'after-qr'])
        expect(chunks.asked.filter((one) => one === name).length, name).toBeLessThanOrEqual(2);
    },
  );

  // "filling the field and clicking outside of it": elements without end, and a page that does not answer.
  test.skipIf(isMissing)(
    'Adyen/adyen-web#2195: a field that is left adds nothing to the page, whatever its texts are',
    async () => {
      await show(await tagOfLocked());
      await payer.see('time-log');
      await tab.run(() => {
        const element = document.querySelector('crypto-checkout');
        if (element) element.messages = { transferField: '' };
        element?.shadowRoot?.querySelector<HTMLElement>('[part="transfer-check"] summary')?.click();
      });
      await payer.see('check-transfer');
      const count = () =>
        tab.run(() => document.querySelector('crypto-checkout')?.shadowRoot?.querySelectorAll('*').length);
      const before = await count();
      await tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        const field = root?.querySelector<HTMLInputElement>('[part="transfer-hash"]');
        field?.focus();
        if (field) field.value = '912345678';
        field?.dispatchEvent(new InputEvent('input'));
        field?.blur();
      });
      expect(await updatesIn(1000)).toBeLessThanOrEqual(perSecond);
      expect(await count()).toBe(before);
    },
  );

  // WebKit bug 242740: a module that two import at the same time.
  test.skipIf(isMissing)(
    'web-platform-tests/interop#1105: two elements that load the same late code at the same time both continue',
    async () => {
      await show((await tagOfLocked()) + (await tagOfLocked()), 'flow', 'after-qr');
      await expect.poll(() => chunks.held()).toContain('flow');
      await chunks.release('flow');
      await expect.poll(() => chunks.held()).toContain('after-qr');
      await chunks.release('after-qr');
      const logs = () =>
        tab.run(
          () =>
            [...document.querySelectorAll('crypto-checkout')].filter((one) =>
              one.shadowRoot?.querySelector('[part="time-log"]'),
            ).length,
        );
      await expect.poll(logs).toBe(2);
      expect(chunks.asked.filter((name) => name === 'after-qr')).toHaveLength(1);
    },
  );

  // A wallet that announces itself with each request, and a page that asks with each of its updates.
  test.skipIf(isMissing)(
    'thirdweb-dev/web3-onboard#1409: a wallet that keeps announcing itself does not keep the page updating',
    async () => {
      await show(
        `<script>
        window.asked = 0;
        addEventListener('eip6963:requestProvider', () => (window.asked += 1));
      </script>${idleWallet}${await tagOfLocked('', 'bsc')}`,
      );
      await payer.see('time-log');
      expect(await updatesIn(1000)).toBeLessThanOrEqual(perSecond);
      expect(await tab.run(() => Reflect.get(window, 'asked') as number)).toBeLessThanOrEqual(2);
    },
  );
});
