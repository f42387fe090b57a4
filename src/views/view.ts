/** A view's result for a state, and its input from the element. */
import type { nothing, TemplateResult } from 'lit';
import type { Action, Choice, TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import type { MessageKey } from '../messages/en.js';
import type { TextValues } from '../messages/plural.js';
import type { drawQr } from './qr-code.js';

export interface View {
  readonly heading: string;
  /** The state in one sentence. Screen readers announce it when it changes. */
  readonly sentence: string;
  /** True if the heading and the text below it say the same already: the sentence is only for screen readers. */
  readonly isOnlySpoken?: boolean;
  /** The time left, next to the heading. */
  readonly time?: TemplateResult | typeof nothing;
  readonly content?: TemplateResult | undefined;
  /** In a second column on wide screens, below the order on narrow ones. */
  readonly side?: TemplateResult | typeof nothing;
  /** The main button. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** Below the main button. */
  readonly more?: TemplateResult | undefined;
  /** True while the pressed action is being carried out. */
  readonly isBusy?: boolean;
  readonly canGoBack?: boolean;
  readonly canCancel?: boolean;
  /** True if the payer may change to another coin, which starts a new payment. */
  readonly canRestart?: boolean;
  /** An icon for the outcome. */
  readonly badge?: TemplateResult;
}

/** The values that can be copied. */
export type Copyable = 'amount' | 'address' | 'log' | 'id' | 'message' | 'link';
/** The action that the payer is asked to confirm. */
export type Question = 'cancel' | 'restart' | 'again';
/** The parts that the payer can fold away. */
export type Panel = 'qr' | 'exchange' | 'log' | 'details' | 'phone' | 'transfer';

/** The views that a payer needs after the QR code, or on another visit. They load automatically. */
export interface AfterQrViews {
  readonly timeUpView: (state: TrackedState, context: ViewContext) => View;
  readonly confirmingView: (state: TrackedState, context: ViewContext) => View;
  readonly endedView: (state: TrackedState, context: ViewContext) => View;
  readonly wrongAssets: (state: TrackedState, context: ViewContext) => TemplateResult[];
  readonly phonePanel: (payment: Payment, context: ViewContext) => TemplateResult | typeof nothing;
  readonly exchangeHelp: (payment: Payment, context: ViewContext) => TemplateResult;
  /** The rate and the fee. */
  readonly priceFacts: (payment: Payment, context: ViewContext) => TemplateResult;
  /** The transfer check and the time log. */
  readonly help: (state: TrackedState, context: ViewContext) => TemplateResult;
  /** The text that could not be copied, to copy by hand. */
  readonly copyField: (context: ViewContext) => TemplateResult | typeof nothing;
  readonly questionPanel: (question: Question, context: ViewContext) => TemplateResult;
}

/**
 * Ways to pay from a wallet on this device, shown between the address and the QR code. The element loads what draws
 * them when the price is locked. Undefined until then, and if there is none.
 */
export type WalletPanel = (state: TrackedState, context: ViewContext) => TemplateResult | typeof nothing;

/** Further input of the pay button, in addition to the state. */
export interface FirstContext {
  readonly text: (key: MessageKey, values?: TextValues) => string;
  /** Formats an amount in `currency` for reading. */
  readonly money: (value: number | string, currency: string) => string;
  /** True if the coins are simulated or worthless. */
  readonly isTest: boolean;
  /** Empty if the page hides the branding, or nothing is known of the shop. */
  readonly merchantName: string;
  /** The order's price, formatted for reading; undefined if the page does not give it. */
  readonly total: string | undefined;
  /** False if the page is set up in a way that no payment can start. */
  readonly canStart: boolean;
  readonly start: () => void;
  /** The coins for the pay button's card; undefined until they are known. */
  readonly offer: TemplateResult | undefined;
}

/** Further input of views: texts, formats, and the functions that buttons call. */
export interface ViewContext extends FirstContext {
  /** Formats a time of day for reading, from epoch milliseconds or ISO 8601. */
  readonly clock: (time: number | string, withSeconds?: boolean) => string;
  readonly locale: () => string | undefined;
  /** Milliseconds until the deadline, at least 0; undefined if there is no deadline. */
  readonly remainingMs: number | undefined;
  readonly redirectSeconds: number | undefined;
  readonly redirectUrl: string | undefined;
  readonly hasTimeLog: boolean;
  /** The item just copied. */
  readonly copied: Copyable | undefined;
  /** The result of the last "Check now"; empty before the first one. */
  readonly checkResult: string;
  /** True if the last poll failed. */
  readonly isReconnecting: boolean;
  readonly question: Question | undefined;
  /** True while the server is asked to cancel the payment. */
  readonly isCancelling: boolean;
  /** The coin and network that this browser paid with last time. */
  readonly lastChoice: Choice | undefined;
  /** True if the payer may start a new payment. */
  readonly canStartAgain: boolean;
  /** True if the order can have another payment after this one. */
  readonly hasNext: boolean;
  /** Draws a QR code. Undefined until it is loaded; `failed` if it could not be loaded. */
  readonly drawQr: typeof drawQr | 'failed' | undefined;
  /** Undefined until they are loaded. */
  readonly afterQr: AfterQrViews | undefined;
  /** Its code could not be loaded. */
  readonly hasAfterQrFailed: boolean;
  readonly walletPanel: WalletPanel | undefined;
  /** True if the element has room for two columns. */
  readonly isWide: boolean;
  /** True on phones and tablets, which have the payer's wallet on them. */
  readonly isTouch: boolean;
  readonly isOpen: (panel: Panel) => boolean;
  readonly setOpen: (panel: Panel, isOpen: boolean) => void;
  readonly dispatch: (action: Action) => void;
  readonly restart: () => void;
  /** Asks the server now, and says what it found. */
  readonly check: () => void;
  readonly cancel: () => void;
  /** Asks before something that cannot be undone; undefined removes the question. */
  readonly ask: (question: Question | undefined) => void;
  readonly stay: () => void;
  readonly leave: () => void;
  /**
   * Opens a wallet app by its link.
   * @param text to copy into the wallet instead, if none opens
   */
  readonly openWallet: (link: string, text?: string) => void;
  readonly copy: (what: Copyable, text: string, notice: string) => void;
}

/** True if time is up, from when the countdown shows 0:00: nothing may be shown then that somebody could still pay. */
export function isTimeUp({ remainingMs }: Pick<ViewContext, 'remainingMs'>): boolean {
  return remainingMs !== undefined && remainingMs < 1000;
}
