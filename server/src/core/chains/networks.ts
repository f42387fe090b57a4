/** Networks, and the assets that can be paid on them. */
import type { Family } from 'crypto-checkout/contract';
import type { Mode } from '../shared/scope.js';

export type { Family };

/** The networks of a family that an address is for. Only Bitcoin and Litecoin write addresses differently on each. */
export type AddressNet = 'main' | 'test' | 'regtest';

/** A network, identified by mode and code together: a test network and a real one can share a code. */
export interface Network {
  readonly mode: Mode;
  readonly code: string;
  readonly name: string;
  readonly family: Family;
  /** Main in live mode and test in test mode, if it is not given. */
  readonly addressNet?: AddressNet;
  /** The number of confirmations that a receipt of a small amount needs to count. */
  readonly confirmations: number;
  /** Confirmations by value. If absent, `confirmations` applies to all amounts. See `payments/depth.ts`. */
  readonly depths?: readonly DepthRule[] | undefined;
  /** The usual time until a block is final, for networks where large amounts wait for that. */
  readonly finalitySeconds?: number | undefined;
  /** Receipts worth more than this count only when two nodes have confirmed them. No receipt needs it if it is absent. */
  readonly crossCheckAbove?: Worth;
  /** See `inclusionHoursOf`. */
  readonly inclusionHours?: number | undefined;
  /** The page of a transaction in a block explorer, with `{txHash}` for its hash; none if absent. */
  readonly explorer?: string | undefined;
  /** The details that wallets in the payer's browser need. Only EVM networks with real nodes have them. */
  readonly evm?: EvmNetwork | undefined;
  /** The page of a block in a block explorer, with `{height}`; none if absent. */
  readonly blockExplorer?: string | undefined;
  /** The usual time between two blocks, which payers see. Absent on test networks, where nothing is usual. */
  readonly blockSeconds?: number;
  /** The usual fee for a payer's transaction; unknown if absent. */
  readonly networkFee?: NetworkFee | undefined;
  /** Keyed by currency code. The network's own coin comes first. */
  readonly assets: Readonly<Record<string, Asset>>;
}

/** The page of a transaction in the network's block explorer; empty if it has none. */
export function transactionPage(network: Network | undefined, txHash: string): string {
  return network?.explorer?.replace('{txHash}', encodeURIComponent(txHash)) ?? '';
}

/** An amount of any currency that has a rate, as a decimal. */
export interface Worth {
  readonly amount: string;
  readonly currency: string;
}

/** A number of confirmations, or null: until the block is final. */
export type Depth = number | null;

/** The first rule whose limit an amount does not exceed holds for it. The last one has none. */
export interface DepthRule {
  readonly upTo?: Worth | undefined;
  readonly confirmations: Depth;
}

/**
 * The hours after a payment's deadline within which a transaction that was seen before it may get into a block.
 * Later, it is priced as late.
 */
export function inclusionHoursOf(network: Pick<Network, 'inclusionHours'> | undefined): number {
  return network?.inclusionHours ?? 6;
}

const dayInSeconds = 86_400;

/** The approximate number of blocks in a day, within which the balances of all addresses are compared with the nodes. */
export function blocksOfDay({ blockSeconds = 12 }: Pick<Network, 'blockSeconds'>): number {
  return Math.ceil(dayInSeconds / blockSeconds);
}

/** In US dollars, as a rule of thumb: it orders networks, and nothing is paid by it. */
export interface NetworkFee {
  /** For the network's own coin. */
  readonly coin: number;
  /** For a token; the same as for the coin if absent. */
  readonly token?: number | undefined;
}

const costlyAbove = 0.25;

/** The information about a network that payers see before they send on it. */
export function usageOf(
  network: Pick<Network, 'blockSeconds' | 'networkFee'> & { readonly assets: object },
  currency: string,
) {
  const { blockSeconds, networkFee, assets } = network;
  if (blockSeconds === undefined) return {};
  if (networkFee === undefined) return { blockSeconds, isCostly: false };
  const [coin] = Object.keys(assets);
  const fee = currency === coin ? networkFee.coin : (networkFee.token ?? networkFee.coin);
  return { blockSeconds, isCostly: fee > costlyAbove, networkFee: fee };
}

export interface EvmNetwork {
  readonly chainId: number;
  /** Code of the network's own coin, in which its fees are paid. */
  readonly coin: string;
  /** A JSON-RPC URL that everybody may use, for wallets that do not know the network. */
  readonly rpcUrl?: string | undefined;
}

/** A currency on a network. Amounts are plain decimals in that currency. */
export interface Asset {
  /** The smallest payable amount. */
  readonly minAmount: string;
  /** The merchant's fee for a withdrawal. */
  readonly withdrawalFee: string;
  readonly contract?: string | undefined;
  /** Decimals of the amounts on the chain. Real networks have it; the books can have other ones. */
  readonly decimals?: number;
}
