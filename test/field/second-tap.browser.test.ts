/** Public reports of fields that show another value than the one in use: a tap that is ignored marks nothing. */
import { expect } from '@open-wc/testing';
import type { CryptoCheckout } from '../../src/index.js';
import { mount, pickOption, waitFor, waitForStatus } from '../support/element.js';
import { failureReply, heldReply, successReply, useFakeApi } from '../support/fake-api.js';
import { createdPayment, quotedPayment } from '../support/payments.js';

const api = useFakeApi();
const resumeAttributes = { 'public-key': 'pk_test_x', 'payment-id': createdPayment().id, locale: 'en' };

function radio(element: CryptoCheckout, value: string): HTMLInputElement {
  const found = element.shadowRoot?.querySelector<HTMLInputElement>(`input[type=radio][value='${value}']`);
  if (!found) throw new Error(`There is no option "${value}"`);
  return found;
}

function marked(element: CryptoCheckout): string[] {
  const all = element.shadowRoot?.querySelectorAll<HTMLInputElement>('input[type=radio]:checked') ?? [];
  return [...all].map(({ value }) => value);
}

/** A browser's action for an arrow key: a click on the next radio button. */
function moveTo(element: CryptoCheckout, value: string): void {
  radio(element, value).dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
  radio(element, value).click();
  radio(element, value).dispatchEvent(new KeyboardEvent('keyup', { key: 'ArrowDown' }));
}

const ways = [
  ['tap', (element: CryptoCheckout, value: string) => radio(element, value).closest('label')?.click()],
  ['arrow key', moveTo],
] as const;

for (const [way, second] of ways) {
  it(`lit/lit#877: a second ${way} while a coin is being set does not mark another one`, async () => {
    const held = heldReply(() => failureReply(400, 'validation_error'));
    api.handlers.set = held.handler;
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'choosing-currency');
    pickOption(element, 'BTC');
    await waitFor(() => api.requestsFor('set').length === 1);
    await element.updateComplete;
    second(element, 'USDT');
    expect(marked(element)).to.deep.equal(['BTC']);
    held.release();
    await waitFor(() => element.shadowRoot?.querySelector('[part=action]') != null);
    expect(marked(element)).to.deep.equal(['BTC']);
    // The next one counts.
    api.handlers.set = () => successReply(quotedPayment({ currency: 'BTC', currencyNetwork: 'bitcoin' }));
    element.shadowRoot?.querySelector<HTMLElement>('[part=action]')?.click();
    await waitFor(() => api.requestsFor('set').length === 2);
    expect(api.requestsFor('set')[1]?.path).to.contain('/BTC/bitcoin');
  });

  it(`lit/lit#877: a second ${way} while a network is being set does not mark another one, nor another coin`, async () => {
    const held = heldReply(() => failureReply(400, 'validation_error'));
    api.handlers.set = held.handler;
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'choosing-currency');
    pickOption(element, 'USDT');
    await waitForStatus(element, 'choosing-network');
    pickOption(element, 'tron');
    await waitFor(() => api.requestsFor('set').length === 1);
    await element.updateComplete;
    second(element, 'base');
    second(element, 'BTC');
    held.release();
    await waitFor(() => element.shadowRoot?.querySelector('[part=action]') != null);
    expect(marked(element)).to.deep.equal(['USDT', 'tron']);
  });

  it(`lit/lit#877: a second ${way} while the price is being fixed does not mark another coin`, async () => {
    const held = heldReply(() => failureReply(400, 'validation_error'));
    api.handlers.lock = held.handler;
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'choosing-currency');
    pickOption(element, 'BTC');
    await waitForStatus(element, 'locking');
    second(element, 'USDT');
    expect(marked(element)).to.deep.equal(['BTC']);
    held.release();
    await waitForStatus(element, 'quoted');
  });
}
