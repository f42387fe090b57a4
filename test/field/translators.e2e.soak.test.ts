/**
 * Public reports of pages whose text others rewrite, on every page of the product: the widget, the page for refunds, and
 * the console. The translator keeps translating for as long as the page is open, as those of browsers do.
 */
import { expect, test } from 'vitest';
import type { Tab } from '../support/webdriver.js';
import { merchantIdOf, runCommand } from '../e2e/deposit-keys.js';
import { inEachEngine } from '../e2e/engines.js';
import { useStageWithCommands } from '../e2e/stage.js';

const { stage, env } = useStageWithCommands({ blockIntervalMs: 0 });

/**
 * Two ways to translate. Chrome's puts elements in place of texts, and so do those that took over its code: solid#1451,
 * svelte#15090, react#11538. Firefox's gives an element other content, and drops the comments in it: webcompat#145499.
 */
const ways = ['elements', 'content'] as const;

/** Translates an element's texts from now on, and keeps which ones it was not allowed to. */
function translate(selector: string, way: (typeof ways)[number]): void {
  const element = document.querySelector(selector);
  const root = element?.shadowRoot ?? element;
  if (!root) throw new Error(`There is no ${selector}`);
  const turn = (text: Text) => {
    const { parentElement: parent, data } = text;
    if (!parent || data.trim() === '' || data.startsWith('«')) return;
    if (parent.closest('[translate="no"], style, script, textarea')) return;
    const words = `«${data}»`;
    if (way === 'content') {
      text.replaceWith(words);
      for (const node of [...parent.childNodes]) if (node instanceof Comment) node.remove();
      return;
    }
    const create = () => document.createElementNS('http://www.w3.org/1999/xhtml', 'font');
    const font = create();
    font.append(Object.assign(create(), { textContent: words }));
    text.replaceWith(font);
  };
  const all = () => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode);
    texts.forEach(turn);
  };
  new MutationObserver(all).observe(root, { childList: true, characterData: true, subtree: true });
  all();
}

/** The text that can be read. */
function textOf(selector: string): string {
  const element = document.querySelector(selector);
  const root = element?.shadowRoot?.querySelector('.card') ?? element;
  return (root?.textContent ?? '').replaceAll(/[\u00a0\u2066-\u2069]/g, ' ').replaceAll(/\s+/g, ' ');
}

/** Addresses, hashes, ids and amounts that are all of their element's text, and that a translator has touched. */
function touched(selector: string): string[] {
  const element = document.querySelector(selector);
  const root = element?.shadowRoot ?? element;
  const values = /^(0x[\da-f]{6,}.*|T\w{33}|pay_\w+|[\d.,]+\s(USDT|USD)|\d+:\d\d)$/i;
  return [...(root?.querySelectorAll('*') ?? [])]
    .filter((one) => one.children.length === 0 || [...one.children].every((inner) => inner.matches('font')))
    .map((one) => one.textContent.trim())
    .filter((text) => text.startsWith('«') && values.test(text.replaceAll(/[«»]/g, '').trim()));
}

const read = (tab: Tab, selector: string) => tab.run(textOf, selector);

inEachEngine(stage, (page, { name }) => {
  for (const way of ways) {
    test(`solid#1451, svelte#15090, webcompat#145499: a payment's card with other ${way} stays true to its success`, async () => {
      const { payment } = await stage.createLocked('USDT', 'tron');
      const tag = `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`;
      // The translator comes before the code that repairs.
      await page.show(tag, 'after-qr');
      const [amount, address] = [await page.payer.see('amount'), await page.payer.see('address')];
      const time = await page.payer.see('countdown');
      await page.tab.run(translate, 'crypto-checkout', way);
      await page.chunks.release('after-qr');
      await page.payer.see('time-log');
      await expect.poll(() => page.payer.text('countdown')).not.toBe(time);
      expect(await page.payer.text('amount')).toBe(amount);
      expect(await page.payer.text('address')).toBe(address);

      await stage.send(payment, 5);
      await stage.sandbox('blocks', { network: 'tron', count: 1 });
      await page.tab.run(() => document.querySelector('crypto-checkout')?.refresh());
      await page.payer.reach('partially-paid');
      const rest = (payment.amountDue ?? 0) - 5;
      await expect.poll(() => page.payer.text('amount')).toMatch(new RegExp(`^${rest.toFixed(2)}`));
      expect(await read(page.tab, 'crypto-checkout')).not.toMatch(/Send exactly/);

      // swissgeol-viewer-suite#1499: scripts of the page move and remove what is drawn.
      await page.tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        root?.querySelector('.body')?.remove();
        document.body.append(root?.querySelector('[part="status"]')?.firstChild ?? '');
      });
      await stage.send(payment, rest);
      await stage.sandbox('blocks', { network: 'tron', count: 30 });
      await expect
        .poll(async () => {
          await page.tab.run(() => document.querySelector('crypto-checkout')?.refresh());
          return read(page.tab, 'crypto-checkout');
        })
        .toMatch(/Paid/);
      await page.payer.reach('success');
      await page.payer.see('receipt');
      expect(await read(page.tab, 'crypto-checkout')).not.toMatch(/Send (exactly|the)|Send your payment/);
      expect(await page.tab.run(touched, 'crypto-checkout')).toEqual([]);
      expect(await page.uncaught()).toEqual([]);
    });
  }

  test('webcompat#145499: the page for refunds shows each step, and the address as it is', async () => {
    const { payment } = await stage.createLocked('USDT', 'ethereum');
    await stage.send(payment, (payment.amount ?? 0) + 5);
    await stage.sandbox('blocks', { network: 'ethereum', count: 15 });
    await expect.poll(async () => (await stage.verify(payment.id)).state).toBe('settled_over');
    const { refunds } = stage.merchant;
    const { data } = await refunds.create({ params: { payment_id: payment.id }, body: { kind: 'excess' } });
    const own = '0x52908400098527886E0F7030069857D2E4169EE7';
    await page.tab.open(data.claimUrl ?? '');
    const reach = (text: string) => expect.poll(() => read(page.tab, 'refund-claim')).toContain(text);
    const press = (label: string) =>
      page.tab.run((text) => {
        const root = document.querySelector('refund-claim')?.shadowRoot;
        const buttons = [...(root?.querySelectorAll<HTMLElement>('button') ?? [])];
        buttons.find((one) => one.textContent.includes(text))?.click();
      }, label);
    await reach('Where should we send your refund?');
    await page.tab.run(translate, 'refund-claim', 'content');
    await page.tab.run((address) => {
      const field = document.querySelector('refund-claim')?.shadowRoot?.querySelector('input');
      if (field) field.value = address;
    }, own);
    await press('Continue');
    await reach('Is this your address?');
    await press('Yes, send it here');
    await reach('Waiting for the shop');
    expect(await read(page.tab, 'refund-claim')).not.toContain('Is this your address?');
    await refunds.approve({ params: { refund_id: data.id }, body: {} });
    await expect
      .poll(
        async () => {
          await stage.sandbox('blocks', { network: 'ethereum', count: 2 });
          await page.tab.run(() => void document.dispatchEvent(new Event('visibilitychange')));
          return read(page.tab, 'refund-claim');
        },
        { timeout: 20_000 },
      )
      .toContain('Refund sent');
    expect(await page.tab.run(touched, 'refund-claim')).toEqual([]);
  });

  test('webcompat#145499: the console shows what a payment becomes', async () => {
    const { payment } = await stage.createLocked('USDT', 'tron');
    const email = `${name.toLowerCase()}@shop.example`;
    const words = ['--merchant', await merchantIdOf(env()), '--email', email, '--role', 'owner'];
    const { signInUrl } = (await runCommand(env(), 'users', 'invite', ...words)) as { signInUrl: string };
    const { port } = new URL(stage.server.url);
    await page.tab.open(signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`));
    const see = (text: string | RegExp) =>
      expect.poll(() => read(page.tab, 'checkout-console'), { timeout: 20_000 }).toMatch(new RegExp(text));
    await see('Home');
    await page.tab.run(translate, 'checkout-console', 'content');
    await page.tab.open(`http://localhost:${port}/console/test/payment/${payment.id}`);
    await see(payment.id);
    await page.tab.run(translate, 'checkout-console', 'content');
    await see(/Awaiting|Waiting/i);
    await stage.send(payment, payment.amountDue ?? 0);
    await stage.sandbox('blocks', { network: 'tron', count: 30 });
    await expect.poll(async () => (await stage.verify(payment.id)).state).toBe('settled');
    await see('paid in full|Settled|Paid');
    expect(await page.tab.run(touched, 'checkout-console')).toEqual([]);
  });
});
