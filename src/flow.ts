/** A running payment in the element: its controller, and what its views need. The element loads it when a payment starts. */
import { adoptStyles, html, type ReactiveController, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { CheckoutController, type CheckoutHost } from './checkout/controller.js';
import { readLastChoice } from './checkout/last-choice.js';
import { isNothing, type Order } from './checkout/order.js';
import type { CheckResult } from './checkout/check.js';
import type { CheckoutState, CheckoutStatus, Choice } from './checkout/state.js';
import type { Payment } from './contract/checkout.js';
import type { Language } from './messages/load.js';
import { styles } from './crypto-checkout.styles.js';
import { fetchCode } from './fetch-code.js';
import { lazy, type Lazy } from './lazy.js';
import { viewKey, type Shown } from './views/frame.js';
import { flowStyles } from './views/flow.styles.js';
import type { TransferCheckTexts } from './transfer-check/transfer-check.js';
import type { Copyable, FirstContext, Panel, Question, ViewContext } from './views/view.js';
import { viewOfState } from './views/view-of-state.js';
import type { WalletPayments } from './browser-wallets/wallet-payments.js';

type AfterQr = ReturnType<typeof import('./after-qr.js').createAfterQr>;
type DrawQr = typeof import('./views/qr-code.js').drawQr;

export interface FlowHost extends CheckoutHost {
  readonly shadowRoot: ShadowRoot | null;
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly payment: Payment | undefined;
  readonly status: CheckoutStatus;
  readonly noTimeLog: boolean;
  refresh(): Promise<void>;
  getAttribute(name: string): string | null;
}

/** The texts of the page's language. */
export interface Texts extends TransferCheckTexts {
  readonly text: ViewContext['text'];
  readonly locale: ViewContext['locale'];
}

/** One function, so that the language loads its texts once. */
const afterQrTexts = ({ loadAfterQr }: Language) => loadAfterQr();
const noticeMs = 6_000;
/** From here on, the card's styles have two columns. */
const wideWidth = 720;

export class Flow implements ReactiveController {
  readonly #host: FlowHost;
  readonly #texts: Texts;
  /** Undefined while the order has no payment. */
  controller: CheckoutController | undefined;
  readonly #qr: Lazy<DrawQr>;
  readonly #afterQr: Lazy<AfterQr>;
  readonly #wallets: Lazy<WalletPayments>;
  /** The text copied last, and the notice about it or about another tab. */
  #notice: { readonly what?: Copyable; readonly text: string } | undefined;
  #noticeTimer: ReturnType<typeof setTimeout> | undefined;
  #checkResult = '';
  #isReconnecting = false;
  #question: Question | undefined;
  #isCancelling = false;
  readonly #openPanels = new Map<Panel, boolean>();
  /** Found out once, so that a turned phone or a resized window opens and closes nothing. */
  #hasRoomForQr: boolean | undefined;
  /** True if the card has two columns. */
  #isWide = false;
  #card: HTMLElement | null = null;
  // In the next frame: a change in this one would be reported to the page as an error.
  readonly #sizes = new ResizeObserver(() => requestAnimationFrame(() => this.#measure()));
  #lastChoice: Choice | undefined;
  #shownKey = '';
  /** The step and the amount due of the payment that the notice is about. */
  #noticeFor = '';

  constructor(host: FlowHost, texts: Texts) {
    this.#host = host;
    this.#texts = texts;
    this.#qr = lazy(host, async () => (await fetchCode(() => import('./views/qr-code.js'))).drawQr);
    /** Both have their texts in that part of the language. */
    const withTexts = async <T>(ask: () => Promise<T>) => {
      const [loaded] = await Promise.all([fetchCode(ask), texts.language?.add(afterQrTexts)]);
      return loaded;
    };
    this.#afterQr = lazy(host, async () =>
      (await withTexts(() => import('./after-qr.js'))).createAfterQr(host, texts),
    );
    this.#wallets = lazy(host, async () => {
      const { WalletPayments } = await withTexts(() => import('./browser-wallets/wallet-payments.js'));
      return new WalletPayments(host, () => this.controller);
    });
    host.addController(this);
    for (const name of ['merchant-name', 'merchant-logo', 'locale']) {
      const value = host.getAttribute(name);
      // eslint-disable-next-line no-console -- the page's developer looks here
      if (isNothing(value)) console.warn(`<crypto-checkout> ignores ${name}="${value}"`);
    }
    const { shadowRoot } = host;
    if (!shadowRoot) return;
    adoptStyles(shadowRoot, [styles, flowStyles]);
    for (const type of ['keydown', 'keypress', 'keyup']) shadowRoot.addEventListener(type, keepTyping);
  }

  /** Prepares for a payment of the host's order. An element that has left the page needs none. */
  prepare(): void {
    this.#lastChoice = readLastChoice();
    if (!this.#host.isConnected) return;
    this.controller ??= new CheckoutController(this.#host, this.#announceJoined);
  }

  readonly #announceJoined = (): void => this.#notify({ text: this.#texts.text('joined') });

  /** Leaves the payment, because the page names another order or price, unless the payer has paid something. */
  leaveOrder(next: Order): void {
    const previous = this.controller;
    if (!previous || previous.staysFor(next)) return;
    const paymentId = previous.openPaymentFor(next);
    previous.dispose();
    this.controller = undefined;
    if (paymentId === undefined) return;
    this.controller = new CheckoutController(this.#host, this.#announceJoined);
    this.controller.takeOver(paymentId, previous);
  }

  /** Retries what could not be loaded, and fetches the payment's status. */
  async refresh(): Promise<void> {
    this.#retry();
    await this.controller?.refresh();
  }

  #retry(): void {
    for (const part of [this.#qr, this.#afterQr, this.#wallets]) part.retry();
    this.#texts.language?.retry();
  }

  hostDisconnected(): void {
    this.#observe(null);
    clearTimeout(this.#noticeTimer);
    this.#notice = undefined;
  }

  hostUpdate(): void {
    const { status, payment } = this.#host;
    const noticeFor = [status, payment?.id, payment?.amountDue].join(' ');
    // A payer who has just paid must not read that they should send. That another tab has the payment stays true.
    if (noticeFor !== this.#noticeFor && this.#notice?.what) this.#notice = undefined;
    this.#noticeFor = noticeFor;
    const key = viewKey(status);
    if (key === this.#shownKey) return;
    this.#shownKey = key;
    this.#checkResult = '';
    this.#question = undefined;
    // The server may be back.
    this.#retry();
  }

  hostUpdated(): void {
    const { status, payment, order, isConnected, shadowRoot } = this.#host;
    if (isConnected) this.#observe(shadowRoot?.querySelector<HTMLElement>('.card') ?? null);
    const state = this.controller?.state;
    const isAtAddress = viewKey(status) === 'awaiting-funds';
    const hasPayment = payment ?? order.paymentId;
    if (hasPayment && !comesAfterQr(status)) void this.#qr.start();
    const isQrSettled = this.#qr.value ?? this.#qr.hasFailed;
    // Code for after the QR code does not compete with it for bandwidth.
    if (problemIn(state) || comesAfterQr(status) || (isAtAddress && isQrSettled)) void this.#afterQr.start();
    // After the QR code, for the same reason.
    if (payment?.evm && isQrSettled) void this.#wallets.start();
  }

  /** The card, not the host: in a modal, the host is the button that opens it. */
  #observe(card: HTMLElement | null): void {
    if (card === this.#card) return;
    this.#sizes.disconnect();
    this.#card = card;
    if (!card) return;
    this.#measure();
    this.#sizes.observe(card);
  }

  #measure(): void {
    const isWide = (this.#card?.offsetWidth ?? 0) >= wideWidth;
    if (isWide === this.#isWide) return;
    this.#isWide = isWide;
    this.#host.requestUpdate();
  }

  /** The view; undefined while the order has no payment. */
  show(first: FirstContext): Shown | undefined {
    const { controller } = this;
    if (!controller) return undefined;
    const wallets = this.#wallets.value;
    const state = wallets?.withSent(controller.state, first.text) ?? controller.state;
    const isReconnecting = 'isReconnecting' in state && state.isReconnecting === true;
    // The error of a failed check disappears with the next successful one.
    if (this.#isReconnecting && !isReconnecting) this.#checkResult = '';
    this.#isReconnecting = isReconnecting;
    const context = this.#contextOf(first, controller);
    const view = viewOfState(state, context);
    return {
      state,
      view: wallets?.viewWithWallet(view, context) ?? view,
      problem: this.#problem(state, first),
      keyed,
      notices: this.#notices(first),
    };
  }

  #notices({ text }: FirstContext): TemplateResult {
    return html`<div class="overlay">
      <p
        part="connection"
        class="notice"
        aria-live="polite"
        .textContent=${this.#isReconnecting ? text('reconnecting') : ''}
      ></p>
      <p part="notice" class="notice" aria-live="polite" .textContent=${this.#notice?.text ?? ''}></p>
    </div>`;
  }

  #contextOf(first: FirstContext, controller: CheckoutController): ViewContext {
    return {
      ...first,
      clock: this.#clock,
      locale: this.#texts.locale,
      remainingMs: controller.remainingMs,
      redirectSeconds: controller.redirectSeconds,
      redirectUrl: controller.redirectUrl,
      hasTimeLog: !this.#host.noTimeLog,
      copied: this.#notice?.what,
      checkResult: this.#checkResult,
      isReconnecting: this.#isReconnecting,
      question: this.#question,
      isCancelling: this.#isCancelling,
      lastChoice: this.#lastChoice,
      canStartAgain: controller.canRestart,
      hasNext: controller.hasNext,
      drawQr: this.#qr.hasFailed ? 'failed' : this.#qr.value,
      afterQr: this.#afterQr.value,
      hasAfterQrFailed: this.#afterQr.hasFailed,
      walletPanel: this.#wallets.value?.render,
      isWide: this.#isWide,
      isTouch: matchMedia('(pointer: coarse)').matches,
      isOpen: (panel) =>
        this.#openPanels.get(panel) ?? (panel === 'qr' && (this.#hasRoomForQr ??= hasRoomForQr())),
      setOpen: (panel, isOpen) => this.#openPanels.set(panel, isOpen),
      dispatch: (action) => controller.dispatch(action),
      restart: () => {
        this.#ask(undefined);
        controller.restart();
      },
      check: () => void this.#check(controller),
      cancel: () => void this.#cancel(controller),
      ask: (question) => this.#ask(question),
      stay: () => controller.stay(),
      leave: () => controller.leave(),
      openWallet: (link, text = link) => void this.#openWallet(link, text),
      copy: (what, text, notice) => void this.#copy(what, text, notice),
    };
  }

  readonly #clock: ViewContext['clock'] = (time, withSeconds) =>
    new Date(time).toLocaleTimeString(this.#texts.locale(), {
      hour: 'numeric',
      minute: '2-digit',
      ...(withSeconds && { second: '2-digit' }),
    });

  #problem(state: CheckoutState, first: FirstContext): Shown['problem'] {
    const problem = problemIn(state);
    if (!problem) return undefined;
    if (this.#afterQr.hasFailed) return { text: first.text('problemNetwork') };
    // Until the texts of problems are loaded, no text is shown rather than a wrong one.
    return this.#afterQr.value?.problemOf(problem, state, first);
  }

  async #check(controller: CheckoutController): Promise<void> {
    const say = (key?: 'checking' | CheckResult) => {
      this.#checkResult = key ? this.#texts.text(key, { time: this.#clock(controller.now, true) }) : '';
      this.#host.requestUpdate();
    };
    say('checking');
    const afterQr = await this.#afterQr.get().catch(() => undefined);
    if (!afterQr) return this.refresh().then(() => say());
    say(await afterQr.resultOfCheck(this.#host, controller));
  }

  /** The question stays until the server has answered. */
  async #cancel(controller: CheckoutController): Promise<void> {
    if (this.#isCancelling) return;
    this.#isCancelling = true;
    this.#host.requestUpdate();
    await controller.cancel();
    this.#isCancelling = false;
    if (this.#question) this.#ask(undefined);
    this.#host.requestUpdate();
  }

  #ask(question: Question | undefined): void {
    const asked = this.#question;
    this.#question = question;
    void this.#afterQr.get();
    this.#host.requestUpdate();
    // The question takes the place of the button that was pressed, so focus goes there and back.
    void this.#host.updateComplete.then(() =>
      this.#host.shadowRoot?.getElementById(question ? 'keep' : (asked ?? 'heading'))?.focus(),
    );
  }

  async #openWallet(link: string, text: string): Promise<void> {
    const afterQr = await this.#afterQr.get().catch(() => undefined);
    if (afterQr)
      return afterQr.openWallet(link, text, (notice) => this.#notify({ what: 'link', text: notice }));
    location.assign(link);
  }

  async #copy(what: Copyable, text: string, notice: string): Promise<void> {
    const afterQr = await this.#afterQr.get().catch(() => undefined);
    if (afterQr) return afterQr.copying.copy(what, text, () => this.#notify({ what, text: notice }));
    this.#notify({ text: this.#texts.text('problemNetwork') });
  }

  #notify(notice: { readonly what?: Copyable; readonly text: string }): void {
    this.#notice = notice;
    this.#host.requestUpdate();
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => {
      this.#notice = undefined;
      this.#host.requestUpdate();
    }, noticeMs);
  }
}

/**
 * Outside, an event seems to come from the element, which is no field: the page's shortcuts would take the letters that a payer
 * types.
 */
function keepTyping(event: Event): void {
  if (!(event instanceof KeyboardEvent) || event.ctrlKey || event.metaKey) return;
  const isField =
    event.target instanceof Element &&
    event.target.matches('textarea, input:not([type=radio], crypto-checkout *)');
  // Keys with a name, such as Escape and Tab, are the page's too.
  if (isField && [...event.key].length === 1) event.stopPropagation();
}

function problemIn(state: CheckoutState | undefined) {
  return state && 'problem' in state ? state.problem : undefined;
}

/** On a touch screen the payer's wallet is on the same device, where nothing can scan the code. */
function hasRoomForQr(): boolean {
  return matchMedia('(pointer: fine), (min-width: 720px)').matches;
}

/** True for states whose view is not in the first part of the code. */
function comesAfterQr(status: CheckoutStatus): boolean {
  return /^(confirming|success|error|expired|cancelled)$/.test(status);
}
