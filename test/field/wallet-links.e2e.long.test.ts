/** Public reports of links to wallets that nothing opens: the payer gets the link as text. */
import { expect, test } from 'vitest';
import { inEachEngine } from '../e2e/engines.js';
import { useStage } from '../e2e/stage.js';

const stage = useStage({ blockIntervalMs: 200 });

/** The text in the field, and the part of it that is selected. */
function fieldText() {
  const field = document.querySelector('crypto-checkout')?.shadowRoot?.activeElement;
  if (!(field instanceof HTMLTextAreaElement)) return undefined;
  const { value, selectionStart, selectionEnd, labels } = field;
  return { value, selected: value.slice(selectionStart, selectionEnd), label: labels[0]?.textContent ?? '' };
}

const inside = (userAgent: string) =>
  `<script>Object.defineProperty(navigator, 'userAgent', { value: '${userAgent}' })</script>`;
/** Instagram on an iPhone is WebKit, apps on Android are Chromium. */
const apps = {
  WebKit: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) Mobile/15E148 Instagram 400.0',
  Chromium: 'Mozilla/5.0 (Linux; Android 16; Pixel 9; wv) Version/4.0 Chrome/147.0 Mobile Safari/537.36',
  Firefox: 'Mozilla/5.0 (Android 16; Mobile; rv:153.0) Gecko/153.0 Firefox/153.0 Telegram-Android/12.0',
};

inEachEngine(stage, (page, { name }) => {
  const show = async (before = '') => {
    const { payment } = await stage.createLocked('LTC', 'litecoin');
    await page.show(
      `${before}<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`,
    );
    await page.payer.see('time-log');
    return `litecoin:${payment.addressInformation?.address}?amount=${payment.amountDue}`;
  };

  // WebKitGTK, unlike Safari, leaves the page for its own error page.
  if (name !== 'WebKit')
    test('btcpayserver/btcpayserver#5266: if no wallet opens within two seconds, the card says so, and shows the link', async () => {
      const link = await show();
      await page.payer.press('wallet');
      await expect
        .poll(() => page.tab.run(fieldText), { timeout: 5000 })
        .toMatchObject({
          value: link,
          selected: link,
          label: 'No wallet opened. Copy this link into your wallet.',
        });
    });

  test('rainbow-me/rainbowkit#2241, tdlib/telegram-bot-api#299: in the browser of an app, the link is text at once, and the page stays', async () => {
    const link = await show(inside(apps[name]));
    await page.payer.press('wallet');
    await expect.poll(() => page.tab.run(fieldText)).toMatchObject({ value: link, selected: link });
    await page.payer.reach('awaiting-funds');
  });
});
