/** The pay button's card before there is a payment: a summary of the coins. It loads when the card has been painted. */
import { css, html, type TemplateResult } from 'lit';
import { marks } from './coins/marks.js';
import { isPayable, type Order } from './checkout/order.js';
import { enOffer } from './messages/en-offer.js';
import { fill } from './messages/fill.js';
import { addStyles } from './views/add-styles.js';
import type { FirstContext } from './views/view.js';

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
  .coins svg {
    border-radius: 50%;
    outline: 2px solid var(--_background);
    forced-color-adjust: none;
  }
  .coins svg + svg {
    margin-inline-start: -6px;
  }
  .coins path {
    fill: none;
    stroke: #fff;
    stroke-width: 1.7px;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .coins text {
    fill: #fff;
    font:
      700 14px system-ui,
      sans-serif;
    text-anchor: middle;
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
    return html`<span class="coins">${coins.slice(0, shownCoins).map(mark)}</span>
      <span>${text('offer', values) || fill(enOffer.offer, values)}</span>`;
  };
  host.requestUpdate();
}

/**
 * White lines on a disc; a coin without any has its first letter. The icons of icons.ts are part of the payment's code, which a
 * page that only shows the button must not load. One template draws every mark, since each additional template takes a slow phone some milliseconds to
 * parse.
 */
function mark(coin: string): TemplateResult {
  const [colour = '#667085', line = ''] = marks[coin] ?? [];
  return html`<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" fill=${colour}>
    <circle cx="12" cy="12" r="12" />
    <path d=${line} />
    <text x="12" y="17">${line ? '' : coin.slice(0, 1)}</text>
  </svg>`;
}

function parseOffer(reply: unknown) {
  const { coins, minutes } = (reply ?? {}) as Readonly<Record<string, unknown>>;
  const isOffer = Array.isArray(coins) && coins.length > 0 && Number.isInteger(minutes);
  return isOffer ? { coins: coins.map(String), minutes: Number(minutes) } : undefined;
}
