/** Public reports of pages whose clipboard, styles and keyboard shortcuts break what is embedded in them. */
import { expect, test } from 'vitest';
import { inEachEngine } from '../e2e/engines.js';
import { tagOf } from '../e2e/shop-page.js';
import { useStage } from '../e2e/stage.js';

const stage = useStage({ blockIntervalMs: 200 });

/** A page that may not copy: the clipboard does this, and the old way refuses. */
const withClipboard = (write: string) => `<script>
  const clipboard = { writeText: ${write} };
  Object.defineProperty(navigator, 'clipboard', { value: clipboard });
  document.execCommand = () => false;
</script>`;
const refusing = withClipboard(`async () => { throw new DOMException('no', 'NotAllowedError'); }`);
const hanging = withClipboard('() => new Promise(() => {})');
const working = withClipboard('async (text) => void (window.copied = text)');

/** Values that a page can give inherited properties, and that no checkout could be used with. */
const hostile = {
  'pointer-events': 'none',
  'white-space': 'nowrap',
  'white-space-collapse': 'preserve',
  'text-transform': 'uppercase',
  'text-indent': '40px',
  'text-align': 'right',
  'text-align-last': 'center',
  'text-wrap': 'nowrap',
  'text-shadow': '0 0 4px red',
  'text-emphasis': 'dot',
  'text-underline-position': 'under',
  'text-rendering': 'geometricPrecision',
  'letter-spacing': '6px',
  'word-spacing': '30px',
  'line-height': '0.5',
  'line-break': 'anywhere',
  'word-break': 'break-all',
  'overflow-wrap': 'normal',
  hyphens: 'auto',
  'tab-size': '2',
  font: 'italic small-caps 900 7px serif',
  'font-variant-numeric': 'oldstyle-nums',
  'font-feature-settings': '"zero" 1',
  'font-kerning': 'none',
  'font-size-adjust': '0.9',
  'font-stretch': 'condensed',
  color: 'rgb(1, 2, 3)',
  'caret-color': 'red',
  'accent-color': 'red',
  cursor: 'wait',
  'list-style': 'square inside',
  'border-collapse': 'collapse',
  'border-spacing': '9px',
  'caption-side': 'bottom',
  'empty-cells': 'hide',
  quotes: 'none',
  orphans: '9',
  widows: '9',
  'image-rendering': 'pixelated',
  fill: 'red',
  'fill-opacity': '0.1',
  stroke: 'red',
  'stroke-width': '9',
  'stroke-dasharray': '1 9',
  'text-anchor': 'end',
  'paint-order': 'stroke',
  'text-orientation': 'sideways',
  'ruby-position': 'under',
  '-webkit-user-select': 'none',
  'user-select': 'none',
  '-webkit-text-fill-color': 'red',
  '-webkit-text-stroke': '2px red',
  '-webkit-text-security': 'disc',
  '-webkit-user-modify': 'read-only',
};

/** The look of the card's elements: each inherited property of each of them, and its place. */
function lookOf(names: readonly string[]): string[] {
  const root = document.querySelector('crypto-checkout')?.shadowRoot;
  const card = root?.querySelector('.card');
  const elements = [...(card?.querySelectorAll('*') ?? [])].filter((one) => one.getClientRects().length > 0);
  return elements.map((element) => {
    const style = getComputedStyle(element);
    const { width } = element.getBoundingClientRect();
    const name = `${element.localName}.${element.getAttribute('class') ?? ''}`;
    return `${name} ${Math.round(width)} ${names.map((one) => `${one}: ${style.getPropertyValue(one)}`).join('; ')}`;
  });
}

inEachEngine(stage, (page, { name }) => {
  for (const [what, clipboard] of [
    ['refuses', refusing],
    ['never answers', hanging],
  ] as const) {
    test(`ElemeFE/element#8739: where the clipboard ${what}, the address is in a field, selected`, async () => {
      await page.show(clipboard + (await page.tagOfLocked()));
      await page.payer.see('time-log');
      const address = (await page.payer.text('address')).replaceAll(/\s/g, '');
      await page.payer.press('copy-address');
      await expect
        .poll(() =>
          page.tab.run(() => {
            const field = document.querySelector('crypto-checkout')?.shadowRoot?.activeElement;
            if (!(field instanceof HTMLTextAreaElement)) return undefined;
            const { value, selectionStart, selectionEnd, readOnly } = field;
            return { selected: value.slice(selectionStart, selectionEnd), readOnly };
          }),
        )
        .toEqual({ selected: address, readOnly: true });
      await page.payer.press('close-copy-field');
      await expect.poll(() => page.payer.text('copy-field')).toBe('');
    });
  }

  test('btcpayserver/btcpayserver#6632: only what was copied last says so, and not forever', async () => {
    await page.show(working + (await page.tagOfLocked()));
    await page.payer.see('time-log');
    await page.payer.press('copy-amount');
    await expect.poll(() => page.payer.text('copy-amount')).toMatch(/Copied/);
    await page.payer.press('copy-address');
    await expect.poll(() => page.payer.text('copy-address')).toMatch(/Copied/);
    expect(await page.payer.text('copy-amount')).not.toMatch(/Copied/);
    await expect.poll(() => page.payer.text('copy-address')).not.toMatch(/Copied/);
    await page.payer.press('copy-amount');
    await expect.poll(() => page.payer.text('copy-amount')).toMatch(/Copied/);
  });

  for (const where of ['body', '*'] as const) {
    test(`radix-ui/primitives#2219, microsoft/fluentui#36299: nothing that ${where} inherits changes the card`, async () => {
      const tag = await page.tagOfLocked();
      const names = Object.keys(hostile);
      const plain = '<style>html, body { font: 16px sans-serif; }</style>';
      await page.show(plain + tag);
      await page.payer.see('time-log');
      const before = await page.tab.run(lookOf, names);
      expect(before.length).toBeGreaterThan(30);
      const rules = Object.entries(hostile).map(([name, value]) => `${name}: ${value};`);
      const style = `<style>${where} { ${rules.join(' ')} }</style>`;
      await page.show(plain + style + tag);
      await page.payer.see('time-log');
      const after = await page.tab.run(lookOf, names);
      // Only what differs: a whole card's look fills a screen.
      const changes = after.flatMap((look, index) => {
        const [name, ...values] = look.split('; ');
        const previous = before[index]?.split('; ') ?? [];
        const changed = [name, ...values].filter((value) => !previous.includes(value ?? ''));
        return changed.length > 0 ? [`${name}: ${changed.join('; ')}`] : [];
      });
      expect(changes).toEqual([]);
      expect(after).toHaveLength(before.length);
    });
  }

  test('radix-ui/primitives#2219: the modal and its button can be pressed on a page that takes no presses', async () => {
    const style = '<style>body { pointer-events: none }</style>';
    await page.show(style + (await page.tagOfLocked('mode="modal"')));
    const at = (part: string) =>
      page.tab.run((name) => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        const box = root?.querySelector(`[part~="${name}"]`)?.getBoundingClientRect();
        const found = box && root?.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return found?.closest('[part]')?.getAttribute('part');
      }, part);
    await page.payer.see('trigger');
    await expect.poll(() => at('trigger')).toBe('trigger');
    await page.payer.press('trigger');
    await page.payer.see('dialog');
    await page.payer.see('time-log');
    await expect.poll(() => at('close')).toBe('close');
    await expect.poll(() => at('action')).toBe('action');
  });

  test('JohannesKlauss/react-hotkeys-hook#1161: what is typed into the check of a transfer reaches the field, and not the shortcuts of the page', async () => {
    await page.show(`<script>
      window.shortcuts = [];
      for (const type of ['keydown', 'keypress', 'keyup'])
        document.addEventListener(type, (event) => {
          if (event.target.closest('input, textarea, [contenteditable]')) return;
          shortcuts.push(event.key);
          event.preventDefault();
        });
    </script>${await page.tagOfLocked()}`);
    await page.payer.see('time-log');
    await page.tab.run(() => {
      const root = document.querySelector('crypto-checkout')?.shadowRoot;
      root?.querySelector<HTMLElement>('[part="transfer-check"] summary')?.click();
    });
    await page.payer.see('check-transfer');
    await page.tab.run(() => {
      const root = document.querySelector('crypto-checkout')?.shadowRoot;
      root?.querySelector<HTMLInputElement>('[part="transfer-hash"]')?.focus();
    });
    await page.tab.type('9f/ k?g');
    const typed = () =>
      page.tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        return root?.querySelector<HTMLInputElement>('[part="transfer-hash"]')?.value;
      });
    await expect.poll(typed).toBe('9f/ k?g');
    expect(await page.tab.run(() => Reflect.get(window, 'shortcuts') as string[])).toEqual([]);
  });

  test('embedpdf/embed-pdf-viewer#661, ditto-assistant/ditto-app#236: in a frame that may not submit forms, a press and Enter run the action once', async () => {
    const sandbox = 'allow-scripts allow-same-origin';
    await page.show(`<script>
      const tag = '${await page.tagOfLocked()}';
      const frame = '<iframe src="/a-shop?frame" sandbox="${sandbox}" width="900" height="900"></iframe>';
      window.copied = [];
      const clipboard = { writeText: async (text) => void copied.push(text) };
      Object.defineProperty(navigator, 'clipboard', { value: clipboard });
      document.write(top === self ? frame : tag);
    </script>`);
    const inFrame = () =>
      page.tab.run(() => {
        const { contentDocument, contentWindow } = document.querySelector('iframe') ?? {};
        const root = contentDocument?.querySelector('crypto-checkout')?.shadowRoot;
        const action = root?.querySelector<HTMLElement>('[part="action"]');
        return {
          isReady: root?.querySelector('[part="time-log"]') != null,
          action: action?.textContent.trim(),
          copies: contentWindow && (Reflect.get(contentWindow, 'copied') as string[]).length,
        };
      });
    await expect.poll(async () => (await inFrame()).isReady).toBe(true);
    expect((await inFrame()).action).toBe('Copy address');
    await page.tab.run(() => {
      const root = document.querySelector('iframe')?.contentDocument?.querySelector('crypto-checkout');
      root?.shadowRoot?.querySelector<HTMLElement>('[part="action"]')?.click();
    });
    await expect.poll(async () => (await inFrame()).copies).toBe(1);
    // Any field of the card. Those of this view handle Enter themselves.
    await page.tab.run(() => {
      const frame = document.querySelector('iframe');
      const field = frame?.contentDocument?.createElement('input');
      const root = frame?.contentDocument?.querySelector('crypto-checkout')?.shadowRoot;
      if (field) root?.querySelector('.body')?.before(field);
      frame?.focus();
      field?.focus();
    });
    await page.tab.type('\n');
    await expect.poll(async () => (await inFrame()).copies).toBe(2);
  });

  test('GovAlta/ui-components#1864, getsentry/sentry#122400: the card has room in parents that are as wide as their content', async () => {
    const parents: readonly [width: number, start: string, end: string][] = [
      [448, '<div style="display: flex"><div>', '</div></div>'],
      [448, '<div style="display: inline-block">', '</div>'],
      [448, '<div style="inline-size: fit-content">', '</div>'],
      [448, '<table><tr><td>', '</td></tr></table>'],
      [448, '<div style="float: left">', '</div>'],
      // The card is no wider than these.
      [300, '<div style="width: 300px"><div style="inline-size: fit-content">', '</div></div>'],
      [300, '<div style="display: flex; width: 300px"><div style="flex: 1">', '</div></div>'],
      [300, '<div style="display: grid; grid-template-columns: 1fr 1fr; width: 600px">', '</div>'],
      [300, '<div style="width: 300px">', '</div>'],
      [700, '<div style="width: 700px">', '</div>'],
    ];
    const pieces = parents.map(
      ([, start, end], index) => `${start}${tagOf(stage, `${name}-parent-${index}`)}${end}<br clear="left">`,
    );
    await page.show(`<style>td { padding: 0 }</style>${pieces.join('')}`);
    const widths = () =>
      page.tab.run(() =>
        [...document.querySelectorAll('crypto-checkout')].map((tag) => {
          const card = tag.shadowRoot?.querySelector('.card')?.getBoundingClientRect().width;
          return [tag.getBoundingClientRect().width, card];
        }),
      );
    await expect.poll(widths).toEqual(parents.map(([width]) => [width, width]));
  });

  test('the return to the shop leaves a frame', async () => {
    const thanks = `${page.chunks.pageUrl}?thanks`;
    const { payment: created } = await stage.create({ redirectUrl: thanks });
    const { payments } = stage.merchant;
    await payments.setCurrency({ params: { payment_id: created.id, currency: 'USDT', network: 'tron' } });
    const { data: payment } = await payments.lockCurrency({ params: { payment_id: created.id } });
    const tag = `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`;
    await page.show(`<script>
      if (top !== self) document.write('${tag}');
      if (top === self && location.search === '') document.write('<iframe src="/a-shop?frame" width="900" height="900"></iframe>');
    </script>`);
    const inFrame = () =>
      page.tab.run(() => {
        const { contentDocument } = document.querySelector('iframe') ?? {};
        return contentDocument?.querySelector('crypto-checkout')?.getAttribute('status');
      });
    await expect.poll(inFrame).toBe('awaiting-funds');
    await stage.send(payment, payment.amountDue ?? 0);
    await expect.poll(() => page.tab.run(() => location.href), { timeout: 25_000 }).toContain(thanks);
  });
});
