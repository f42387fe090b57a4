/**
 * The demo shop's views: the order, its checkout, the tag next to it, and the workshop with simulator and event log.
 */
import type { Payment } from 'crypto-checkout';
import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { languages } from './languages.js';
import type { SavedOrder } from './saved-order.js';
import type {
  Config,
  Order,
  Simulated,
  SimulatedPayment,
  SimulationName,
  Verification,
} from './shop-client.js';
import { noAddress, simulationsOf } from './simulator.js';
import { tagText, type Look } from './tag.js';

/** With the order's payment of the last visit, and whether it succeeded. */
export type PlacedOrder = Order & SavedOrder;

interface FiredEvent {
  readonly type: string;
  readonly time: Date;
  readonly detail: string;
}

export interface Model {
  readonly config?: Config | undefined;
  readonly isOpening?: boolean;
  readonly placed?: PlacedOrder | undefined;
  /** The payment of the card. */
  readonly payment?: Payment | undefined;
  /** The order's newest payment, if another page has started it. */
  readonly elsewhere?: SimulatedPayment | undefined;
  readonly look: Look;
  readonly events: readonly FiredEvent[];
  readonly verification?: Verification | undefined;
  /** The simulator's last action, as a sentence. */
  readonly done?: string | undefined;
  /** The page that it links to. */
  readonly claim?: Simulated['claim'];
  /** The ending that is being played. */
  readonly caption?: string | undefined;
  readonly copied?: string | undefined;
  readonly failure?: string | undefined;
  readonly isBusy: boolean;
}

export interface ShopActions {
  readonly order: (quantity: number, baseCurrency: string) => void;
  readonly look: (change: Partial<Look>) => void;
  readonly copyTag: () => void;
  readonly play: () => void;
  readonly verify: () => void;
  readonly simulate: (name: SimulationName) => void;
  readonly reset: () => void;
}

export function counterView({ config, placed, look, failure, isOpening, caption }: Model): TemplateResult {
  return html`
    ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
    ${
      config && placed
        ? keyed(`${placed.id} ${look.mode}`, checkout(placed, config, look, caption !== undefined))
        : html`<p role="status">
            ${isOpening ? 'Opening the shop…' : 'The shop is closed. Reload the page to try again.'}
          </p>`
    }
  `;
}

function checkout(placed: PlacedOrder, config: Config, look: Look, isPlayed: boolean): TemplateResult {
  const { reference, amount, baseCurrency, quantity, paymentId, isPaid } = placed;
  const { locale, theme, mode } = look;
  // Show a paid order by its payment id. Otherwise the checkout finds the payment by the order's reference.
  if (isPaid && paymentId) {
    return html`<crypto-checkout
      public-key=${config.publicKey}
      locale=${locale || nothing}
      theme=${theme || nothing}
      payment-id=${paymentId}
      no-redirect
    ></crypto-checkout>`;
  }
  return html`<crypto-checkout
    public-key=${config.publicKey}
    locale=${locale || nothing}
    theme=${theme || nothing}
    mode=${mode && !isPlayed ? mode : nothing}
    amount=${amount}
    base-currency=${baseCurrency}
    tx-ref=${reference}
    currency=${isPlayed ? 'USDT' : nothing}
    network=${isPlayed ? 'tron' : nothing}
    merchant-name="Nightjar Lanterns"
    .lineItems=${[{ name: 'Nightjar lantern', quantity, amount }]}
  ></crypto-checkout>`;
}

/** The order. A change makes another order, because its price differs. */
export function orderView(
  { config, placed, payment, isBusy }: Model,
  { order }: ShopActions,
): TemplateResult | typeof nothing {
  if (!config || !placed) return nothing;
  const { quantity, baseCurrency, reference } = placed;
  const change = ({ currentTarget }: Event) => {
    const data = new FormData(currentTarget as HTMLFormElement);
    const currency = data.get('currency');
    if (typeof currency === 'string') order(Number(data.get('quantity')), currency);
  };
  return html`<form
    class="form"
    aria-label="Your order"
    @change=${change}
    @submit=${(event: Event) => event.preventDefault()}
  >
    <div class="row">
      <label>
        Quantity
        <select name="quantity">
          ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
            (count) => html`<option .selected=${count === quantity}>${count}</option>`,
          )}
        </select>
      </label>
      <label>
        Price in
        <select name="currency">
          ${Object.entries(config.prices).map(
            ([code, price]) =>
              html`<option value=${code} .selected=${code === baseCurrency}>
                ${code}, ${money(price, code)} each
              </option>`,
          )}
        </select>
      </label>
    </div>
    <p class="links">
      <span>Order ${reference}</span>
      ${
        // Until its payment has started, an order is new.
        payment || placed.paymentId
          ? html`<button
              class="quiet"
              type="button"
              ?disabled=${isBusy}
              @click=${() => order(quantity, baseCurrency)}
            >
              New order
            </button>`
          : nothing
      }
    </p>
  </form>`;
}

/** The switches, and the tag that they rewrite. */
export function builderView(
  { config, placed, look, copied, payment }: Model,
  actions: ShopActions,
): TemplateResult | typeof nothing {
  if (!config || !placed) return nothing;
  const given = look.locale !== '' && !(look.locale in languages) ? { [look.locale]: look.locale } : {};
  const id = payment?.id ?? placed.paymentId;
  return html`<section class="panel" aria-labelledby="builder-heading">
    <h2 id="builder-heading">The tag of this card</h2>
    <div class="switches">
      ${choice('Language', look.locale, { '': 'As the page', ...languages, ...given }, (locale) => actions.look({ locale }))}
      ${choice('Theme', look.theme, { '': 'As the system', light: 'Light', dark: 'Dark' }, (theme) => actions.look({ theme }))}
      ${choice('Shown', look.mode, { '': 'In the page', modal: 'As a modal' }, (mode) => actions.look({ mode }))}
    </div>
    <pre
      id="tag"
      tabindex="0"
      role="region"
      aria-label="The tag"
    ><code>${tagText(placed, config.publicKey, look, location.origin)}</code></pre>
    <p class="links">
      <button type="button" class="main" @click=${actions.copyTag}>Copy tag</button>
      <span role="status" class="copied">${copied ?? ''}</span>
      ${
        id
          ? html`<a class="hosted" href=${`${config.checkoutUrl}/${id}`} target="_blank" rel="noopener"
              >The same payment on its hosted page</a
            >`
          : nothing
      }
      ${
        id && config.consoleUrl
          ? html`<a href=${`${config.consoleUrl}/test/payment/${id}`} target="_blank" rel="noopener"
              >See this payment as the merchant</a
            >`
          : nothing
      }
    </p>
    <p>
      Paste it into any page, on any origin: the key is this shop’s real test key. Start the payment there,
      and the simulator here plays it.
    </p>
  </section>`;
}

function choice(
  label: string,
  chosen: string,
  options: Readonly<Record<string, string>>,
  choose: (value: string) => void,
): TemplateResult {
  return html`<label>
    ${label}
    <select @change=${({ currentTarget }: Event) => choose((currentTarget as HTMLSelectElement).value)}>
      ${Object.entries(options).map(
        ([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`,
      )}
    </select>
  </label>`;
}

export function workshopView(model: Model, actions: ShopActions): TemplateResult | typeof nothing {
  const { config, placed } = model;
  if (!config || !placed) return nothing;
  return html`
    ${simulator(model, config, actions)}
    <div class="behind">${verification(model, placed, actions)} ${eventLog(model)}</div>
  `;
}

function simulator(
  { payment: own, elsewhere, done, claim, caption, isBusy }: Model,
  config: Config,
  { simulate, play, reset }: ShopActions,
): TemplateResult {
  const isPlaying = caption !== undefined;
  const payment = elsewhere ?? own;
  return html`<section
    class=${`panel simulator${isPlaying ? ' playing' : ''}${payment?.addressInformation ? ' ready' : ''}`}
    aria-labelledby="simulator-heading"
  >
    <h2 id="simulator-heading">Simulator</h2>
    <button type="button" class="play main" ?disabled=${isBusy && !isPlaying} @click=${play}>
      ${isPlaying ? 'Stop' : 'Play all endings'}
    </button>
    <p class="caption" role="status">${caption ?? ''}</p>
    <p class="hint">
      ${
        elsewhere
          ? 'The buttons play the payment that another page has started by this tag.'
          : payment?.addressInformation
            ? 'Or play the wallet, the network and the clock yourself.'
            : noAddress
      }
    </p>
    ${clockNote(config, isBusy || isPlaying, reset)}
    <ul>
      ${simulationsOf(payment, config).map(
        ({ name, label, explanation, refusal }) =>
          html`<li ?data-refused=${refusal !== undefined}>
            <button
              type="button"
              data-simulation=${name}
              aria-describedby="about-${name}"
              ?disabled=${refusal !== undefined || isBusy || isPlaying}
              @click=${() => simulate(name)}
            >
              ${label}
            </button>
            <span id="about-${name}" class="about"
              >${refusal === undefined || refusal === noAddress ? explanation : refusal}</span
            >
          </li>`,
      )}
    </ul>
    <p class="done" role="status">${done ?? ''}${claim ? claimLink(claim) : nothing}</p>
  </section>`;
}

/** Opens the page where the visitor, as the payer, gives an address. Without a clipboard, they have to type one. */
function claimLink({ url, address }: NonNullable<Simulated['claim']>): TemplateResult {
  const copy = () => void navigator.clipboard.writeText(address).catch(() => undefined);
  return html` <a href=${url} target="_blank" rel="noreferrer" @click=${copy}
    >Copy an address and open it</a
  >`;
}

/** The clock is shared by all visitors: a new payment is created at its time. */
function clockNote(
  { clockAheadSeconds, canReset }: Config,
  isBusy: boolean,
  reset: () => void,
): TemplateResult | typeof nothing {
  const minutes = Math.round(clockAheadSeconds / 60);
  if (minutes === 0) return nothing;
  const ahead = minutes < 180 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return html`<p class="clock">
    The shop’s test clock is ${ahead} ahead.
    ${
      canReset
        ? html`<button type="button" ?disabled=${isBusy} @click=${reset}>
            Delete the test payments and set it back
          </button>`
        : html`<code>sandbox reset</code> on the command line sets it back, and deletes the test payments.`
    }
  </p>`;
}

const ruleTexts: Readonly<Record<Verification['rules'][number]['rule'], string>> = {
  reference: 'The reference matches the order.',
  mode: 'The payment is a test payment, which this shop accepts.',
  status: 'The status is success.',
  price: 'Base amount and base currency match the shop’s price.',
  amount: 'The amount received covers the amount due.',
};

function verification(
  { payment, elsewhere, verification: checked, isBusy }: Model,
  placed: PlacedOrder,
  { verify }: ShopActions,
): TemplateResult {
  const hasPayment = (elsewhere ?? payment) !== undefined || placed.paymentId !== undefined;
  return html`<section class="panel verification" aria-labelledby="verification-heading">
    <h3 id="verification-heading">The shop’s server</h3>
    <p>It verifies the payment with its secret key, and delivers if all rules pass.</p>
    <ol>
      ${(['reference', 'mode', 'status', 'price', 'amount'] as const).map((rule) => {
        const { passed, message } = checked?.rules.find((one) => one.rule === rule) ?? {};
        const mark = passed === undefined ? 'not checked' : passed ? 'passed' : 'failed';
        return html`<li data-rule=${rule} class=${passed === undefined ? 'open' : passed ? 'holds' : 'fails'}>
          <span class="mark" aria-hidden="true">${passed === undefined ? '·' : passed ? '✓' : '✗'}</span>
          <span>${ruleTexts[rule]} <span class="unseen">(${mark})</span> ${message}</span>
        </li>`;
      })}
    </ol>
    <p class="verdict" role="status">${checked ? verdict(checked) : ''}</p>
    <button type="button" class="verify" ?disabled=${!hasPayment || isBusy} @click=${verify}>
      Verify now
    </button>
  </section>`;
}

function verdict({ verified, isOverpaid, transaction }: Verification): string {
  const { status, state, amount = 0, amountReceived = 0, currency = '' } = transaction;
  const sum = currency ? `${amountReceived} ${currency} received of ${amount} due` : 'nothing received';
  if (!verified)
    return `Do not deliver: ${status}${state ? ` (${state.replaceAll('_', ' ')})` : ''}, ${sum}.`;
  return isOverpaid
    ? `Deliver the order: ${sum}. The customer can ask for the excess back.`
    : `Deliver the order: ${sum}.`;
}

function eventLog({ events }: Model): TemplateResult {
  const time = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: 'medium' });
  return html`<section class="panel events" aria-labelledby="events-heading">
    <h3 id="events-heading">Events of the checkout</h3>
    <p>Events that the page receives from <code>&lt;crypto-checkout&gt;</code>, newest last.</p>
    <div role="log" aria-labelledby="events-heading">
      <ol>
        ${events.map(
          ({ type, time: at, detail }) =>
            html`<li>
              <time datetime=${at.toISOString()}>${time.format(at)}</time> <code>${type}</code>
              <span>${detail}</span>
            </li>`,
        )}
      </ol>
    </div>
  </section>`;
}

function money(decimal: string, currency: string): string {
  return new Intl.NumberFormat(document.documentElement.lang, { style: 'currency', currency }).format(
    decimal as Intl.StringNumericLiteral,
  );
}
