/** The way from an order to its payment: loads the code that runs a payment, at a press or to resume the order's. */
import { memoryFor, type Order } from './checkout/order.js';
import type { CheckoutState, CreatingState, FailedState, IdleState } from './checkout/state.js';
import { TabChannel } from './checkout/tabs.js';
import type { ElementTexts } from './element-texts.js';
import { NetworkError } from './errors.js';
import { CheckoutErrorEvent } from './events.js';
import { fetchCode } from './fetch-code.js';
import type { Flow, FlowHost } from './flow.js';
import type { OfferLine } from './offer.js';
import type { Shown } from './views/frame.js';
import { whenPainted } from './platform.js';
import { idleView } from './views/idle.js';
import type { FirstContext } from './views/view.js';

const loadFlow = () => {
  // The flow imports the drawings in its chunk: both are fetched at the same time.
  import('./offer.js').catch(() => undefined);
  return fetchCode(() => import('./flow.js'));
};

interface StartHost extends FlowHost {
  start(): Promise<void>;
}

export class PaymentStart {
  readonly #host: StartHost;
  readonly #texts: ElementTexts;
  #tabs: TabChannel | undefined;
  #followTimer: ReturnType<typeof setTimeout> | undefined;
  /** Undefined until it is loaded. */
  flow: Flow | undefined;
  /** The state while the order has no payment. */
  initialState: IdleState | CreatingState | FailedState = { name: 'idle' };
  /** The coins on the pay button's card; undefined until the server has answered. */
  offer: OfferLine | undefined;
  /** Identifies the order; empty to look it up again. */
  orderKey = '';

  constructor(host: StartHost, texts: ElementTexts) {
    this.#host = host;
    this.#texts = texts;
  }

  get state(): CheckoutState {
    return this.flow?.controller?.state ?? this.initialState;
  }

  /** The view: the payment, or the pay button with the page's mistake, if any. */
  show(context: FirstContext, mistake: Shown['problem']): Shown {
    const { initialState: state } = this;
    const hasFailed = state.name === 'error' ? { text: context.text('problemNetwork') } : undefined;
    return (
      this.flow?.show(context) ?? { state, view: idleView(state, context), problem: mistake ?? hasFailed }
    );
  }

  /** Another element may have stored a payment in the meantime: checks again whether to resume. */
  connect(): void {
    if (!this.flow?.controller) this.orderKey = '';
  }

  disconnect(): void {
    clearTimeout(this.#followTimer);
    this.#followTimer = undefined;
    this.#tabs?.close();
    this.#tabs = undefined;
  }

  /** The page may have changed the order: leaves the previous order's payment, and looks for that of the new one. */
  follow(order: Order): void {
    const { apiUrl, publicKey, paymentId, amount, baseCurrency, txRef } = order;
    const orderKey = JSON.stringify([apiUrl, publicKey, paymentId, amount, baseCurrency, txRef]);
    const isSame = orderKey === this.orderKey;
    // An element that was moved has left its channel. If it is rendered again before its task has run, it still waits for
    // it.
    if (isSame && (this.#tabs || this.#followTimer !== undefined)) return;
    this.disconnect();
    const isFirst = this.orderKey === '';
    this.orderKey = orderKey;
    if (!isSame && !isFirst) {
      this.initialState = { name: 'idle' };
      this.flow?.leaveOrder(order);
    }
    // In a task of its own: storage and channels take a slow phone as long as the view.
    this.#followTimer = setTimeout(() => {
      this.#followTimer = undefined;
      this.#listenToTabs(order);
      if (!isSame) this.resume(isFirst);
      whenPainted(() => void this.#loadOffer().catch(() => undefined));
    });
  }

  /** Starts the payment. Resolves once it is under way. */
  async start(): Promise<void> {
    if (!this.flow?.controller) await this.#load();
    this.flow?.controller?.start();
  }

  /**
   * Resumes the payment that the page names, or that this browser remembers.
   * @param canCreate if the reply to its creation was lost, asks for it again. Not after a price change, which makes it another
   *   payment: that one waits for a press
   */
  resume(canCreate = true): void {
    if (!this.#host.isConnected || this.flow?.controller || this.initialState.name !== 'idle') return;
    const { order } = this.#host;
    const { paymentId, idempotencyKey } = memoryFor(order).read();
    if (order.paymentId ?? paymentId ?? (canCreate && idempotencyKey)) void this.#host.start();
  }

  /** Announces this order's payment to the browser's other tabs. */
  readonly publish = (paymentId: string): void => this.#tabs?.publish(paymentId);

  /** Preloads the code that a press will need. */
  readonly preload = (): void => {
    if (this.flow === undefined) void Promise.all([loadFlow(), this.#texts.load()]).catch(() => undefined);
  };

  async #loadOffer(): Promise<void> {
    // A payment that is under way has its own coins.
    if (this.state.name !== 'idle') return;
    // The pay button works without this.
    const { loadOffer } = await fetchCode(() => import('./offer.js'));
    await loadOffer(this.#host, this);
  }

  #listenToTabs(order: Order): void {
    if (!this.#host.isConnected) return;
    this.#tabs = new TabChannel(memoryFor(order).name, (paymentId) => {
      const controller = this.flow?.controller;
      if (controller) void controller.join(paymentId);
      else if (this.initialState.name === 'idle') void this.#joinFromIdle(paymentId);
    });
  }

  async #joinFromIdle(paymentId: string): Promise<void> {
    await this.#load();
    await this.flow?.controller?.join(paymentId);
    // The tab continues with its own order if the other one has another price.
    this.#host.requestUpdate();
  }

  async #load(): Promise<void> {
    if (this.initialState.name === 'creating') return;
    const attempted = { name: 'creating', preselected: {} } as const;
    this.initialState = attempted;
    this.#host.requestUpdate();
    try {
      const [{ Flow }] = await Promise.all([loadFlow(), this.#texts.load()]);
      this.#texts.prepareIntl();
      this.flow ??= new Flow(this.#host, this.#texts);
    } catch (cause) {
      const problem = missingCode(this.#host.order, cause);
      this.initialState = { name: 'error', problem, attempted };
      this.#host.requestUpdate();
      await this.#host.updateComplete;
      this.#host.dispatchEvent(new CheckoutErrorEvent(undefined, problem));
      return;
    }
    this.initialState = { name: 'idle' };
    // No update: the caller starts the payment, and a screen reader must not announce the idle state in between.
    this.flow.prepare();
  }
}

/** A part of the code could not be loaded: no connection, or a newer version on the server. */
export function missingCode({ apiUrl }: Order, cause: unknown): NetworkError {
  return new NetworkError('The checkout’s code could not be loaded', { apiUrl, cause });
}
