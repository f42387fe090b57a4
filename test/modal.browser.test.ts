/** The modal: it keeps focus, page and payment, however it is opened, closed, moved or removed. */
import { aTimeout, expect, fixture, html } from '@open-wc/testing';
import type { CryptoCheckout } from '../src/index.js';
import {
  createElement,
  getPart,
  hasPart,
  orderAttributes,
  press,
  recordEvents,
  waitFor,
  waitForStatus,
} from './support/element.js';
import { useFakeApi } from './support/fake-api.js';
import { createdPayment, lockedPayment, paymentInState } from './support/payments.js';

const api = useFakeApi();

const modalAttributes = { ...orderAttributes, mode: 'modal', locale: 'en' };

async function mountModal(trigger?: HTMLElement, attributes: object = {}): Promise<CryptoCheckout> {
  const parent = await fixture<HTMLElement>(html`<div></div>`);
  const element = createElement({ ...modalAttributes, ...attributes });
  if (trigger) {
    trigger.slot = 'trigger';
    element.append(trigger);
  }
  parent.append(element);
  await element.updateComplete;
  return element;
}

const dialogOf = (element: CryptoCheckout) => element.shadowRoot?.querySelector('dialog') ?? undefined;
/** Open, and above the page. */
const isOpen = (element: CryptoCheckout) => dialogOf(element)?.matches(':modal') === true;
const rootStyle = () => document.documentElement.style;

async function openByPress(element: CryptoCheckout): Promise<void> {
  press(element, 'trigger');
  await waitFor(() => isOpen(element), 'the modal opens');
}

function pressEscape(element: CryptoCheckout): void {
  // The browser's handling of the key: scripts cannot send a trusted one.
  const dialog = dialogOf(element);
  if (dialog?.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close();
}

describe('modal', () => {
  it('The modal shows only a button, and asks the server nothing, before it is opened', async () => {
    const element = await mountModal();
    expect(getPart(element, 'trigger').textContent.trim()).to.equal('Pay with crypto');
    expect(hasPart(element, 'card')).to.equal(false);
    await aTimeout(50);
    expect([...api.requests, ...api.offersAsked]).to.deep.equal([]);
  });

  it('The modal opens at the coins, named by its heading, with focus inside, and the page does not scroll', async () => {
    const element = await mountModal();
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    expect(dialogOf(element)?.getAttribute('aria-labelledby')).to.equal('heading');
    expect(dialogOf(element)?.contains(element.shadowRoot?.activeElement ?? null)).to.equal(true);
    expect(rootStyle().overflow).to.equal('hidden');
    expect(api.requestsFor('create')).to.have.length(1);
    element.close();
  });

  it('Escape closes the modal, gives focus back to the trigger, and fires checkout-closed once', async () => {
    const element = await mountModal();
    const events = recordEvents(element);
    getPart(element, 'trigger').focus();
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    pressEscape(element);
    await waitFor(() => events.includes('closed'));
    await aTimeout(50);
    expect(events.filter((name) => name === 'closed')).to.deep.equal(['closed']);
    expect(isOpen(element)).to.equal(false);
    expect(element.shadowRoot?.activeElement?.getAttribute('part')).to.equal('trigger');
    expect(rootStyle().overflow).to.equal('');
  });

  it('Escape closes the modal also during a new render', async () => {
    const element = await mountModal();
    const events = recordEvents(element);
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    pressEscape(element);
    // Before the browser reports the closing.
    element.requestUpdate();
    await element.updateComplete;
    await waitFor(() => events.includes('closed'));
    expect(isOpen(element)).to.equal(false);
    expect(dialogOf(element)?.open).to.equal(false);
  });

  it('The page’s own trigger gets focus back, and its link is not followed', async () => {
    const link = document.createElement('a');
    link.href = '#fallback';
    link.textContent = 'Buy';
    const element = await mountModal(link);
    link.focus();
    link.click();
    await waitFor(() => isOpen(element));
    await waitForStatus(element, 'choosing-currency');
    element.close();
    expect(document.activeElement === link).to.equal(true);
    expect(location.hash).to.equal('');
  });

  it('A modal that is closed in the middle keeps the payment, and shows it again, without a second one', async () => {
    const element = await mountModal();
    await openAtAddress(element);
    getPart(element, 'close').click();
    expect(isOpen(element)).to.equal(false);
    expect(element.status).to.equal('awaiting-funds');
    await openByPress(element);
    expect(element.status).to.equal('awaiting-funds');
    expect(hasPart(element, 'address')).to.equal(true);
    expect(api.requestsFor('create')).to.have.length(1);
    expect(api.requestsFor('cancel')).to.have.length(0);
    element.close();
  });

  it('The modal has the shop and the total at its top, once', async () => {
    const element = await mountModal(undefined, { 'merchant-name': 'Nightjar Lanterns' });
    await openAtAddress(element);
    const seen = (part: string) =>
      [...(dialogOf(element)?.querySelectorAll<HTMLElement>(`[part='${part}']`) ?? [])].filter((one) =>
        one.checkVisibility(),
      );
    for (const part of ['merchant', 'total']) {
      expect(seen(part), part).to.have.length(1);
      expect(seen(part)[0]?.closest('.bar'), part).to.not.equal(null);
    }
    expect(getPart(element, 'merchant').textContent).to.equal('Nightjar Lanterns');
    element.close();
  });

  it('The trigger offers to continue the payment and counts down, after a reload too, until the payment ends', async () => {
    const label = (element: CryptoCheckout) =>
      getPart(element, 'trigger').textContent.replace(/\s+/g, ' ').trim();
    const element = await mountModal();
    await openAtAddress(element);
    element.close();
    await waitFor(() => /^Continue payment · \d+:\d\d$/.test(label(element)));
    const before = label(element);
    await waitFor(() => label(element) !== before);
    // Its name stays, or a screen reader would say a new one every second.
    expect(getPart(element, 'trigger').querySelector('[aria-hidden]')?.textContent).to.match(/\d:\d\d/);
    element.remove();
    const reloaded = await mountModal();
    await waitFor(() => /^Continue payment · \d+:\d\d$/.test(label(reloaded)));
    expect(isOpen(reloaded)).to.equal(false);
    api.payment = paymentInState('settled', { amountSeen: 3.25 });
    await reloaded.refresh();
    await waitFor(() => label(reloaded) === 'Pay with crypto');
  });

  it('The payment continues while the modal is closed: its success is there when the modal opens again', async () => {
    const element = await mountModal();
    await openAtAddress(element);
    element.close();
    api.payment = paymentInState('settled', { amountSeen: 3.25 });
    await element.refresh();
    await openByPress(element);
    // A poll that was under way had the answer from before.
    await waitForStatus(element, 'success');
    expect(api.requestsFor('create')).to.have.length(1);
    element.close();
  });

  for (const state of ['expired', 'cancelled', 'invalid'] as const) {
    it(`A modal that is opened again shows that its payment is ${state}, and starts no other one`, async () => {
      const element = await mountModal();
      await openAtAddress(element);
      element.close();
      api.payment = paymentInState(state);
      await element.refresh();
      const { status } = element;
      await openByPress(element);
      await aTimeout(20);
      expect(element.status).to.equal(status);
      expect(api.requestsFor('create')).to.have.length(1);
      element.close();
    });
  }

  it('A closed modal does not leave the page: only an open checkout goes back to the shop', async () => {
    const trusted = { redirectUrl: 'https://shop.example/thanks', isRedirectTrusted: true };
    const element = await mountModal(undefined, { 'payment-id': createdPayment().id });
    api.payment = lockedPayment(trusted);
    await openByPress(element);
    await waitForStatus(element, 'awaiting-funds');
    element.close();
    api.payment = paymentInState('settled', trusted);
    await element.refresh();
    await waitForStatus(element, 'success');
    await openByPress(element);
    await waitFor(() => hasPart(element, 'receipt'));
    expect(hasPart(element, 'redirect')).to.equal(false);
  });

  it('A modal that is closed while it counts down stays on the page', async () => {
    const trusted = { redirectUrl: 'https://shop.example/thanks', isRedirectTrusted: true };
    const element = await mountModal(undefined, { 'payment-id': createdPayment().id });
    api.payment = lockedPayment(trusted);
    await openByPress(element);
    await waitForStatus(element, 'awaiting-funds');
    api.payment = paymentInState('settled', trusted);
    await element.refresh();
    await waitFor(() => hasPart(element, 'redirect'));
    element.close();
    await openByPress(element);
    expect(hasPart(element, 'redirect')).to.equal(false);
  });

  it('A modal that is closed and opened at once is open', async () => {
    const element = await mountModal();
    const events = recordEvents(element);
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    element.close();
    await element.open();
    await aTimeout(50);
    expect(isOpen(element)).to.equal(true);
    expect(events.filter((event) => event === 'closed')).to.have.length(1);
  });

  it('The modal keeps its styles when other parts of the code add theirs', async () => {
    const element = await mountModal();
    await openByPress(element);
    const bar = () => getComputedStyle(getPart(element, 'close')).borderRadius;
    expect(bar()).to.equal('50%');
    const { shadowRoot } = element;
    if (shadowRoot) shadowRoot.adoptedStyleSheets = shadowRoot.adoptedStyleSheets.slice(0, 1);
    element.requestUpdate();
    await element.updateComplete;
    expect(bar()).to.equal('50%');
    element.close();
  });

  it('The modal is accessible while it is open', async () => {
    const element = await mountModal();
    await openAtAddress(element);
    await expect(element).to.be.accessible();
    element.close();
  });

  it('The modal creates one payment however often the trigger is pressed', async () => {
    const element = await mountModal();
    press(element, 'trigger');
    press(element, 'trigger');
    void element.open();
    await waitForStatus(element, 'choosing-currency');
    press(element, 'trigger');
    await aTimeout(20);
    expect(api.requestsFor('create')).to.have.length(1);
    element.close();
  });

  it('The modal stays open when it is moved', async () => {
    const element = await mountModal();
    const events = recordEvents(element);
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    document.body.append(element);
    await waitFor(() => isOpen(element));
    expect(rootStyle().overflow).to.equal('hidden');
    expect(events).not.to.include('closed');
    element.close();
    expect(rootStyle().overflow).to.equal('');
    element.remove();
  });

  it('A removed modal is closed, lets the page scroll, and does not reopen when it is back', async () => {
    const element = await mountModal();
    const events = recordEvents(element);
    const parent = element.parentElement;
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    element.remove();
    await aTimeout(0);
    expect(rootStyle().overflow).to.equal('');
    expect(events.filter((name) => name === 'closed')).to.have.length(1);
    parent?.append(element);
    await element.updateComplete;
    await aTimeout(20);
    expect(isOpen(element)).to.equal(false);
    expect(dialogOf(element)?.open).to.equal(false);
    await openByPress(element);
    expect(element.status).to.equal('choosing-currency');
    expect(api.requestsFor('create')).to.have.length(1);
    element.close();
  });

  it('The page gets its own overflow back after the last of two modals was closed', async () => {
    rootStyle().overflow = 'clip';
    const [first, second] = [await mountModal(), await mountModal(undefined, { 'tx-ref': 'order-43' })];
    await openByPress(first);
    await openByPress(second);
    first.close();
    expect(rootStyle().overflow).to.equal('hidden');
    second.close();
    expect(rootStyle().overflow).to.equal('clip');
    rootStyle().overflow = '';
  });

  it('The modal closes by a press on the backdrop, and not by a selection that ends there', async () => {
    const element = await mountModal();
    await openByPress(element);
    const dialog = dialogOf(element);
    const at = (type: string, x: number, y: number) =>
      dialog?.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, bubbles: true }));
    const { left = 0, top = 0, width = 0 } = dialog?.getBoundingClientRect() ?? {};
    at('pointerdown', left + width / 2, top + 20);
    at('click', 1, 1);
    expect(isOpen(element)).to.equal(true);
    at('pointerdown', 1, 1);
    at('click', 1, 1);
    expect(isOpen(element)).to.equal(false);
  });

  it('The modal is above everything on the page, even above the highest z-index', async () => {
    const cover = document.createElement('div');
    cover.style.cssText = 'position: fixed; inset: 0; z-index: 2147483647';
    const element = await mountModal();
    document.body.append(cover);
    await openByPress(element);
    const { left, top, width, height } = getPart(element, 'dialog').getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    expect(hit === element).to.equal(true);
    cover.remove();
    element.close();
  });

  it('A modal that turns inline in the middle keeps the payment, and the page scrolls', async () => {
    const element = await mountModal();
    await openByPress(element);
    await waitForStatus(element, 'choosing-currency');
    element.mode = 'inline';
    await element.updateComplete;
    expect(element.status).to.equal('choosing-currency');
    expect(hasPart(element, 'card')).to.equal(true);
    expect(rootStyle().overflow).to.equal('');
  });

  it('The modal continues a payment that the page names, but opens only when it is asked to', async () => {
    const { id } = createdPayment();
    const element = await mountModal(undefined, { 'payment-id': id });
    await waitForStatus(element, 'choosing-currency');
    expect(isOpen(element)).to.equal(false);
    await element.open();
    await waitFor(() => isOpen(element));
    expect(api.requestsFor('create')).to.have.length(0);
    element.close();
  });
});

/** Opens the modal on a payment that is locked already. */
async function openAtAddress(element: CryptoCheckout): Promise<void> {
  api.payment = lockedPayment();
  await element.open();
  await waitFor(() => isOpen(element));
  await waitForStatus(element, 'awaiting-funds');
}
