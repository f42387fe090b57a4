/** The element `<crypto-checkout>`: attributes, events, slots, and the frame around the view of the current state. */
import { LitElement, type TemplateResult } from 'lit';
import type { CheckoutController } from './checkout-controller.js';
import type { Payment } from './contract/checkout.js';
import { decimalOf, parseDecimal } from './contract/decimal.js';
import { styles } from './crypto-checkout.styles.js';
import { ApiError, NetworkError } from './errors.js';
import { CheckoutErrorEvent, CheckoutEvent, type CheckoutEventMap } from './events.js';
import { en, fill, type Messages } from './messages/en.js';
import { problemKey } from './messages/problems.js';
import { formatAmount } from './money/format.js';
import { memoryOf, redirectTarget, type Order } from './order.js';
import type { CheckoutState, CheckoutStatus } from './state.js';
import { frame, type Surroundings } from './views/frame.js';
import { header, type Heading } from './views/header.js';
import { idleView } from './views/idle.js';
import type { Copyable, View, ViewContext } from './views/view.js';

type Flow = typeof import('./flow.js');

/** The attributes that an order takes as they are; an empty one is as good as none. */
const texts = [
  'paymentId',
  'baseCurrency',
  'txRef',
  'customerEmail',
  'customerName',
  'customerPhone',
  'redirectUrl',
  'currency',
  'network',
] as const;
type Text = (typeof texts)[number];

const loadFlow = () => import('./flow.js');
const noticeForMs = 6_000;

/**
 * A crypto checkout: the payer picks a coin and a network, and sees where to pay, and what became of it.
 *
 * Whatever it shows, only the merchant's server decides that an order is paid: it verifies the payment
 * with its secret key, or waits for the webhook.
 *
 * @tag crypto-checkout
 *
 * @fires {CheckoutEvent} checkout-ready - The element is ready to be pressed.
 * @fires {CheckoutEvent} checkout-created - A payment was created.
 * @fires {CheckoutEvent} checkout-currency-set - The payer chose a currency and network.
 * @fires {CheckoutEvent} checkout-locked - Amount and address are fixed.
 * @fires {CheckoutEvent} checkout-detected - The first funds were seen, unconfirmed.
 * @fires {CheckoutEvent} checkout-partial - Less than is due has arrived.
 * @fires {CheckoutEvent} checkout-confirming - Enough was seen; confirmations are waited for.
 * @fires {CheckoutEvent} checkout-success - The payment is complete.
 * @fires {CheckoutErrorEvent} checkout-error - The payment failed, or could not start; `error` says why.
 * @fires {CheckoutEvent} checkout-expired - The time to pay ran out.
 * @fires {CheckoutEvent} checkout-cancelled - The payment was cancelled.
 *
 * @slot header - Replaces merchant, order and total at the top.
 * @slot footer - Below everything.
 * @slot success - Shown when the payment is complete.
 * @slot error - Shown when it failed, expired or was cancelled.
 *
 * @csspart card - The whole card.
 * @csspart header - Merchant, order and total.
 * @csspart logo - The merchant's logo.
 * @csspart merchant - The merchant's name.
 * @csspart order - The order's reference.
 * @csspart total - The amount in the base currency.
 * @csspart badge - The picture beside the heading of an outcome.
 * @csspart heading - The view's heading.
 * @csspart status - The state in one sentence.
 * @csspart connection - The line that says "reconnecting".
 * @csspart error - What went wrong, and what to do.
 * @csspart search - The search field above many coins.
 * @csspart options - A group of options.
 * @csspart option - A coin or network to choose.
 * @csspart warning - The warning about wrong networks.
 * @csspart summary - The choice before it is locked.
 * @csspart copy-amount - The button that copies the amount.
 * @csspart amount - The exact amount to send.
 * @csspart base-amount - The same in the base currency.
 * @csspart progress - How much arrived, or how many confirmations.
 * @csspart countdown - The time left.
 * @csspart qr-panel - The white panel of the QR code, with its caption.
 * @csspart qr - The QR code.
 * @csspart address - The address to pay to.
 * @csspart copy-address - The button that copies the address.
 * @csspart wallet - The link that opens a wallet.
 * @csspart exchange - Help for paying from an exchange.
 * @csspart time-log - The time log with its title.
 * @csspart log - The list of what happened.
 * @csspart copy-log - The button that copies the time log.
 * @csspart redirect - The line that says when the page goes back to the shop.
 * @csspart action - The main action.
 * @csspart back - Back to the former choice.
 * @csspart cancel - Cancels the payment.
 * @csspart notice - Says what was copied.
 *
 * @cssproperty --checkout-accent - Colour of main action, links and focus.
 * @cssproperty --checkout-on-accent - Colour of text on the accent.
 * @cssproperty --checkout-background - Colour of the card.
 * @cssproperty --checkout-surface - Colour of panels on the card.
 * @cssproperty --checkout-text - Colour of text.
 * @cssproperty --checkout-muted - Colour of secondary text.
 * @cssproperty --checkout-border - Colour of lines.
 * @cssproperty --checkout-radius - Radius of the card's corners.
 * @cssproperty --checkout-font - Font family.
 * @cssproperty --checkout-space - The unit of all distances.
 */
export class CryptoCheckout extends LitElement {
  static override readonly styles = styles;

  static override readonly properties = {
    apiUrl: { attribute: 'api-url' },
    publicKey: { attribute: 'public-key' },
    paymentId: { attribute: 'payment-id' },
    amount: {},
    baseCurrency: { attribute: 'base-currency' },
    txRef: { attribute: 'tx-ref' },
    customerEmail: { attribute: 'customer-email' },
    customerName: { attribute: 'customer-name' },
    customerPhone: { attribute: 'customer-phone' },
    redirectUrl: { attribute: 'redirect-url' },
    currency: {},
    network: {},
    theme: { reflect: true },
    locale: {},
    noTimeLog: { type: Boolean, attribute: 'no-time-log' },
    noBranding: { type: Boolean, attribute: 'no-branding' },
    noRedirect: { type: Boolean, attribute: 'no-redirect' },
    messages: { attribute: false },
  };

  /** The API's origin; the origin that this script came from when absent. */
  declare apiUrl: string | undefined;
  /** The merchant's public key, `pk_test_…` or `pk_live_…`. */
  declare publicKey: string | undefined;
  /** A payment that the merchant's server created, to go on with; it starts by itself. */
  declare paymentId: string | undefined;
  /** What the order costs, in `baseCurrency`: a decimal. */
  declare amount: string | number | undefined;
  /** The currency of `amount`, such as NGN. */
  declare baseCurrency: string | undefined;
  /** The order's reference. A new payment after an ended one has it with a count: `order-42:2`. */
  declare txRef: string | undefined;
  declare customerEmail: string | undefined;
  declare customerName: string | undefined;
  declare customerPhone: string | undefined;
  /** Where the payer goes after success: an http or https URL. */
  declare redirectUrl: string | undefined;
  /** Preselects a currency; with `network`, neither is asked for. */
  declare currency: string | undefined;
  /** Preselects a network. */
  declare network: string | undefined;
  /** `light`, `dark`, or the reader's own preference (`auto`, the default). */
  declare theme: 'auto' | 'light' | 'dark' | undefined;
  /** A BCP 47 tag for numbers and times; the language of the page around when absent. */
  declare locale: string | undefined;
  /** Leaves out the time log. */
  declare noTimeLog: boolean;
  /** Leaves out the merchant's name and logo. */
  declare noBranding: boolean;
  /** Stays on the page after success. */
  declare noRedirect: boolean;
  /** Replaces any of the texts. */
  declare messages: Partial<Messages> | undefined;

  #flow: Flow | undefined;
  #controller: CheckoutController | undefined;
  /** The state while there is no controller. */
  #early: CheckoutState = { name: 'idle' };
  #identity = '';
  #drawQr: ViewContext['drawQr'];
  #shown: CheckoutStatus = 'idle';
  #hadFocus = false;
  #copied: { readonly what: Copyable; readonly notice: string } | undefined;
  #copiedTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.noTimeLog = false;
    this.noBranding = false;
    this.noRedirect = false;
  }

  /** The payment as the server last reported it; undefined before there is one. */
  get payment(): Payment | undefined {
    return this.#state.payment;
  }

  /** The name of the current state, also the attribute `status`. */
  get status(): CheckoutStatus {
    return this.#state.name;
  }

  /** What the attributes ask for, as the controller takes it. @internal */
  get order(): Order {
    const { amount } = this;
    return {
      ...(Object.fromEntries(texts.map((name) => [name, this[name] || undefined])) as Pick<Order, Text>),
      apiUrl: (this.apiUrl || new URL(import.meta.url).origin).replace(/\/+$/, ''),
      publicKey: this.publicKey ?? '',
      amount: (typeof amount === 'number' ? decimalOf(amount) : amount?.trim()) || undefined,
    };
  }

  /** Starts the payment, as the button does. Resolves when it is under way; failures show in the element. */
  async start(): Promise<void> {
    if (this.#controller === undefined) await this.#load();
    this.#controller?.start();
  }

  /** Cancels a payment that has not ended. */
  async cancel(): Promise<void> {
    await this.#controller?.cancel();
  }

  /** Asks the server now how the payment stands. */
  async refresh(): Promise<void> {
    if (this.#drawQr === 'failed') this.#drawQr = undefined;
    await this.#controller?.refresh();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // What was remembered while the element was away counts as well.
    if (this.#controller === undefined) this.#identity = '';
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#copiedTimer);
    this.#copied = undefined;
  }

  protected override willUpdate(): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    const { apiUrl, publicKey, paymentId, amount, baseCurrency, txRef } = this.order;
    const identity = JSON.stringify([apiUrl, publicKey, paymentId, amount, baseCurrency, txRef]);
    if (identity === this.#identity) return;
    const isFirst = this.#identity === '';
    this.#identity = identity;
    if (!isFirst) {
      this.#controller?.dispose();
      this.#controller = undefined;
      this.#early = { name: 'idle' };
    }
    void this.updateComplete.then(() => this.#resume());
  }

  protected override firstUpdated(): void {
    this.dispatchEvent(new CheckoutEvent('checkout-ready', undefined));
  }

  protected override updated(): void {
    const { status } = this;
    if (this.getAttribute('status') !== status) this.setAttribute('status', status);
    const isAnotherView = viewKey(this.#shown) !== viewKey(status);
    this.#shown = status;
    // Only for who is inside already: a payment that moves on by itself takes no focus from the page.
    if (isAnotherView && this.#hadFocus) this.shadowRoot?.getElementById('heading')?.focus();
    if (this.payment?.currency && this.#drawQr === undefined) void this.#loadQr();
  }

  protected override render(): TemplateResult {
    const state = this.#state;
    const context = this.#context();
    const problem = 'problem' in state ? state.problem : undefined;
    const surroundings: Surroundings = {
      header: header(this.#heading(state, context), context),
      isReconnecting: 'isReconnecting' in state && state.isReconnecting,
      problem: problem && {
        text: context.text(problemKey(problem.code)),
        requestId: problem instanceof ApiError ? problem.requestId : undefined,
      },
      notice: this.#copied?.notice ?? '',
      prepare: this.#preload,
    };
    return frame(this.#view(state, context), surroundings, context);
  }

  get #state(): CheckoutState {
    return this.#controller?.state ?? this.#early;
  }

  #view(state: CheckoutState, context: ViewContext): View {
    if (this.#flow && this.#controller) return this.#flow.viewOfState(state, context);
    return idleView(state.payment === undefined ? state : { name: 'idle' }, context);
  }

  #heading({ payment, name }: CheckoutState, { money }: ViewContext): Heading {
    const { amount, baseCurrency = payment?.baseCurrency, txRef = payment?.txRef } = this.order;
    const total = parseDecimal(payment?.baseAmount ?? amount ?? '');
    const isBelow = name === 'awaiting-funds' || name === 'partially-paid';
    return {
      branding: this.noBranding ? undefined : payment?.branding,
      reference: txRef,
      total: total && baseCurrency && !isBelow ? money(total, baseCurrency) : undefined,
    };
  }

  #context(): ViewContext {
    const controller = this.#controller;
    const locale = this.#locale();
    const messages = { ...en, ...this.messages };
    return {
      text: (key, values = {}) => fill(messages[key], values),
      money: (value, currency) => formatAmount(value, currency, locale),
      locale,
      remainingMs: controller?.remainingMs,
      redirectSeconds: controller?.redirectSeconds,
      redirectUrl: redirectTarget(this.order, this.payment),
      hasTimeLog: !this.noTimeLog,
      copied: this.#copied?.what,
      drawQr: this.#drawQr,
      dispatch: (happening) => controller?.dispatch(happening),
      start: () => void this.start(),
      refresh: () => void this.refresh(),
      cancel: () => void this.cancel(),
      stay: () => controller?.stay(),
      leave: () => controller?.leave(),
      copy: (what, text, notice) => void this.#copy(what, text, notice),
    };
  }

  #locale(): string | undefined {
    const tag = this.locale || this.closest<HTMLElement>('[lang]')?.lang || undefined;
    try {
      return Intl.getCanonicalLocales(tag)[0];
    } catch {
      return undefined;
    }
  }

  /** Goes on with a payment that the page names, or that this browser remembers. */
  #resume(): void {
    if (!this.isConnected || this.#controller || this.#early.name !== 'idle') return;
    const { order } = this;
    const { paymentId, idempotencyKey } = memoryOf(order).read();
    if (order.paymentId ?? paymentId ?? idempotencyKey) void this.start();
  }

  readonly #preload = (): void => {
    if (this.#flow === undefined) void loadFlow().catch(() => undefined);
  };

  async #load(): Promise<void> {
    if (this.#early.name === 'creating') return;
    const tried = { name: 'creating', preferred: {} } as const;
    this.#early = tried;
    this.requestUpdate();
    try {
      this.#flow ??= await loadFlow();
    } catch (cause) {
      const problem = new NetworkError('The checkout could not be loaded', cause);
      this.#early = { name: 'error', problem, tried };
      this.requestUpdate();
      await this.updateComplete;
      const event = new CheckoutErrorEvent(undefined, problem);
      this.dispatchEvent(event);
      return;
    }
    this.#early = { name: 'idle' };
    if (this.isConnected) this.#controller ??= new this.#flow.CheckoutController(this);
    this.requestUpdate();
  }

  async #loadQr(): Promise<void> {
    try {
      this.#drawQr = (await import('./views/qr-code.js')).drawQr;
    } catch {
      this.#drawQr = 'failed';
    }
    this.requestUpdate();
  }

  async #copy(what: Copyable, text: string, notice: string): Promise<void> {
    if (!this.#flow || !this.shadowRoot) return;
    const isCopied = await this.#flow.copyText(text, this.shadowRoot);
    if (!this.isConnected) return;
    this.#copied = { what, notice: isCopied ? notice : (this.messages?.copyFailed ?? en.copyFailed) };
    this.requestUpdate();
    clearTimeout(this.#copiedTimer);
    this.#copiedTimer = setTimeout(() => {
      this.#copied = undefined;
      this.requestUpdate();
    }, noticeForMs);
  }
}

/** States that share a view, so that going between them moves no focus. */
function viewKey(status: CheckoutStatus): string {
  if (status === 'creating') return 'idle';
  if (status === 'locking') return 'quoted';
  return status === 'partially-paid' ? 'awaiting-funds' : status;
}

declare global {
  interface HTMLElementTagNameMap {
    'crypto-checkout': CryptoCheckout;
  }
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an interface is the only way to add to one
  interface HTMLElementEventMap extends CheckoutEventMap {}
}
