/** The pay button's card before there is a payment: a summary of the coins. It loads when the card has been painted. */
import { css, html, type TemplateResult } from 'lit';
import { isPayable, type Order } from './checkout/order.js';
import { enOffer } from './messages/en-offer.js';
import { fill } from './messages/fill.js';
import { addStyles } from './views/add-styles.js';
import { coinIcon } from './views/icons.js';
import type { FirstContext } from './views/view.js';

/** The views import them from here: with one module for both, a page gets the drawings and the offer in one request. */
export { assetIcon, coinIcon, networkIcon } from './views/icons.js';

export type OfferLine = (text: FirstContext['text']) => TemplateResult;

interface OfferHost {
  readonly order: Order;
  readonly isShown: boolean;
  readonly isConnected: boolean;
  readonly shadowRoot: ShadowRoot | null;
  requestUpdate(): void;
}

const shownCoins = 5;
const patienceMs = 10_000;

const offerStyles = css`
  [part='offer'] {
    min-height: 3em;
    display: flex;
    align-items: center;
    gap: 12px;
    text-wrap: balance;
  }
  .coins {
    display: flex;
    flex: none;
  }
  .coins .icon {
    inline-size: 24px;
    block-size: 24px;
    border-radius: 50%;
    outline: 2px solid var(--_background);
    forced-color-adjust: none;
  }
  .coins .icon + .icon {
    margin-inline-start: -6px;
  }
`;

/**
 * Asks the server which coins the shop takes, and shows it unless it takes none now. The pay button works without the answer, so
 * nothing is retried or reported.
 */
export async function loadOffer(host: OfferHost, shown: { offer: OfferLine | undefined }): Promise<void> {
  const { order, isShown, isConnected, shadowRoot } = host;
  // A modal starts the payment when it opens, and a tag with a mistake sends nothing.
  if (!isConnected || !isShown || !isPayable(order)) return;
  const url = `${order.apiUrl}/checkout-offer/${order.publicKey}.json`;
  const reply = await fetch(url, { credentials: 'omit', signal: AbortSignal.timeout(patienceMs) });
  if (reply.status === 401) {
    const refusal = `This public key is unknown here: ${order.apiUrl}`;
    // eslint-disable-next-line no-console -- the page's developer looks here
    console.error('<crypto-checkout> invalid_api_key', refusal);
    if (order.publicKey.startsWith('pk_test_'))
      shown.offer = () => html`<span part="error" class="error" role="alert" lang="en">${refusal}</span>`;
    return host.requestUpdate();
  }
  const offer = reply.ok ? parseOffer(await reply.json()) : undefined;
  if (!offer) return;
  const { coins, minutes } = offer;
  const values = { coins: coins.length, minutes };
  shown.offer = (text) => {
    addStyles(shadowRoot, offerStyles);
    return html`<span class="coins">${coins.slice(0, shownCoins).map(coinIcon)}</span>
      <span>${text('offer', values) || fill(enOffer.offer, values)}</span>`;
  };
  host.requestUpdate();
}

function parseOffer(reply: unknown) {
  const { coins, minutes } = (reply ?? {}) as Readonly<Record<string, unknown>>;
  const isOffer = Array.isArray(coins) && coins.length > 0 && Number.isInteger(minutes);
  return isOffer ? { coins: coins.map(String), minutes: Number(minutes) } : undefined;
}
