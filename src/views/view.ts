/** What a view is: the words and the content for one state, which the element puts into its frame. */
import type { TemplateResult } from 'lit';
import type { MessageKey } from '../messages/en.js';
import type { Happening } from '../state.js';

export interface View {
  readonly heading: string;
  /** The state in one sentence; it is spoken when it changes. */
  readonly sentence: string;
  readonly content?: TemplateResult | undefined;
  /** The one main action. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** True while the server is asked to do what was pressed. */
  readonly isBusy?: boolean;
  readonly canGoBack?: boolean;
  readonly canCancel?: boolean;
  /** A picture for the outcome. */
  readonly badge?: 'success' | 'failure' | 'waiting' | undefined;
}

/** What can be copied. */
export type Copyable = 'amount' | 'address' | 'log' | 'receipt';

/** What views show besides the state, and what their buttons call. */
export interface ViewContext {
  readonly text: (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;
  /** The amount for reading, as `value` in `currency`. */
  readonly money: (value: number | string, currency: string) => string;
  readonly locale: string | undefined;
  /** Milliseconds until the deadline, never below 0. */
  readonly remainingMs: number | undefined;
  readonly redirectSeconds: number | undefined;
  readonly redirectUrl: string | undefined;
  readonly hasTimeLog: boolean;
  /** What was copied a moment ago. */
  readonly copied: Copyable | undefined;
  /** Draws a QR code; undefined until it is loaded, `failed` when it cannot be. */
  readonly drawQr: ((text: string, label: string) => TemplateResult) | 'failed' | undefined;
  readonly dispatch: (happening: Happening) => void;
  readonly start: () => void;
  readonly refresh: () => void;
  readonly cancel: () => void;
  readonly stay: () => void;
  readonly leave: () => void;
  readonly copy: (what: Copyable, text: string, notice: string) => void;
}
