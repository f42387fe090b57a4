/** A payment in each engine, on the built server: docs/browsers.md says what else is tried in them, in the long run. */
import { expect, test } from 'vitest';
import { inEachEngine } from './engines.js';
import { tagOf } from './shop-page.js';
import { useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 200 });

inEachEngine(stage, (page, { name }) => {
  test('a payment goes from the pay button to its success, also if the texts arrive before their code', async () => {
    await page.show(tagOf(stage, `engine-${name}`), 'after-qr');
    const { payer, tab, chunks } = page;
    await payer.choose();
    await expect.poll(() => chunks.delivered).toContain('en-after-qr');
    // A page that renders without end answers nothing from here on.
    expect(await payer.text('address')).toMatch(/^T\w{33}$/);
    await chunks.release('after-qr');
    expect(await payer.see('time-log')).toContain('USDT');
    const id = await tab.run(() => document.querySelector('crypto-checkout')?.payment?.id);
    const payment = await stage.verify(id ?? '');
    await stage.send(payment, payment.amountDue ?? 0);
    await payer.reach('success');
    expect(await payer.see('receipt')).toContain('USDT');
    expect(await page.uncaught()).toEqual([]);
  });

  test('Space chooses a coin, and chooses it again when the payer comes back to it', async () => {
    await page.show(tagOf(stage, `space-${name}`));
    const { payer, tab } = page;
    const pressSpace = async () => {
      await tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        root?.addEventListener('click', () => Reflect.set(window, 'wasClicked', true));
        root?.querySelector<HTMLInputElement>('input[value="USDT"]')?.focus();
      });
      await tab.type(' ');
    };
    await payer.press();
    await payer.reach('choosing-currency');
    await pressSpace();
    await payer.reach('choosing-network');
    await payer.press('back');
    await payer.reach('choosing-currency');
    expect(
      await tab.run(() => {
        Reflect.set(window, 'wasClicked', false);
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        return root?.querySelector<HTMLInputElement>('input[value="USDT"]')?.checked;
      }),
    ).toBe(true);
    await pressSpace();
    await payer.reach('choosing-network');
    // Firefox clicks a checked option too, which would choose it twice.
    expect(await tab.run(() => Reflect.get(window, 'wasClicked') as boolean)).toBe(false);
  });
});
