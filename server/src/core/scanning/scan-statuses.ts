/** The state of each network's scan. Payments read it, and the scanner, which is made after them, writes it. */
import type { NetworkRef } from '../chains/chain.js';
import type { ChainCursorRow } from '../db/schema.js';

export interface NetworkStatus extends NetworkRef {
  /** The last scanned height; undefined before the first scan. */
  readonly height: number | undefined;
  /** The chain's newest block at the last scan. */
  readonly headHeight: number | undefined;
  /** The time that the scan, or the chain itself, is behind real time, for any scanning process; undefined before the first scan. */
  readonly lagMs: number | undefined;
  /** True if a node is on another chain, and no other one can be used, for any process that found it. */
  readonly isWrongChain: boolean;
  /** Blocks that were read without an asset. */
  readonly gaps: ChainCursorRow['gaps'];
  /** True if this process's last scan failed. */
  readonly isFailing: boolean;
  /** The contradictions between its nodes about receipts, which are not credited meanwhile. */
  readonly disagreement: string | undefined;
  /** Why it waits, if its nodes work but have fewer blocks than were read; after a while also what to do. */
  readonly problem: string | undefined;
}

export type ScanStatuses = ReturnType<typeof createScanStatuses>;

export const keyOf = ({ mode, network }: NetworkRef): string => `${mode}/${network}`;

export function createScanStatuses() {
  const statuses = new Map<string, () => NetworkStatus>();
  return {
    /** @param key of `keyOf` */
    add: (key: string, status: () => NetworkStatus) => void statuses.set(key, status),
    all: (): NetworkStatus[] => [...statuses.values()].map((status) => status()),
    /** Undefined if the network is not scanned. */
    of: (network: NetworkRef): NetworkStatus | undefined => statuses.get(keyOf(network))?.(),
  };
}
