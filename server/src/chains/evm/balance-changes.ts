/**
 * Finds coins that a contract sent to a deposit address, such as a withdrawal from an exchange's batch contract or a
 * smart account. No list of a block's transactions or logs has them, but the balance rises: what it rose by in a block, less
 * what the block's transactions sent to the address themselves, came from inside a contract.
 *
 * It is computed from one block and its parent alone. So it is the same whenever and however often the block is read, and
 * cannot be counted twice together with a normal transfer in the same block.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { fromChain, type ChainAsset } from '../assets.js';
import type { ChainTransfer } from '../chain.js';
import type { Dialect } from './dialect.js';
import type { EvmBlock } from './replies.js';
import { coinIndex } from './transfers.js';

/** By address in lower-case hex. */
export type Balances = ReadonlyMap<string, bigint>;

export interface BalanceChange {
  readonly block: EvmBlock;
  /** After the block's parent, and after the block. */
  readonly before: Balances;
  readonly after: Balances;
  /** The transfers of the coin that were found in the block's transactions. */
  readonly transfers: readonly ChainTransfer[];
}

/**
 * The coins that contracts sent in a block. Such a transfer has no transaction hash and no index of its own. Its `txHash` is
 * the block's hash, and its `outputIndex` is negative and follows from the address.
 */
export function transfersInContracts(
  { block, before, after, transfers }: BalanceChange,
  coin: ChainAsset,
  dialect: Dialect,
): ChainTransfer[] {
  const senders = new Set(block.transactions.map(({ from }) => from));
  const taken = new Set<number>();
  return [...after]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([hex, balance]) => {
      const known = before.get(hex);
      // What an address paid for its own transactions is not known exactly: layer 2 adds fees of its own.
      if (known === undefined || senders.has(hex)) return [];
      const address = dialect.writeAddress(hex);
      const explained = block.transactions
        .filter((transaction) => transaction.to === hex && isCounted(transaction.hash, transfers, dialect))
        .reduce((sum, { value }) => sum + value, 0n);
      const amount = balance - known - explained;
      if (amount <= 0n) return [];
      let outputIndex = contractIndex(address);
      while (taken.has(outputIndex)) outputIndex -= 1;
      taken.add(outputIndex);
      return {
        txHash: dialect.writeHash(block.hash),
        outputIndex,
        currency: coin.currency,
        senders: [],
        address,
        amount: fromChain(coin, amount),
      };
    });
}

function isCounted(hash: string, transfers: readonly ChainTransfer[], dialect: Dialect): boolean {
  const txHash = dialect.writeHash(hash);
  return transfers.some((transfer) => transfer.txHash === txHash && transfer.outputIndex === coinIndex);
}

/** -1 - n, with 30 bits of the address's hash as n: unique in practice among the addresses that are paid in one block. */
function contractIndex(address: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = keccak_256(utf8ToBytes(address));
  return -1 - (((a & 63) << 24) | (b << 16) | (c << 8) | d);
}
