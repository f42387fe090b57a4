/** The `<crypto-checkout>` element: attributes, events and slots. It draws the view of the current state. */
import { LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { isPayable, orderOf, type Order } from './checkout/order.js';
import type { CheckoutState, CheckoutStatus } from './checkout/state.js';
import type { Payment } from './contract/checkout.js';
import { styles } from './crypto-checkout.styles.js';
import { drawAnew } from './draw-anew.js';
import { ElementTexts } from './element-texts.js';
import { CheckoutErrorEvent, CheckoutEvent, type CheckoutEventMap } from './events.js';
import { FormControl } from './form-control.js';
import type { Messages } from './messages/en.js';
import { ModalTrigger } from './modal-trigger.js';
import { headingOf, orderContext } from './order-heading.js';
import { OrderMistake } from './order-mistake.js';
import { missingCode, PaymentStart } from './payment-start.js';
import { whenIdle } from './platform.js';
import { frame, viewKey } from './views/frame.js';
import { header, type LineItem } from './views/header.js';
import type { FirstContext } from './views/view.js';

/** React 18 writes a boolean that is false as text. */
const flag = (value: string | null) => value !== null && value !== 'false';

/** Frameworks set attributes one after the other. A missing one is a mistake only after that. */
const settleMs = 200;

/**
 * A crypto checkout: the payer picks a coin and a network, sees where to pay, and follows the payment to its end.
 *
 * The element is not proof of payment. Before delivering, the merchant's server must verify the payment with its secret
 * key, or wait for the webhook.
 *
 * @tag crypto-checkout
 *
 * @slot trigger - The button of the page that opens the modal. Without it, there is a default one.
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
 * @csspart badge - The icon next to the heading, from confirming on.
 * @csspart heading - The view's heading.
 * @csspart status - One sentence that describes the current state.
 * @csspart connection - Says "reconnecting".
 * @csspart error - The problem, and its remedy.
 * @csspart offer - Five coins, how many there are, and for how long a price is fixed, below the pay button.
 * @csspart search - The search field above a long list of coins.
 * @csspart options - A group of options.
 * @csspart option - A coin or network to choose.
 * @csspart warning - The warning about wrong networks.
 * @csspart asset - The coin and network to send on.
 * @csspart copy-amount - The row with the amount, which a press copies.
 * @csspart amount - The exact amount to send.
 * @csspart rate - The rate that is fixed.
 * @csspart fee - The fees, and who bears them.
 * @csspart refund - The progress of a refund.
 * @csspart wrong-asset - Says which wrong coin arrived.
 * @csspart check - The result of the last check.
 * @csspart check-now - Checks now.
 * @csspart progress - How much has arrived, or how many confirmations it has.
 * @csspart countdown - The time left.
 * @csspart qr-panel - The QR code and its caption, folded away on phones; without it where the card has two columns.
 * @csspart qr - The QR code.
 * @csspart phone - Opens this payment on a phone: folded away, and not there on touch screens.
 * @csspart phone-qr - The QR code of the payment's page.
 * @csspart address - The address to pay to.
 * @csspart copy-address - The row with the address, which a press copies.
 * @csspart wallet - Opens a wallet app.
 * @csspart exchange - Help for paying from an exchange.
 * @csspart transfer-check - The form to check whether a transfer has arrived, folded away.
 * @csspart transfer-hash - The field for the transfer's hash or link.
 * @csspart check-transfer - The button of that form.
 * @csspart transfer-answer - The transfer's relation to the payment.
 * @csspart time-log - The time log, with its title.
 * @csspart log - The list of log entries.
 * @csspart copy-log - Copies the time log.
 * @csspart copy-field - The field with text that the browser did not copy, selected to copy by hand.
 * @csspart close-copy-field - Removes this field.
 * @csspart redirect - Counts down to the return to the shop.
 * @csspart paid - The amount paid, to whom and when.
 * @csspart excess - The amount beyond the amount due.
 * @csspart receipt - The details of a payment that is complete, folded away.
 * @csspart receipt-link - Opens the hosted receipt.
 * @csspart transfer - A transfer, with its amount.
 * @csspart transaction - The hash of a transfer.
 * @csspart save - Saves the receipt as text.
 * @csspart payment-id - The payment's id, for the shop.
 * @csspart copy-message - Copies a message for the shop.
 * @csspart copy-id - Copies the payment's id.
 * @csspart support - The link to the shop's support.
 * @csspart new-payment - Starts a new payment.
 * @csspart action - The main button: what the payer does next.
 * @csspart back - Goes back to the previous choice.
 * @csspart restart - Changes to another coin.
 * @csspart cancel - Cancels the payment.
 * @csspart question - Asks before the payment is cancelled.
 * @csspart keep - Keeps the payment.
 * @csspart confirm - Cancels it after all.
 * @csspart notice - Confirms what was copied.
 * @csspart trigger - The default button that opens the modal.
 * @csspart dialog - The modal.
 * @csspart close - Closes the modal.
 * @csspart wallets - The wallets in the browser, and what they do.
 * @csspart wallet-option - A further wallet to pay from: the first one is the main button.
 * @csspart wallet-app - A link that opens the page in a wallet app.
 * @csspart wallet-status - The step that the wallet waits for, or the transfer that was sent.
 * @csspart wallet-problem - The reason that nothing was sent.
 * @csspart wallet-hash - The transaction that the wallet has sent.
 * @csspart wallet-stop - Stops waiting for the wallet.
 * @csspart wallet-again - Sends again.
 * @csspart wallet-keep - Does not send again.
 *
 * @cssproperty --checkout-accent - Colour of the main button and of the selection. Text on it is black or white,
 * whichever reads.
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
    noTimeLog: { converter: flag, attribute: 'no-time-log' },
    noBranding: { converter: flag, attribute: 'no-branding' },
    noRedirect: { converter: flag, attribute: 'no-redirect' },
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
  /** The payer's name, in the same way. */
  declare customerName: string | undefined;
  /** The payer's phone number, which no public key reads back. */
  declare customerPhone: string | undefined;
  /** The URL that the payer goes to after success: http or https. */
  declare redirectUrl: string | undefined;
  /** The shop's name, until the payment provides it. */
  declare merchantName: string | undefined;
  /** URL of the shop's logo, https, until the payment provides it. */
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

  readonly #texts = new ElementTexts(this);
  readonly #start = new PaymentStart(this, this.#texts);
  readonly #mistake = new OrderMistake();
  readonly #modal = new ModalTrigger(this, () => {
    this.#start.flow?.controller?.stay();
    this.dispatchEvent(new CheckoutEvent('checkout-closed', this.payment));
  });
  readonly #form = new FormControl(
    this,
    () => (this.txRef || this.paymentId ? this.#start.orderKey : ''),
    () => this.#texts.text('formRequired'),
  );
  #shownStatus: CheckoutStatus = 'idle';
  /**
   * Initially false for a tag that was in the page before this class. A framework may be about to hydrate it, and would
   * warn about an attribute that its server did not write.
   */
  #isReflecting = false;
  #hadFocus = false;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #brokenLogo: string | undefined;

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
    return this.#start.state.payment;
  }

  /** The name of the current state; the `status` attribute reflects it. */
  get status(): CheckoutStatus {
    return this.#start.state.name;
  }

  /** The order as the attributes describe it. @internal */
  get order(): Order {
    return orderOf(this);
  }

  /** Starts the payment, like the button. Resolves once it is under way. Failures are shown, not thrown. */
  async start(): Promise<void> {
    await (isPayable(this.order) ? this.#start.start() : this.#findMistake());
  }

  /** Opens the modal, and starts the payment if there is none yet. Without `mode="modal"`, it only starts it. */
  async open(): Promise<void> {
    try {
      if (this.mode === 'modal' && !(await this.#modal.open())) return;
    } catch (cause) {
      this.dispatchEvent(new CheckoutErrorEvent(undefined, missingCode(this.order, cause)));
      return;
    }
    // A changed price is announced first; the new payment begins on a press.
    const { state } = this.#start;
    if (state.name === 'idle' && !state.outdated) await this.start();
  }

  /** Closes the modal. The payment continues, and is there when the modal is opened again. */
  close(): void {
    this.#modal.close();
  }

  /** Cancels the payment, unless it has ended. */
  async cancel(): Promise<void> {
    await this.#start.flow?.controller?.cancel();
  }

  /** Fetches the payment's current status now. */
  async refresh(): Promise<void> {
    await this.#start.flow?.refresh();
  }

  /** False while the modal is closed. @internal */
  get isShown(): boolean {
    return this.mode !== 'modal' || this.#modal.isOpen;
  }

  /** Announces this order's payment to the browser's other tabs. @internal */
  get publish(): (paymentId: string) => void {
    return this.#start.publish;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#start.connect();
    this.#settleTimer = setTimeout(() => void this.#findMistake(), settleMs);
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#settleTimer);
    this.#start.disconnect();
  }

  /** @internal */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    if (form) this.#form.enter();
  }

  /** @internal */
  formDisabledCallback(): void {
    this.requestUpdate();
    void this.#form.load();
  }

  /** A reset cannot undo a payment, so the value stays. @internal */
  formResetCallback(): void {
    this.requestUpdate();
  }

  /** The browser fills in the form after a reload or a return: the order's payment is shown again. @internal */
  formStateRestoreCallback(state: unknown): void {
    void this.#form.load().then((form) => {
      if (form?.restore(state)) this.#start.resume();
    });
  }

  protected override async scheduleUpdate(): Promise<void> {
    const texts = this.#texts.follow();
    // Rendered in a separate task, after the script's: two short tasks block nothing else on the page.
    if (!this.hasUpdated) await Promise.all([texts, new Promise((resolve) => setTimeout(resolve))]);
    await super.scheduleUpdate();
  }

  protected override update(changed: PropertyValues): void {
    try {
      super.update(changed);
    } catch {
      // Nodes that it writes into have been removed.
      drawAnew(this.renderRoot);
      super.update(changed);
    }
  }

  protected override willUpdate(): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    this.#start.follow(this.order);
  }

  protected override firstUpdated(): void {
    this.dispatchEvent(new CheckoutEvent('checkout-ready', undefined));
  }

  protected override updated(): void {
    const { status } = this;
    if (this.#isReflecting) this.#reflectStatus();
    const isNewView = viewKey(this.#shownStatus) !== viewKey(status);
    // Only if focus was inside already: progress of a payment must not steal it from the page. The button that had it may
    // be gone.
    if (this.#hadFocus && (isNewView || !this.shadowRoot?.activeElement)) this.#moveFocus(status);
    this.#shownStatus = status;
  }

  #reflectStatus(): void {
    this.#isReflecting = true;
    if (this.getAttribute('status') !== this.status) this.setAttribute('status', this.status);
  }

  protected override render(): TemplateResult {
    const { order } = this;
    const { state, preload } = this.#start;
    const { text, language } = this.#texts;
    const context = this.#context(order, state);
    const shown = this.#start.show(context, this.#mistake.shown(order, text));
    const heading = headingOf(this, order, shown.state.payment, this.#brokenLogo);
    const top = header({ ...heading, onBrokenLogo: () => this.#hideLogo(heading.logo) }, context);
    const card = frame(shown, { language, header: top, preload }, context);
    return this.mode === 'modal'
      ? this.#modal.render(card, context, this.#start, () => void this.open())
      : card;
  }

  #context(order: Order, { payment }: CheckoutState): FirstContext {
    const { text, money } = this.#texts;
    return {
      text,
      money,
      ...orderContext(this, order, payment, money),
      canStart: this.#mistake.allows(order),
      start: () => void this.start(),
      offer: this.#start.offer?.(text),
    };
  }

  async #findMistake(): Promise<void> {
    if (await this.#mistake.find(this.order)) this.requestUpdate();
  }

  #hideLogo(url: string | undefined): void {
    this.#brokenLogo = url;
    this.requestUpdate();
  }

  #moveFocus(status: CheckoutStatus): void {
    const id = status === 'choosing-network' ? 'first-network' : 'heading';
    this.shadowRoot?.getElementById(id)?.focus();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'crypto-checkout': CryptoCheckout;
  }
  // Only an interface can be augmented.
  interface HTMLElementEventMap extends CheckoutEventMap {}
}
