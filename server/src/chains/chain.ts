/** What a blockchain network is to the scanner, simulated or real. */

/** A transfer of an asset to one address; a transaction may hold several. */
export interface ChainTransfer {
  readonly txHash: string;
  /** Which output, log or transfer of the transaction. */
  readonly outputIndex: number;
  /** Currency code, such as USDT. Assets that are not configured are not reported. */
  readonly currency: string;
  /** Where from, as far as the chain tells. */
  readonly senders: readonly string[];
  /** The receiving address, in the form that is shown to payers. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
}

export interface ChainHead {
  readonly height: number;
  readonly hash: string;
}

export interface ChainBlock extends ChainHead {
  readonly parentHash: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly transfers: readonly ChainTransfer[];
}

/** One network. Every call may fail when the node does; the scanner tries again. */
export interface Chain {
  readonly network: string;
  head(signal: AbortSignal): Promise<ChainHead>;
  /** The block at a height of the best chain, or undefined above its head. */
  block(height: number, signal: AbortSignal): Promise<ChainBlock | undefined>;
  /** Transfers that are known but in no block yet. */
  pending(signal: AbortSignal): Promise<readonly ChainTransfer[]>;
}

/** Where a network's deposit addresses come from. */
export interface AddressSource {
  /** Networks of one family share keys, so an address of one may be paid on another. */
  readonly family: string;
  /** The address of a child index of the extended public key. */
  derive(index: number): string;
  /** The address in its canonical form, or undefined where it is none for this network (checksum included). */
  parse(address: string): string | undefined;
}
