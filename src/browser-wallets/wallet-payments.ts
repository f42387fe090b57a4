/** Lets the payer pay from a wallet in the browser. The element loads it when a payment can be paid that way. */
import { nothing, type ReactiveController, type ReactiveControllerHost } from 'lit';
import type { CheckoutState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { addStyles } from '../views/add-styles.js';
import { isTimeUp, type View, type ViewContext, type WalletPanel } from '../views/view.js';
import { discoverWallets } from './discovery.js';
import { payLabel, sentText, walletPanel, type PanelActions, type PanelState } from './panel.js';
import { payFromWallet, type Step } from './pay.js';
import { refusalOf, WalletRefusal, type Refusal, type Wallet } from './provider.js';
import { readSent, readSentLog } from './sent-memory.js';
import { transferOf } from './transfer.js';
import { walletStyles } from './wallets.styles.js';

export interface WalletHost extends ReactiveControllerHost {
  readonly isConnected: boolean;
  readonly shadowRoot: ShadowRoot | null;
  /** Fetches the payment's current status. Never rejects. */
  refresh(): Promise<void>;
}

/** Snapshot of the checkout that wallet payments need. */
export interface Progress {
  readonly state: CheckoutState;
  /** Milliseconds until the deadline; undefined if there is none. */
  readonly remainingMs: number | undefined;
}

export class WalletPayments implements ReactiveController {
  readonly #host: WalletHost;
  readonly #progress: () => Progress | undefined;
  #connection = new AbortController();
  #wallets: readonly Wallet[] = [];
  #state: PanelState = { name: 'choosing' };
  #attempt: AbortController | undefined;
  /** The payment that the panel shows. */
  #paymentId = '';

  /** @param progress undefined while there is no payment */
  constructor(host: WalletHost, progress: () => Progress | undefined) {
    this.#host = host;
    this.#progress = progress;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connection = new AbortController();
    discoverWallets((wallets) => {
      this.#wallets = wallets;
      this.#host.requestUpdate();
    }, this.#connection.signal);
  }

  hostUpdated(): void {
    addStyles(this.#host.shadowRoot, walletStyles);
  }

  hostDisconnected(): void {
    this.#connection.abort();
    this.#wallets = [];
    this.#stop();
  }

  /** The panel for the payment. Nothing if a wallet cannot pay it, or no longer. */
  readonly render: WalletPanel = (_state, context) => {
    const payment = payableOf(this.#progress());
    if (!payment?.evm || !transferOf(payment)) return nothing;
    if (payment.id !== this.#paymentId) {
      // A request left over from an earlier payment must not be sent for it.
      this.#attempt?.abort();
      this.#attempt = undefined;
      this.#state = { name: 'choosing' };
      this.#paymentId = payment.id;
    }
    return walletPanel(
      {
        state: this.#state,
        payment,
        evm: payment.evm,
        wallets: this.#wallets,
        mainWallet: this.#mainWallet,
        sent: readSent(payment),
        isOnPhone: matchMedia('(pointer: coarse)').matches,
        actions: this.#actions,
      },
      context,
    );
  };

  /**
   * The state to draw, whose time log includes the wallet's transfer. Only the server's own log is proof of anything.
   */
  withSent(state: CheckoutState, text: ViewContext['text']): CheckoutState {
    const { payment } = state;
    const sent = payment && readSentLog(payment);
    if (!sent) return state;
    const time = new Date(sent.at).toISOString();
    const entry = { time, type: 'event', event: text('walletLog', { hash: sent.hash }) } as const;
    const { transactionTimeLog: log } = payment;
    const transactionTimeLog = [...log.slice(0, sent.position), entry, ...log.slice(sent.position)];
    return { ...state, payment: { ...payment, transactionTimeLog } };
  }

  /**
   * The first wallet is the main action. While a wallet's transfer is under way, the card reports it first, and has no
   * main action, so that nobody sends it again.
   */
  viewWithWallet(view: View, context: ViewContext): View {
    const payment = payableOf(this.#progress());
    const sent = payment && readSent(payment);
    const { name } = this.#state;
    if (sent && name === 'choosing') {
      const sentence = sentText(sent, context.text);
      return { ...view, heading: context.text('watching'), sentence, isOnlySpoken: false, action: undefined };
    }
    const wallet = this.#mainWallet;
    if (!payment?.evm || !wallet || !transferOf(payment)) return view;
    if (name === 'asking') return { ...view, action: undefined };
    const action = { label: payLabel(wallet, context), run: () => void this.#pay(wallet) };
    return { ...view, action, isBusy: name === 'waiting' };
  }

  /** The wallet that the payer is using, otherwise the first. */
  get #mainWallet(): Wallet | undefined {
    return 'wallet' in this.#state ? this.#state.wallet : this.#wallets[0];
  }

  readonly #actions: PanelActions = {
    pay: (wallet) => void this.#pay(wallet),
    stop: () => this.#stop(),
    show: (name) => this.#show({ name }),
  };

  /** A press while a wallet waits does nothing: the payer may have pressed twice. */
  async #pay(wallet: Wallet): Promise<void> {
    if (this.#attempt) return;
    const isAgain = this.#state.name === 'choosing-again';
    const attempt = new AbortController();
    this.#attempt = attempt;
    const { signal } = attempt;
    const onStep = (step: Step) => {
      if (!signal.aborted) this.#show({ name: 'waiting', wallet, step });
    };
    let reason: Refusal | undefined;
    try {
      await payFromWallet(wallet.provider, { readPayable: this.#readPayable, onStep, signal, isAgain });
    } catch (error) {
      reason = refusalOf(error) ?? 'walletFailed';
    }
    // The wallet may answer after the payer stopped waiting: what it sent is remembered, and shown.
    if (this.#attempt !== attempt) return this.#host.requestUpdate();
    this.#attempt = undefined;
    this.#show(reason === undefined ? { name: 'choosing' } : { name: 'refused', wallet, reason });
    if (reason === undefined) void this.#host.refresh();
  }

  readonly #readPayable = async (): Promise<Payment | undefined> => {
    const id = this.#paymentId;
    await this.#host.refresh();
    const progress = this.#progress();
    if (progress && 'isReconnecting' in progress.state && progress.state.isReconnecting) {
      throw new WalletRefusal('problemNetwork');
    }
    const payment = payableOf(progress);
    return payment?.id === id && this.#host.isConnected ? payment : undefined;
  };

  #stop(): void {
    this.#attempt?.abort();
    this.#attempt = undefined;
    if (this.#state.name === 'waiting') this.#show({ name: 'choosing' });
  }

  #show(state: PanelState): void {
    const { shadowRoot } = this.#host;
    const hadFocus = shadowRoot?.activeElement?.closest('.wallets') != null;
    this.#state = state;
    this.#host.requestUpdate();
    if (!hadFocus) return;
    // The pressed button may have been removed, and focus must not fall back to the page.
    void this.#host.updateComplete.then(() => {
      if (!shadowRoot.activeElement) shadowRoot.querySelector<HTMLElement>('.wallets')?.focus();
    });
  }
}

/** The payment, if it can be paid at this moment. */
function payableOf(progress: Progress | undefined): Payment | undefined {
  if (!progress) return undefined;
  const { state } = progress;
  const isOpen = state.name === 'awaiting-funds' || state.name === 'partially-paid';
  return isOpen && !isTimeUp(progress) ? state.payment : undefined;
}
