/** What a view returns for a state, and what it gets from the element. */
import type { nothing, TemplateResult } from 'lit';
import type { Action, TrackedState } from '../checkout/state.js';
import type { MessageKey } from '../messages/en.js';

export interface View {
  readonly heading: string;
  /** The state in one sentence. Screen readers announce it when it changes. */
  readonly sentence: string;
  readonly content?: TemplateResult | undefined;
  /** The main button. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** True while the pressed action is being carried out. */
  readonly isBusy?: boolean;
  readonly canGoBack?: boolean;
  readonly canCancel?: boolean;
  /** An icon for the outcome. */
  readonly badge?: 'success' | 'failure' | 'waiting' | undefined;
}

/** What can be copied. */
export type Copyable = 'amount' | 'address' | 'log' | 'receipt';

/**
 * Ways to pay from a wallet on this device, shown between the address and the QR code. The element loads what draws them
 * when the price is locked. Undefined until then, and where there is none.
 */
export type WalletPanel = (state: TrackedState, context: ViewContext) => TemplateResult | typeof nothing;

/** What views need besides the state: texts, formats, and the functions that buttons call. */
export interface ViewContext {
  readonly text: (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;
  /** Formats an amount in `currency` for reading. */
  readonly money: (value: number | string, currency: string) => string;
  readonly locale: string | undefined;
  /** Milliseconds until the deadline, at least 0; undefined if there is no deadline. */
  readonly remainingMs: number | undefined;
  readonly redirectSeconds: number | undefined;
  readonly redirectUrl: string | undefined;
  readonly hasTimeLog: boolean;
  /** What was just copied. */
  readonly copied: Copyable | undefined;
  /** Draws a QR code. Undefined until it is loaded; `failed` if it could not be loaded. */
  readonly drawQr: ((text: string, label: string) => TemplateResult) | 'failed' | undefined;
  readonly walletPanel: WalletPanel | undefined;
  readonly dispatch: (action: Action) => void;
  readonly start: () => void;
  readonly refresh: () => void;
  readonly cancel: () => void;
  readonly stay: () => void;
  readonly leave: () => void;
  readonly copy: (what: Copyable, text: string, notice: string) => void;
}
