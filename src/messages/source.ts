/** The parts of a language, each loaded when it is needed. */
import type { PriceStyle } from '../money/price.js';
import type { AfterQrMessages, en, FirstMessages, TransferMessages } from './en.js';

/** The English line below the pay button ships with its code. */
export type LoadedMessages = Partial<FirstMessages> & Pick<FirstMessages, keyof typeof en>;

export interface Source {
  readonly first: () => Promise<{
    readonly texts: LoadedMessages;
    /** By tag: languages without a region, and the regions that they stand for. */
    readonly prices?: Readonly<Record<string, PriceStyle>>;
  }>;
  readonly afterQr: () => Promise<{ readonly texts: AfterQrMessages }>;
  readonly isRtl?: boolean;
  /** Used if the browser has no numbers and times for the language itself. */
  readonly locale?: string;
}

export type TransferSource = () => Promise<{ readonly texts: TransferMessages }>;
