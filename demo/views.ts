/** The demo shop's views: the counter with order form and checkout, and the workshop with simulator and event log. */
import type { Payment } from 'crypto-checkout';
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { Config, Order, SimulationName, Verification } from './shop-client.js';
import { noAddress, simulationsOf } from './simulator.js';

export interface PlacedOrder extends Order {
  readonly email: string;
  readonly fullName: string;
  /** From the last visit: the order's payment, and whether it succeeded. */
  readonly paymentId?: string | undefined;
  readonly isPaid?: boolean | undefined;
}

interface FiredEvent {
  readonly type: string;
  readonly time: Date;
  readonly detail: string;
}

export interface Model {
  readonly config?: Config | undefined;
  readonly isOpening?: boolean;
  readonly placed?: PlacedOrder | undefined;
  readonly payment?: Payment | undefined;
  readonly events: readonly FiredEvent[];
  readonly verification?: Verification | undefined;
  /** What the simulator did last, as a sentence. */
  readonly done?: string | undefined;
  readonly failure?: string | undefined;
  readonly isBusy: boolean;
}

export interface ShopActions {
  readonly order: (quantity: number, baseCurrency: string, fullName: string, email: string) => void;
  readonly leave: () => void;
  readonly verify: () => void;
  readonly simulate: (name: SimulationName) => void;
}

export function counterView(model: Model, actions: ShopActions): TemplateResult {
  const { config, placed, failure, isOpening } = model;
  return html`
    ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing}
    ${
      !config
        ? html`<p role="status">
            ${isOpening ? 'Opening the shop…' : 'The shop is closed. Reload the page to try again.'}
          </p>`
        : placed
          ? checkout(model, placed, config, actions)
          : orderForm(config, actions)
    }
  `;
}

function orderForm({ prices }: Config, { order }: ShopActions): TemplateResult {
  const read = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const text = (name: string) => {
      const value = data.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    return { quantity: Number(text('quantity')), currency: text('currency'), text };
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { quantity, currency, text } = read(event.currentTarget as HTMLFormElement);
    order(quantity, currency, text('name'), text('email'));
  };
  const preview = ({ currentTarget }: Event) => {
    const form = currentTarget as HTMLFormElement;
    const { quantity, currency } = read(form);
    const total = form.querySelector('output');
    if (total) total.value = totalOf(prices[currency] ?? '0', quantity, currency);
  };
  const [first = 'USD'] = Object.keys(prices);
  return html`<form class="panel form" aria-labelledby="order-heading" @submit=${submit} @input=${preview}>
    <h2 id="order-heading">Your order</h2>
    <div class="row">
      <label>
        Quantity
        <select name="quantity">
          ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => html`<option>${count}</option>`)}
        </select>
      </label>
      <label>
        Price in
        <select name="currency">
          ${Object.entries(prices).map(
            ([code, price]) => html`<option value=${code}>${code}, ${money(price, code)} each</option>`,
          )}
        </select>
      </label>
    </div>
    <label>Name <input name="name" autocomplete="name" required maxlength="100" value="Ada Example" /></label>
    <label>
      Email
      <input
        name="email"
        type="email"
        autocomplete="email"
        required
        maxlength="200"
        value="ada@example.com"
      />
    </label>
    <p class="total">
      <span>Total</span> <output .value=${totalOf(prices[first] ?? '0', 1, first)}></output>
    </p>
    <button class="main">Pay with crypto</button>
  </form>`;
}

function checkout(
  { payment }: Model,
  placed: PlacedOrder,
  config: Config,
  { leave }: ShopActions,
): TemplateResult {
  const { reference, amount, baseCurrency, quantity, email, fullName, paymentId, isPaid } = placed;
  const id = payment?.id ?? paymentId;
  // Show a paid order by its payment id. Otherwise the checkout finds the payment by the order's reference.
  const element =
    isPaid && paymentId
      ? html`<crypto-checkout
          public-key=${config.publicKey}
          locale=${payerLocale()}
          payment-id=${paymentId}
          no-redirect
        ></crypto-checkout>`
      : html`<crypto-checkout
          public-key=${config.publicKey}
          locale=${payerLocale()}
          amount=${amount}
          base-currency=${baseCurrency}
          tx-ref=${reference}
          customer-email=${email}
          customer-name=${fullName}
          merchant-name="Nightjar Lanterns"
          .lineItems=${[{ name: 'Nightjar lantern', quantity, amount }]}
        ></crypto-checkout>`;
  return html`
    <section class="panel summary" aria-labelledby="order-heading">
      <h2 id="order-heading">Your order</h2>
      <dl>
        <div>
          <dt>${quantity === 1 ? '1 lantern' : `${quantity} lanterns`}</dt>
          <dd>${money(amount, baseCurrency)}</dd>
        </div>
        <div>
          <dt>For</dt>
          <dd>${fullName}</dd>
        </div>
      </dl>
      <p class="links">
        ${
          id
            ? html`<a class="hosted" href=${`${config.checkoutUrl}/${id}`} target="_blank" rel="noopener"
                >The same payment on its hosted page</a
              >`
            : nothing
        }
        <button class="quiet" type="button" @click=${leave}>Start another order</button>
      </p>
    </section>
    ${keyed(reference, element)}
  `;
}

export function workshopView(model: Model, actions: ShopActions): TemplateResult | typeof nothing {
  const { config, placed } = model;
  if (!config || !placed) return nothing;
  return html`
    <h2 class="workshop-heading">Behind the counter</h2>
    ${simulator(model, config, actions)} ${verification(model, placed, actions)} ${eventLog(model)}
  `;
}

function simulator(
  { payment, done, isBusy }: Model,
  config: Config,
  { simulate }: ShopActions,
): TemplateResult {
  return html`<section class="panel simulator" aria-labelledby="simulator-heading">
    <h3 id="simulator-heading">Simulator</h3>
    <p>
      Play the customer’s wallet, the network or the clock.
      ${payment?.addressInformation ? nothing : noAddress}
    </p>
    <ul>
      ${simulationsOf(payment, config).map(
        ({ name, label, explanation, refusal }) =>
          html`<li>
            <button
              type="button"
              data-simulation=${name}
              aria-describedby="about-${name}"
              ?disabled=${refusal !== undefined || isBusy}
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
    <p class="done" role="status">${done ?? ''}</p>
  </section>`;
}

const ruleTexts: Readonly<Record<Verification['rules'][number]['rule'], string>> = {
  reference: 'The reference matches the order.',
  mode: 'The payment is a test payment, which this shop accepts.',
  status: 'The status is success.',
  price: 'Base amount and base currency match the shop’s price.',
  amount: 'The amount received covers the amount due.',
};

function verification(
  { payment, verification: checked, isBusy }: Model,
  placed: PlacedOrder,
  { verify }: ShopActions,
): TemplateResult {
  const hasPayment = payment !== undefined || placed.paymentId !== undefined;
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

function totalOf(price: string, quantity: number, currency: string): string {
  return money(fromUnits(toUnits(price, 2) * BigInt(quantity), 2), currency);
}

function money(decimal: string, currency: string): string {
  return new Intl.NumberFormat(document.documentElement.lang, { style: 'currency', currency }).format(
    decimal as Intl.StringNumericLiteral,
  );
}

/** The payer's language, for trying the checkout in it: this page itself is English. `?locale=` in the address comes first. */
function payerLocale(): string | typeof nothing {
  const { language } = navigator;
  const asked = new URLSearchParams(location.search).get('locale');
  return asked ?? (language.startsWith('en') ? nothing : language);
}
