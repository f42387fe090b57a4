/** The `<crypto-checkout>` element: attributes, events and slots. It draws the view of the current state. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { isPayable, isSecretKey, memoryFor, type Order } from './checkout/order.js';
import type {
  CheckoutState,
  CheckoutStatus,
  CreatingState,
  FailedState,
  IdleState,
} from './checkout/state.js';
import { TabChannel } from './checkout/tabs.js';
import type { Payment } from './contract/checkout.js';
import { decimalOf, parseDecimal } from './contract/decimal.js';
import { styles } from './crypto-checkout.styles.js';
import { NetworkError, type CheckoutError } from './errors.js';
import { CheckoutErrorEvent, CheckoutEvent, type CheckoutEventMap } from './events.js';
import type { Flow } from './flow.js';
import type { FormValue } from './form-value.js';
import { enStart } from './messages/en-start.js';
import type { Messages } from './messages/en.js';
import { fill } from './messages/fill.js';
import type { PageLanguage } from './messages/load.js';
import type { Modal } from './modal.js';
import { formatAmount, roughAmount } from './money/format.js';
import { frame, viewKey, type Shown } from './views/frame.js';
import { header, type Heading, type LineItem } from './views/header.js';
import { idleView } from './views/idle.js';
import type { FirstContext } from './views/view.js';

/** Attributes that go into the order unchanged; empty ones count as missing. */
const textAttributes = [
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
type TextAttribute = (typeof textAttributes)[number];

const loadFlow = () => import('./flow.js');
const loadModal = () => import('./modal.js');
const start: Partial<Messages> = enStart;
/** A page in another language does not show English first, unless its texts take longer. */
const languageWaitMs = 1_000;
/** False until the page had time for the first use of Intl, which would hold up the first paint. */
let isIntlReady = false;
/** Frameworks set attributes one after the other. Only then is a missing one a mistake. */
const settleMs = 200;

/**
 * A crypto checkout: the payer picks a coin and a network, sees where to pay, and follows the payment to its end.
 *
 * What it shows is not proof of payment. Before delivering, the merchant's server must verify the payment with its
 * secret key, or wait for the webhook.
 *
 * @tag crypto-checkout
 *
 * @slot trigger - What opens the modal: a button of the page. Without it, there is a default one.
 * @slot header - Replaces the merchant, order and total at the top.
 * @slot footer - Below everything.
 * @slot success - Shown when the payment is complete.
 * @slot error - Shown when the payment failed, expired or was cancelled.
 *
 * @csspart card - The whole card.
 * @csspart test-mode - Says that the coins are simulated.
 * @csspart header - The merchant, order and total.
 * @csspart logo - The merchant's logo, or its initials.
 * @csspart merchant - The merchant's name.
 * @csspart order - The order's reference.
 * @csspart total - The amount in the base currency.
 * @csspart items - The lines of the order.
 * @csspart badge - The icon beside the heading, from confirming on.
 * @csspart heading - The view's heading.
 * @csspart status - One sentence that describes the current state.
 * @csspart connection - The line that says "reconnecting".
 * @csspart error - What went wrong, and what to do about it.
 * @csspart search - The search field above a long list of coins.
 * @csspart options - A group of options.
 * @csspart option - A coin or network to choose.
 * @csspart warning - The warning about wrong networks.
 * @csspart asset - The coin and network to send on.
 * @csspart copy-amount - The button that copies the amount.
 * @csspart amount - The exact amount to send.
 * @csspart base-amount - The price in the base currency.
 * @csspart rate - The rate that is fixed.
 * @csspart fee - Who bears which fee.
 * @csspart wrong-asset - Says which wrong coin arrived.
 * @csspart check - What the last check saw.
 * @csspart progress - How much has arrived, or how many confirmations it has.
 * @csspart countdown - The time left.
 * @csspart qr-panel - The white panel with the QR code and its caption.
 * @csspart qr - The QR code.
 * @csspart address - The address to pay to.
 * @csspart copy-address - The button that copies the address.
 * @csspart wallet - The link that opens a wallet app.
 * @csspart exchange - Help for paying from an exchange.
 * @csspart time-log - The time log, with its title.
 * @csspart log - The list of log entries.
 * @csspart copy-log - The button that copies the time log.
 * @csspart redirect - The line that counts down to the return to the shop.
 * @csspart receipt - The receipt of a payment that is complete.
 * @csspart transaction - The hash of a transfer.
 * @csspart print - The button that prints the receipt.
 * @csspart save - The button that saves the receipt as text.
 * @csspart payment-id - The payment's id, for the shop.
 * @csspart copy-id - The button that copies the payment's id.
 * @csspart support - The link to the shop's support.
 * @csspart new-payment - The button that starts a new payment.
 * @csspart action - The main button.
 * @csspart back - The button that goes back to the previous choice.
 * @csspart restart - The button that changes to another coin.
 * @csspart cancel - The button that cancels the payment.
 * @csspart question - Asks before the payment is cancelled.
 * @csspart keep - The button that keeps the payment.
 * @csspart confirm - The button that cancels it after all.
 * @csspart notice - Confirms what was copied.
 * @csspart trigger - The default button that opens the modal.
 * @csspart dialog - The modal.
 * @csspart close - The button that closes the modal.
 * @csspart wallets - The wallets in the browser, and what they do.
 * @csspart wallet-option - A wallet to pay from.
 * @csspart wallet-app - A link that opens the page in a wallet app.
 * @csspart wallet-status - What the wallet waits for, or what was sent.
 * @csspart wallet-problem - Why nothing was sent.
 * @csspart wallet-hash - The transaction that the wallet has sent.
 * @csspart wallet-stop - The button that stops waiting for the wallet.
 * @csspart wallet-again - The button to send again.
 * @csspart wallet-keep - The button not to send again.
 *
 * @cssproperty --checkout-accent - Colour of the main button and of what is selected. Text on it is black or white, whichever reads.
 * @cssproperty --checkout-background - Colour of the card. Text, borders and panels are derived from it.
 * @cssproperty --checkout-on-accent - Overrides the colour of text on the accent colour.
 * @cssproperty --checkout-surface - Overrides the colour of panels inside the card.
 * @cssproperty --checkout-text - Overrides the colour of text.
 * @cssproperty --checkout-muted - Overrides the colour of secondary text.
 * @cssproperty --checkout-border - Overrides the colour of borders and lines.
 * @cssproperty --checkout-radius - Corner radius of the card.
 * @cssproperty --checkout-font - Font family; by default the device's own, `system-ui`.
 * @cssproperty --checkout-space - Base unit of all spacing.
 */
export class CryptoCheckout extends LitElement {
  static override readonly styles = styles;

  /** Takes part in forms: its value is the payment's id. */
  static readonly formAssociated = true;

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
    merchantName: { attribute: 'merchant-name' },
    merchantLogo: { attribute: 'merchant-logo' },
    currency: {},
    network: {},
    theme: { reflect: true },
    locale: {},
    mode: { reflect: true },
    name: { reflect: true },
    required: { type: Boolean, reflect: true },
    noTimeLog: { type: Boolean, attribute: 'no-time-log' },
    noBranding: { type: Boolean, attribute: 'no-branding' },
    noRedirect: { type: Boolean, attribute: 'no-redirect' },
    messages: { attribute: false },
    lineItems: { attribute: false },
  };

  /** The API's base URL; defaults to the origin that this script was loaded from. */
  declare apiUrl: string | undefined;
  /** The merchant's public key, `pk_test_…` or `pk_live_…`. */
  declare publicKey: string | undefined;
  /** Id of a payment that the merchant's server created. The checkout starts with it right away. */
  declare paymentId: string | undefined;
  /** The price of the order: a decimal in `baseCurrency`. */
  declare amount: string | number | undefined;
  /** The currency of `amount`, such as NGN. */
  declare baseCurrency: string | undefined;
  /** The order's reference. Further payments for the same order append a counter: `order-42:2`. */
  declare txRef: string | undefined;
  /** The payer's email, for the shop's records. A public key reads it back only in an abbreviated form. */
  declare customerEmail: string | undefined;
  /** The payer's name, likewise. */
  declare customerName: string | undefined;
  /** The payer's phone number, which no public key reads back. */
  declare customerPhone: string | undefined;
  /** Where the payer goes after success: an http or https URL. */
  declare redirectUrl: string | undefined;
  /** The shop's name, until the payment tells it. */
  declare merchantName: string | undefined;
  /** URL of the shop's logo, https, until the payment tells it. */
  declare merchantLogo: string | undefined;
  /** Preselects a currency. Together with `network`, it skips both pickers. */
  declare currency: string | undefined;
  /** Preselects a network. */
  declare network: string | undefined;
  /** `light`, `dark` or `auto` (the default), which follows the user's preference. */
  declare theme: 'auto' | 'light' | 'dark' | undefined;
  /** A BCP 47 tag for texts, numbers and times; defaults to the language of the surrounding page, then of the browser. */
  declare locale: string | undefined;
  /** `inline` (the default), or `modal`: a button that opens the checkout above the page. */
  declare mode: 'inline' | 'modal' | undefined;
  /** The name under which a form sends the payment's id. */
  declare name: string | undefined;
  /** Keeps the form around it from being submitted before the payment is a success. */
  declare required: boolean;
  /** Hides the time log. */
  declare noTimeLog: boolean;
  /** Hides the merchant's name and logo. */
  declare noBranding: boolean;
  /** Stays on this page after success. */
  declare noRedirect: boolean;
  /** Overrides any of the texts. */
  declare messages: Partial<Messages> | undefined;
  /** The lines of the order. They are shown, and never sent. */
  declare lineItems: readonly LineItem[] | undefined;

  #flow: Flow | undefined;
  #modal: Modal | undefined;
  /** Undefined in browsers before 2023, where the checkout takes no part in forms. */
  readonly #internals: Partial<ElementInternals> | undefined =
    'attachInternals' in HTMLElement.prototype ? this.attachInternals() : undefined;
  #form: Promise<FormValue> | undefined;
  /** Undefined until it is loaded. Until then, the texts are English. */
  #language: PageLanguage | undefined;
  /** The state while the order has no payment. */
  #initialState: IdleState | CreatingState | FailedState = { name: 'idle' };
  #orderKey = '';
  #shownStatus: CheckoutStatus = 'idle';
  /**
   * False at first for a tag that was in the page before this class. A framework may be about to hydrate it, and would
   * complain about an attribute that its server did not write.
   */
  #isReflecting = false;
  #hadFocus = false;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #brokenLogo: string | undefined;
  /** The page's mistake that was found last. */
  #orderProblem: CheckoutError | undefined;
  #tabs: TabChannel | undefined;

  constructor() {
    super();
    this.required = false;
    this.noTimeLog = false;
    this.noBranding = false;
    this.noRedirect = false;
    if (this.isConnected) whenIdle(() => this.#reflectStatus());
    else this.#isReflecting = true;
  }

  /** The payment as last reported by the server; undefined until there is one. */
  get payment(): Payment | undefined {
    return this.#state.payment;
  }

  /** The name of the current state; the `status` attribute reflects it. */
  get status(): CheckoutStatus {
    return this.#state.name;
  }

  /** The order as the attributes describe it. @internal */
  get order(): Order {
    const { amount } = this;
    return {
      ...(Object.fromEntries(textAttributes.map((name) => [name, this[name] || undefined])) as Pick<
        Order,
        TextAttribute
      >),
      baseCurrency: this.baseCurrency?.toUpperCase() || undefined,
      // A path is one of the page's own server.
      apiUrl: (this.apiUrl || new URL(import.meta.url).origin)
        .replace(/^\//, `${location.origin}/`)
        .replace(/\/+$/, ''),
      publicKey: this.publicKey ?? '',
      amount: (typeof amount === 'number' ? decimalOf(amount) : amount?.trim()) || undefined,
    };
  }

  /** Starts the payment, like the button. Resolves once it is under way. Failures are shown, not thrown. */
  async start(): Promise<void> {
    if (!isPayable(this.order)) return this.#explainOrder();
    if (!this.#flow?.controller) await this.#load();
    this.#flow?.controller?.start();
  }

  /** Opens the modal, and starts the payment if there is none yet. Without `mode="modal"`, it only starts it. */
  async open(): Promise<void> {
    if (this.mode === 'modal' && !(await this.#openModal())) return;
    // A changed price is told first; the new payment begins on a press.
    const state = this.#state;
    if (state.name === 'idle' && !state.outdated) await this.start();
  }

  /** Closes the modal. The payment goes on, and is there when the modal is opened again. */
  close(): void {
    this.#modal?.close();
  }

  /** Cancels the payment, unless it has ended. */
  async cancel(): Promise<void> {
    await this.#flow?.controller?.cancel();
  }

  /** Fetches the payment's current status now. */
  async refresh(): Promise<void> {
    await this.#flow?.refresh();
  }

  /** False while the modal is closed. @internal */
  get isShown(): boolean {
    return this.mode !== 'modal' || this.#modal?.isOpen === true;
  }

  /** Tells the browser's other tabs about this order's payment. @internal */
  readonly publish = (paymentId: string): void => this.#tabs?.publish(paymentId);

  override connectedCallback(): void {
    super.connectedCallback();
    // Another element may have stored a payment in the meantime: check again whether to resume.
    if (!this.#flow?.controller) this.#orderKey = '';
    this.#settleTimer = setTimeout(() => void this.#explainOrder(), settleMs);
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#settleTimer);
    this.#tabs?.close();
    this.#tabs = undefined;
  }

  /** @internal */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    // Nobody has paid yet, so a form that is submitted before the rest is loaded is held back too.
    if (form && this.hasAttribute('required')) this.#internals?.setValidity?.({ valueMissing: true }, '…');
    if (form) void this.#loadForm();
  }

  /** @internal */
  formDisabledCallback(): void {
    this.requestUpdate();
    void this.#loadForm();
  }

  /** A reset cannot undo a payment, so the value stays. @internal */
  formResetCallback(): void {
    this.requestUpdate();
  }

  /** The browser fills in the form after a reload or a return: the order's payment is shown again. @internal */
  formStateRestoreCallback(state: unknown): void {
    void this.#loadForm().then((form) => {
      if (form?.restore(state)) this.#resume();
    });
  }

  protected override async scheduleUpdate(): Promise<void> {
    // The pay button's English is here already.
    if (this.#language || !this.#isEnglish) {
      const isLoaded = this.#loadLanguage().catch(() => undefined);
      const wait = () => new Promise((resolve) => setTimeout(resolve, languageWaitMs));
      if (!this.hasUpdated) await Promise.race([isLoaded, wait()]);
    }
    await super.scheduleUpdate();
  }

  protected override willUpdate(): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    const { order } = this;
    const { apiUrl, publicKey, paymentId, amount, baseCurrency, txRef } = order;
    const orderKey = JSON.stringify([apiUrl, publicKey, paymentId, amount, baseCurrency, txRef]);
    // An element that was moved has left its channel.
    if (orderKey !== this.#orderKey || !this.#tabs) this.#listenToTabs();
    if (orderKey === this.#orderKey) return;
    const isFirst = this.#orderKey === '';
    this.#orderKey = orderKey;
    if (!isFirst) {
      this.#initialState = { name: 'idle' };
      this.#flow?.leaveOrder(order);
    }
    void this.updateComplete.then(() => this.#resume(isFirst));
  }

  protected override firstUpdated(): void {
    this.dispatchEvent(new CheckoutEvent('checkout-ready', undefined));
    if (!isIntlReady) afterPaint(() => this.#formatPrices());
  }

  #formatPrices(): void {
    isIntlReady = true;
    this.requestUpdate();
  }

  protected override updated(): void {
    const { status } = this;
    if (this.#isReflecting) this.#reflectStatus();
    const isNewView = viewKey(this.#shownStatus) !== viewKey(status);
    // Only if focus was inside already: a payment that progresses by itself must not steal it from the page. The button that
    // had it may be gone.
    if (this.#hadFocus && (isNewView || !this.shadowRoot?.activeElement)) this.#moveFocus(status);
    this.#shownStatus = status;
  }

  #reflectStatus(): void {
    this.#isReflecting = true;
    if (this.getAttribute('status') !== this.status) this.setAttribute('status', this.status);
  }

  protected override render(): TemplateResult {
    const context = this.#context();
    const shown = this.#flow?.show(context) ?? this.#showOrder(context);
    const card = frame(
      shown,
      {
        language: this.#language,
        header: header(this.#heading(shown.state), context),
        preload: this.#preload,
      },
      context,
    );
    return this.mode === 'modal' ? this.#modalTemplate(card) : card;
  }

  /** The pay button. */
  #showOrder(context: FirstContext): Shown {
    const state = this.#initialState;
    return { state, view: idleView(state, context), problem: this.#problem() };
  }

  #modalTemplate(card: TemplateResult): TemplateResult {
    const text = this.#text;
    const open = (event: Event) => {
      // The page's own trigger can be a link, or a button that would submit a form.
      event.preventDefault();
      void this.open();
    };
    const preload = () => {
      this.#preload();
      void loadModal().catch(() => undefined);
    };
    // eslint-disable-next-line lit-a11y/click-events-have-key-events -- buttons and links turn keys into clicks
    return html`<slot name="trigger" @click=${open} @pointerenter=${preload} @focusin=${preload}
        ><button part="trigger" class="action" type="button" aria-haspopup="dialog">
          ${text('openCheckout')}
        </button></slot
      >${this.#modal?.render(card, text('close')) ?? nothing}`;
  }

  get #state(): CheckoutState {
    return this.#flow?.controller?.state ?? this.#initialState;
  }

  /** What is wrong with the order, for the page's developer to read, or why its payment could not be started. */
  #problem(): Shown['problem'] {
    const { order } = this;
    const { publicKey } = order;
    if (isSecretKey(publicKey)) return { text: this.#text('secretKey') };
    if (this.#initialState.name === 'error') return { text: this.#text('problemNetwork') };
    const mistake = isPayable(order) ? undefined : this.#orderProblem;
    if (!mistake) return undefined;
    if (publicKey.startsWith('pk_live_')) return { text: this.#text('problemShop') };
    return { text: mistake.shortMessage, details: mistake.remedy };
  }

  /** Finds the page's mistake, shows it, and logs it once for the page's developer. */
  async #explainOrder(): Promise<void> {
    const { order } = this;
    if (isPayable(order)) {
      this.#orderProblem = undefined;
      return;
    }
    const problems = await import('./checkout/order-problems.js').catch(() => undefined);
    // Without a connection, the pay button stays, and the next press tries again.
    if (!problems) return;
    const problem = problems.findOrderProblem(order);
    if (problem?.message === this.#orderProblem?.message) return;
    this.#orderProblem = problem;
    this.requestUpdate();
    // eslint-disable-next-line no-console -- the page's developer looks here
    console.error('<crypto-checkout>', problem?.code, problem);
  }

  #isTest({ payment }: CheckoutState): boolean {
    return payment?.mode ? payment.mode === 'test' : this.order.publicKey.startsWith('pk_test_');
  }

  #merchantName({ payment }: CheckoutState): string {
    const { businessName, name } = payment?.branding ?? {};
    return this.noBranding ? '' : businessName || name || this.merchantName || '';
  }

  #heading(state: CheckoutState): Heading {
    const { payment } = state;
    const { baseCurrency = '', txRef } = this.order;
    const logo = payment?.branding ? payment.branding.logo : (this.merchantLogo ?? '');
    return {
      merchant: this.#merchantName(state),
      logo: logo.startsWith('https:') && logo !== this.#brokenLogo ? logo : undefined,
      reference: txRef ?? payment?.txRef,
      items: this.lineItems ?? [],
      baseCurrency: payment?.baseCurrency ?? baseCurrency,
      onBrokenLogo: () => {
        this.#brokenLogo = logo;
        this.requestUpdate();
      },
    };
  }

  #total({ payment }: CheckoutState): string | undefined {
    const { amount, baseCurrency } = this.order;
    const total = parseDecimal(payment?.baseAmount ?? amount ?? '');
    const currency = payment?.baseCurrency ?? baseCurrency;
    return total && currency ? this.#money(total, currency) : undefined;
  }

  readonly #money: FirstContext['money'] = (value, currency) =>
    isIntlReady || this.#flow ? formatAmount(value, currency, this.#locale()) : roughAmount(value, currency);

  /** For numbers and times. */
  readonly #locale = (): string | undefined => {
    if (this.#language) return this.#language.locale;
    try {
      return Intl.getCanonicalLocales(this.tag)[0];
    } catch {
      return undefined;
    }
  };

  readonly #text: FirstContext['text'] = (key, values = {}) => {
    const language = this.#language;
    const text = this.messages?.[key] ?? (language?.texts ?? start)[key] ?? '';
    return fill(text, language?.isolate(values) ?? values);
  };

  #context(): FirstContext {
    const state = this.#state;
    return {
      text: this.#text,
      money: this.#money,
      isTest: this.#isTest(state),
      merchantName: this.#merchantName(state),
      total: this.#total(state),
      canStart: this.#orderProblem === undefined || isPayable(this.order),
      start: () => void this.start(),
    };
  }

  /** The language that the page asks for, not checked yet. @internal */
  get tag(): string {
    return this.locale || languageOf(this) || navigator.language;
  }

  get #isEnglish(): boolean {
    return /^en\b/.test(this.tag);
  }

  /** Loads the texts for what the page asks for, and shows them. Rejects if not even English can be loaded. */
  async #loadLanguage(): Promise<void> {
    // Beside the list of languages, not after it.
    if (this.#isEnglish) import('./messages/en.js').catch(() => undefined);
    const { PageLanguage } = await import('./messages/load.js');
    this.#language ??= new PageLanguage(this);
    await this.#language.follow();
  }

  /**
   * Resumes the payment that the page names, or that this browser remembers.
   * @param canCreate if the reply to its creation was lost, asks for it again. Not after a price change, which makes it another
   *   payment: that one waits for a press
   */
  #resume(canCreate = true): void {
    if (!this.isConnected || this.#flow?.controller || this.#initialState.name !== 'idle') return;
    const { order } = this;
    const { paymentId, idempotencyKey } = memoryFor(order).read();
    if (order.paymentId ?? paymentId ?? (canCreate && idempotencyKey)) void this.start();
  }

  #listenToTabs(): void {
    this.#tabs?.close();
    if (!this.isConnected) return;
    this.#tabs = new TabChannel(memoryFor(this.order).name, (paymentId) => {
      const controller = this.#flow?.controller;
      if (controller) void controller.join(paymentId);
      else if (this.#initialState.name === 'idle') void this.#joinFromIdle(paymentId);
    });
  }

  async #joinFromIdle(paymentId: string): Promise<void> {
    await this.#load();
    await this.#flow?.controller?.join(paymentId);
    // The tab goes on with its own order if the other one has another price.
    this.requestUpdate();
  }

  readonly #preload = (): void => {
    if (this.#flow === undefined) void Promise.all([loadFlow(), this.#loadLanguage()]).catch(() => undefined);
  };

  async #load(): Promise<void> {
    if (this.#initialState.name === 'creating') return;
    const attempted = { name: 'creating', preselected: {} } as const;
    this.#initialState = attempted;
    this.requestUpdate();
    try {
      const [{ Flow }] = await Promise.all([loadFlow(), this.#loadLanguage()]);
      this.#flow ??= new Flow(this, {
        text: this.#text,
        locale: this.#locale,
        loadAfterQr: () => this.#language?.loadAfterQr(),
      });
    } catch (cause) {
      const { apiUrl } = this.order;
      const problem = new NetworkError('The checkout’s code could not be loaded', { apiUrl, cause });
      this.#initialState = { name: 'error', problem, attempted };
      this.requestUpdate();
      await this.updateComplete;
      this.dispatchEvent(new CheckoutErrorEvent(undefined, problem));
      return;
    }
    this.#initialState = { name: 'idle' };
    // No update: the caller starts the payment, and a screen reader must not hear of the idle state in between.
    this.#flow.prepare();
  }

  /** @returns false if its code could not be loaded: `checkout-error` says so, and the next press tries again */
  async #openModal(): Promise<boolean> {
    try {
      const { Modal } = await loadModal();
      this.#modal ??= new Modal(this, () => {
        this.#flow?.controller?.stay();
        this.dispatchEvent(new CheckoutEvent('checkout-closed', this.payment));
      });
    } catch (cause) {
      const { apiUrl } = this.order;
      const problem = new NetworkError('The checkout’s code could not be loaded', { apiUrl, cause });
      this.dispatchEvent(new CheckoutErrorEvent(undefined, problem));
      return false;
    }
    if (!this.isConnected) return false;
    this.#modal.open();
    return true;
  }

  /** Loads what makes the checkout a form control. Most pages have it outside of any form. */
  async #loadForm(): Promise<FormValue | undefined> {
    const internals = this.#internals;
    if (!internals) return undefined;
    this.#form ??= import('./form-value.js').then(
      ({ FormValue }) =>
        new FormValue(
          this,
          internals,
          () => (this.txRef || this.paymentId ? this.#orderKey : ''),
          () => this.#text('formRequired'),
        ),
    );
    try {
      const form = await this.#form;
      this.requestUpdate();
      await this.updateComplete;
      return form;
    } catch {
      // A required one stays invalid. The next event of the form tries again.
      this.#form = undefined;
      return undefined;
    }
  }

  #moveFocus(status: CheckoutStatus): void {
    const id = status === 'choosing-network' ? 'first-network' : 'heading';
    this.shadowRoot?.getElementById(id)?.focus();
  }
}

/** Runs a callback once the browser has nothing else to do: after a framework has hydrated the page. */
function whenIdle(callback: () => void): void {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(callback, { timeout: 1000 });
  else setTimeout(callback, 300);
}

/** Runs a callback when the page has been painted, and has time. */
function afterPaint(callback: () => void): void {
  requestAnimationFrame(() => whenIdle(callback));
}

/** The nearest `lang`, across shadow roots; empty if there is none. */
function languageOf(element: Element): string {
  const root = element.getRootNode();
  const nearest = element.closest<HTMLElement>('[lang]')?.lang;
  return nearest ?? (root instanceof ShadowRoot ? languageOf(root.host) : '');
}

declare global {
  interface HTMLElementTagNameMap {
    'crypto-checkout': CryptoCheckout;
  }
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- only an interface can be augmented
  interface HTMLElementEventMap extends CheckoutEventMap {}
}
