/** What a network is, and what can be paid on it. */
import type { Mode } from '../shared/scope.js';

/** How a network writes its addresses. Networks of one family share their deposit keys. */
export type Family = 'bitcoin' | 'litecoin' | 'evm' | 'tron';

/** A network. Its mode and code together identify it: a code may stand for a test network and for a real one. */
export interface Network {
  readonly mode: Mode;
  readonly code: string;
  readonly name: string;
  readonly family: Family;
  /** How many a receipt needs to count. */
  readonly confirmations: number;
  /** By currency code. */
  readonly assets: Readonly<Record<string, Asset>>;
}

/** A currency on a network. Amounts are plain decimals in it. */
export interface Asset {
  /** The smallest payable amount. */
  readonly minAmount: string;
  /** What a merchant pays for a withdrawal. */
  readonly withdrawalFee: string;
  readonly contract?: string;
}
