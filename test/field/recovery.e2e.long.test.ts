/** Public reports of code that could not be loaded once: the next press, or the next state, loads it. */
import { afterAll, expect, test } from 'vitest';
import { inEachEngine, type EnginePage } from '../e2e/engines.js';
import { tagOf } from '../e2e/shop-page.js';
import { useStage } from '../e2e/stage.js';

const stage = useStage({ blockIntervalMs: 200 });
const expectedErrors = /503|Failed to fetch|<crypto-checkout>/;

let count = 0;
afterAll(() => {
  count = 0;
});

inEachEngine(
  stage,
  (page: EnginePage, { name }) => {
    const tag = (more = '') => {
      count += 1;
      return tagOf(stage, `recovery-${name}-${count}`).replace(' ', ` ${more} `);
    };
    const show = async (body: string, ...refused: string[]) => {
      page.chunks.show(body);
      for (const one of refused) page.chunks.refuse(one);
      await page.tab.open(page.chunks.pageUrl);
    };

    // Firefox never fetches a module again that has failed once.
    test('whatwg/html#6768: the pay button works after its code could not be loaded twice, and so does all that follows', async () => {
      await show(tag(), 'flow');
      await page.payer.press();
      await page.payer.reach('error');
      await page.payer.press();
      await page.payer.reach('error');
      page.chunks.allow('flow');
      await page.payer.choose();
      await page.payer.see('time-log');
      await page.payer.see('rate');
      await expect
        .poll(() =>
          page.tab.run(
            () =>
              document.querySelector('crypto-checkout')?.shadowRoot?.querySelector('svg[part="qr"]') != null,
          ),
        )
        .toBe(true);
    });

    // The others ask for the same address again, which the map has a hash of.
    if (name === 'Firefox')
      test('a page with an import map gets code only from the addresses in it, whose hashes are checked', async () => {
        await show(`<script type="importmap">{ "imports": {} }</script>${tag()}`, 'flow');
        for (let press = 0; press < 3; press += 1) {
          await page.payer.press();
          await page.payer.reach('error');
        }
        expect(page.chunks.asked.filter((one) => one === 'flow')).toHaveLength(1);
      });

    test('vitejs/vite#11804: the texts, the QR code and the activity are there after the next refresh', async () => {
      const refused = ['load', 'qr-code', 'after-qr'];
      await show(tag(), ...refused);
      await page.payer.press();
      await page.payer.reach('error');
      page.chunks.allow('load');
      await page.payer.choose();
      const code = () =>
        page.tab.run(
          () => document.querySelector('crypto-checkout')?.shadowRoot?.querySelector('.qr')?.outerHTML,
        );
      await expect.poll(code).toMatch(/^<p/);
      for (const one of refused) page.chunks.allow(one);
      await page.tab.run(() => document.querySelector('crypto-checkout')?.refresh());
      await page.payer.see('time-log');
      await expect.poll(code).toMatch(/^<svg/);
    });

    test('the ending is drawn after its code could not be loaded before', async () => {
      await show(tag(), 'after-qr');
      await page.payer.choose();
      await expect.poll(() => page.chunks.asked).toContain('after-qr');
      page.chunks.allow('after-qr');
      const id = await page.tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
      const payment = await stage.verify(id ?? '');
      await stage.send(payment, payment.amountDue ?? 0);
      await page.payer.reach('success');
      await page.payer.see('receipt');
    });

    test('a language that could not be loaded is there after the pay button is pressed, and later parts of it too', async () => {
      await show(tag('locale="fr"'), 'fr', 'fr-after-qr');
      await expect.poll(() => page.payer.text('action')).toMatch(/^Pay/);
      page.chunks.allow('fr');
      await page.payer.choose();
      await expect.poll(() => page.payer.text('action')).toBe('Copier l’adresse');
      await page.payer.see('time-log');
      page.chunks.allow('fr-after-qr');
      await page.tab.run(() => document.querySelector('crypto-checkout')?.refresh());
      await expect.poll(() => page.payer.text('time-log')).toContain('Activité');
    });

    test('the modal opens at the second press if its code could not be loaded at the first', async () => {
      await show(tag('mode="modal"'), 'modal');
      await page.payer.see('trigger');
      await page.payer.press('trigger');
      await expect.poll(() => page.chunks.asked).toContain('modal');
      page.chunks.allow('modal');
      // The first press has its refusal a moment later; until then, a second one changes nothing.
      await expect
        .poll(async () => {
          await page.payer.press('trigger');
          return page.tab.run(() => document.querySelector('crypto-checkout')?.status);
        })
        .toBe('choosing-currency');
      await page.payer.see('dialog');
    });
  },
  { expectedErrors },
);
