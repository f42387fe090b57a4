/** The interface between reconciliation and the nodes of a network: what addresses hold. */
import type { ChainAsset } from './assets.js';
import type { ChainHead } from './chain.js';

export interface AskedBalance {
  /** In canonical form. */
  readonly address: string;
  readonly asset: ChainAsset;
}

/** Balances after one block, from one node. */
export interface BalanceReading {
  /** `node 1` for the first of the configuration. */
  readonly node: string;
  readonly height: number;
  readonly hash: string;
  /** As the chain counts them, in the order asked. */
  readonly amounts: readonly bigint[];
}

export interface Spending {
  /** How many transactions the address had sent after the block. */
  readonly sent: number;
  readonly amount: bigint;
  /** The height of the first of those transactions. */
  readonly from: number;
}

export interface BalanceSource {
  /** How many nodes are configured. */
  readonly nodes: number;
  /** How many addresses a node tells at little cost. */
  readonly pageSize: number;
  /**
   * Reads balances after a block, or after the newest one if the node does not tell older ones.
   * @param except the node not to ask, if there is another
   * @throws NodesUnavailable
   */
  read(
    asked: readonly AskedBalance[],
    at: ChainHead,
    except: string | undefined,
    signal: AbortSignal,
  ): Promise<BalanceReading>;
  /** The same after a block by its height, which may be old; undefined if no node has its state. */
  readOld(
    asked: readonly AskedBalance[],
    height: number,
    except: string | undefined,
    signal: AbortSignal,
  ): Promise<BalanceReading | undefined>;
  /** How many transactions an address has sent; undefined if nodes do not tell. @throws NodesUnavailable */
  sent(address: string, signal: AbortSignal): Promise<number | undefined>;
  /**
   * What an address, an account, has sent of the coin up to a block, with the fees, in all transactions but its first ones;
   * undefined if the nodes do not tell.
   * @param since how many transactions are left out
   * @throws NodesUnavailable
   */
  spending(
    address: string,
    since: number,
    upTo: Pick<BalanceReading, 'height' | 'hash'>,
    signal: AbortSignal,
  ): Promise<Spending | undefined>;
  /** When a block was made, and its hash. @throws NodesUnavailable */
  blockAt(
    height: number,
    signal: AbortSignal,
  ): Promise<{ readonly hash: string; readonly parentHash: string; readonly time: number } | undefined>;
}
