/** The differences between EVM networks and those that only answer like one. */
import { addressFormat } from '../../../core/addresses/formats.js';
import type { TransactionCost } from '../../../core/chains/chain.js';
import type { EvmClient } from './client.js';
import type { EvmBlock, EvmTransaction } from './replies.js';

/** A transfer of the coin by a contract. Hashes and addresses are lower-case hex with 0x. */
export interface ContractMove {
  readonly txHash: string;
  /** Its place among the transfers that the transaction's contracts made. */
  readonly place: number;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

export interface Dialect {
  /** The URL of a node's JSON-RPC, from the one in the configuration. Invalid URLs are refused at connection. */
  jsonRpcUrl(node: string): string;
  /** The address as payers see it, from 0x and 40 lower-case digits. */
  writeAddress(hex: string): string;
  /**
   * The form in which a query asks if an address is a deposit address. If the form for payers takes long to compute
   * and differs only in upper and lower case, it is the one in lower case.
   */
  askedAddress(hex: string): string;
  /** 0x and 40 lower-case digits; undefined if the text is not an address. */
  readAddress(text: string): string | undefined;
  /** A transaction's or block's hash as explorers show it, from 0x and 64 lower-case digits. */
  writeHash(hex: string): string;
  /** True if nodes report transactions that are not in a block yet. */
  readonly hasPending: boolean;
  /** True if balances can be read as they were after a block, many in one call. */
  readonly hasBalancesAtBlock: boolean;
  /**
   * The coins that contracts sent in a block, for networks whose nodes report them; undefined if this node does not.
   */
  contractMoves?(evm: EvmClient, block: EvmBlock): Promise<readonly ContractMove[] | undefined>;
  /**
   * The cost of a transaction, for networks whose receipts do not have it; undefined if it has failed, or is in no
   * block.
   */
  cost?(evm: EvmClient, txHash: string): Promise<TransactionCost | undefined>;
  /**
   * The transactions among these that really move the coin, for networks that show other things as its transfers.
   * Undefined if all of them do.
   */
  confirmNative?(evm: EvmClient, transactions: readonly EvmTransaction[]): Promise<ReadonlySet<string>>;
}

const format = addressFormat('live', 'evm');

export const evmDialect: Dialect = {
  jsonRpcUrl: (node) => node,
  writeAddress: (hex) => format.read(hex) ?? hex,
  askedAddress: (hex) => hex,
  readAddress: (text) => format.read(text)?.toLowerCase(),
  writeHash: (hex) => hex,
  hasPending: true,
  hasBalancesAtBlock: true,
};
