/** Public reports of pages, libraries and settings that break what is embedded in a page, each in each engine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, inject, test } from 'vitest';
import { checkoutOn } from '../e2e/checkout.js';
import { inEachEngine } from '../e2e/engines.js';
import { openFirefox, payerIn } from '../e2e/payer.js';
import { openShop, tagOf } from '../e2e/shop-page.js';
import { qrReader, useStage } from '../e2e/stage.js';

const stage = useStage({ blockIntervalMs: 200 });

/** Old libraries change what all code of a page uses, and pages do not use https. */
const oldLibraries = (isWebkit: boolean) => `<script>
  // emberjs/ember.js#13743
  ${isWebkit ? '// The driver of WebKit cannot read such a page.' : 'Object.prototype.extension = function () {};'}
  Array.prototype.objectAt = function (index) { return this[index]; };
  // Deltares/fews-web-oc#1507
  Crypto.prototype.randomUUID = undefined;
  // mui/material-ui#47423: the trap does not look into shadow roots.
  addEventListener('focusin', () => {
    const { activeElement } = document;
    if (!activeElement?.matches('crypto-checkout, body')) activeElement.blur();
  });
</script>
<base href="https://elsewhere.example/other/">`;

inEachEngine(
  stage,
  (page, { name }) => {
    test('emberjs/ember.js#13743, aurelia/router#382, Deltares/fews-web-oc#1507, mui/material-ui#47423: a payment on a page of old libraries', async () => {
      await page.show(oldLibraries(name === 'WebKit') + tagOf(stage, `foreign-${name}`));
      await page.payer.choose();
      const id = await page.tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
      const payment = await stage.verify(id ?? '');
      await page.payer.see('time-log');
      expect((await page.payer.text('address')).replaceAll(/\s/g, '')).toBe(
        payment.addressInformation?.address,
      );
      await stage.send(payment, payment.amountDue ?? 0);
      await page.payer.reach('success');
      await page.payer.see('receipt');
      expect(await page.uncaught()).toEqual([]);
    });

    test('bigskysoftware/idiomorph#57, turbolinks/turbolinks#57, vercel/next.js#84091: a page that rewrites the tag keeps its one payment', async () => {
      await page.show(tagOf(stage, `rewritten-${name}`));
      await page.payer.choose();
      await page.payer.see('time-log');
      const idOf = () => page.tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
      const id = await idOf();
      // A library compares the tag with the server's markup: it removes attributes and children that are not in it.
      await page.tab.run(() => {
        const tag = document.querySelector('crypto-checkout');
        tag?.removeAttribute('status');
        tag?.replaceChildren();
        tag?.setAttribute('tx-ref', tag.getAttribute('tx-ref') ?? '');
      });
      await page.payer.see('address');
      expect(await idOf()).toBe(id);
      // A page from a library's cache is a copy of the nodes; a framework that cannot hydrate renders new ones.
      await page.tab.run(() => {
        const main = document.querySelector('main');
        main?.replaceWith(main.cloneNode(true));
      });
      await page.payer.reach('awaiting-funds');
      expect(await idOf()).toBe(id);
      expect(await page.tab.run(() => document.querySelectorAll('crypto-checkout').length)).toBe(1);
      const payment = await stage.verify(id ?? '');
      await stage.send(payment, payment.amountDue ?? 0);
      await page.payer.reach('success');
      expect(await page.uncaught()).toEqual([]);
    });

    test('Adyen/adyen-web#3681: a tag that is removed before its code has loaded starts nothing, and works when it comes back', async () => {
      await page.show(tagOf(stage, `unmounted-${name}`), 'flow');
      await page.payer.press();
      await expect.poll(() => page.chunks.held()).toContain('flow');
      await page.tab.run(() => {
        const tag = document.querySelector('crypto-checkout');
        Reflect.set(window, 'tag', tag);
        tag?.remove();
      });
      await page.chunks.release('flow');
      await page.tab.run(() => new Promise((resolve) => setTimeout(resolve, 300)));
      const payments = async () =>
        (await stage.merchant.transactions.list({ query: { txRef: `unmounted-${name}` } })).data.length;
      expect(await payments()).toBe(0);
      await page.tab.run(() => {
        document.querySelector('main')?.append(Reflect.get(window, 'tag') as Element);
      });
      await page.payer.choose();
      expect(await payments()).toBe(1);
      expect(await page.uncaught()).toEqual([]);
    });

    test('adobe/react-spectrum#8784, ariakit/ariakit#2232: the modal under trusted types that name lit-html, and on a page that a library makes inert', async () => {
      const policy = (names: string) => `<script>
        const meta = document.createElement('meta');
        meta.httpEquiv = 'Content-Security-Policy';
        meta.content = "require-trusted-types-for 'script'; trusted-types ${names}";
        document.head.append(meta);
      </script>`;
      await page.show(policy('lit-html') + (await page.tagOfLocked('mode="modal"')));
      await page.payer.see('trigger');
      await page.payer.press('trigger');
      await page.payer.see('time-log');
      await page.tab.run(() => {
        for (const one of document.body.children) if (one instanceof HTMLElement) one.inert = true;
      });
      const found = await page.tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        const box = root?.querySelector('[part="close"]')?.getBoundingClientRect() ?? new DOMRect();
        return root
          ?.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
          ?.closest('[part]')
          ?.getAttribute('part');
      });
      expect(found).toBe('close');
      expect(await page.uncaught()).toEqual([]);
      await page.show(policy("'none'") + (await page.tagOfLocked()));
      await expect.poll(async () => (await page.uncaught()).join()).toMatch(/policy/i);
      expect(await page.tab.run(() => customElements.get('crypto-checkout') === undefined)).toBe(true);
    });

    // The page itself reports: WebKit's driver reaches no page that came back.
    test('helixml/helix#2472, damoang/angple#303: a page that comes back by the Back button shows what has happened since', async () => {
      const reports: string[] = [];
      const server = createServer((request, response) => {
        reports.push(request.url ?? '');
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const { payment } = await stage.createLocked('USDT', 'tron');
        await page.show(`<script>
          const report = (what) => (new Image().src = 'http://127.0.0.1:${port}/' + what);
          addEventListener('pageshow', ({ persisted }) => report(persisted ? 'from-cache' : 'loaded'));
          addEventListener('checkout-success', () => report('success'));
        </script><crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`);
        await page.payer.see('time-log');
        await page.tab.open(`${stage.server.url}/docs`);
        await stage.send(payment, payment.amountDue ?? 0);
        await expect.poll(async () => (await stage.verify(payment.id)).state).toBe('settled');
        await page.tab.run(() => void setTimeout(() => history.back(), 50));
        await expect.poll(() => reports, { timeout: 15_000 }).toContain('/success');
        if (name === 'Firefox') expect(reports).toContain('/from-cache');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  },
  { expectedErrors: /./ },
);

test('brave/brave-browser#31734: where a blocker stops addresses with checkout in them, the card says so', async () => {
  const page = await stage.page({ expectedErrors: /./ });
  const { payment } = await stage.createLocked('USDT', 'tron');
  await page.route(/\/v1\/.*checkout/, (route) => route.abort('blockedbyclient'));
  await openShop(
    stage,
    page,
    `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`,
  );
  await checkoutOn(page).part('error').getByText('No connection to the payment service').waitFor();
});

test('torusresearch/torus-website#1000, CorentinTh/it-tools#284: the QR code stays black on white where Chrome darkens pages', async () => {
  const page = await stage.page();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setAutoDarkModeOverride', { enabled: true });
  const { url, payment } = await stage.createLocked('USDT', 'tron');
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  const code = checkout.element.locator('svg[part=qr]');
  await code.waitFor();
  const read = await qrReader(stage);
  expect(await read(await code.screenshot())).toBe(payment.addressInformation?.address);
});

test.skipIf(inject('firefoxPath') === undefined)(
  'Windows high contrast in Firefox: the card, its rows and its button have borders, and the QR code can be read',
  async () => {
    const tab = await openFirefox({ 'browser.display.document_color_use': 2 });
    try {
      const { url, payment } = await stage.createLocked('USDT', 'tron');
      await tab.open(url);
      await payerIn(tab).see('time-log');
      expect(await tab.run(() => matchMedia('(forced-colors: active)').matches)).toBe(true);
      const borders = await tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        return ['.card', '.target', '.action'].map((one) => {
          const found = root?.querySelector(one);
          return found ? getComputedStyle(found).borderTopStyle : '';
        });
      });
      expect(borders).toEqual(['solid', 'solid', 'solid']);
      const read = await qrReader(stage);
      expect(await read(await tab.picture())).toBe(payment.addressInformation?.address);
    } finally {
      await tab.close();
    }
  },
);
