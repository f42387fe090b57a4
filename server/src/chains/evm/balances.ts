/**
 * Finds native coins that a contract sent to a deposit address, such as a withdrawal from an exchange's batch contract or a
 * smart account. No list of a block's transactions or logs has them, but the balance rises: what it rose by in a block, less
 * what the block's transactions sent to the address themselves, came from inside a contract.
 *
 * It is computed from one block and its parent alone. So it is the same whenever and however often the block is read, and
 * cannot be counted twice together with a normal transfer in the same block.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { ChainTransfer } from '../chain.js';
import type { NodeClient, RpcCall } from '../rpc/node-client.js';
import { NodeError, RpcFailure } from '../rpc/node-error.js';
import { toUnits } from './assets.js';
import type { EvmAsset } from './config.js';
import type { Dialect } from './dialect.js';
import { quantityOf, type EvmBlock } from './replies.js';
import { nativeIndex } from './transfers.js';

/** The most addresses per block: one call reads the balances of this many. */
export const mostAddresses = 500;

/** Balances by address in lower-case hex; undefined if the node no longer has the state of the block. */
export type Balances = ReadonlyMap<string, bigint> | undefined;

/**
 * Contract code that is only ever executed by `eth_call`, never deployed: it answers with the balances of the addresses
 * that follow it, 20 bytes each, as 32 bytes each.
 *
 *     push 0, push 41                     p = 0, s = 41
 *     loop: if s >= codesize goto end
 *     codecopy(p, s, 20)                  the address, in the upper bytes of the word at p
 *     mstore(p, balance(mload(p) >> 96))
 *     s += 20, p += 32, goto loop
 *     end: return(0, p)
 */
const readBalancesCode =
  '0x600060295b388110156024576014818339815160601c31825260140190602001906004565b506000f3';

/** The call that reads the balances of up to `mostAddresses` as they were after a block. */
export function balancesCall(addresses: readonly string[], blockHash: string): RpcCall {
  const data = readBalancesCode + addresses.map((address) => address.slice(2)).join('');
  return { method: 'eth_call', params: [{ data }, { blockHash }] };
}

/**
 * Reads the answer to `balancesCall`. Undefined if the node refuses it, mostly because it has dropped the block's state.
 * @throws NodeError `inconsistent` if the node does not have the block: another one, or the same one later, can answer
 */
export function parseBalances(addresses: readonly string[], answer: unknown): Balances {
  if (answer instanceof RpcFailure) {
    if (isUnknownBlock(answer)) throw new NodeError('inconsistent', answer.message);
    return undefined;
  }
  if (
    typeof answer !== 'string' ||
    !/^0x[0-9a-f]*$/i.test(answer) ||
    answer.length !== 2 + addresses.length * 64
  ) {
    throw new NodeError('garbage', 'A node answered with balances of another number of addresses');
  }
  return new Map(
    addresses.map((address, index) => [
      address,
      quantityOf(`0x${answer.slice(2 + index * 64, 2 + (index + 1) * 64)}`),
    ]),
  );
}

/** Geth says "missing trie node … not found" for a state that it has dropped, and "header not found" for an unknown block. */
function isUnknownBlock({ message }: RpcFailure): boolean {
  if (/trie|state/i.test(message)) return false;
  return /(header|block)\b.*\bnot found|unknown block|not (currently )?canonical/i.test(message);
}

/** Reads the balances after several blocks at once. */
export async function readBalances(
  node: NodeClient,
  addresses: readonly string[],
  blockHashes: readonly string[],
  signal: AbortSignal,
): Promise<Balances[]> {
  const answers = await node.batch(
    blockHashes.map((hash) => balancesCall(addresses, hash)),
    signal,
  );
  return answers.map((answer) => parseBalances(addresses, answer));
}

export interface BalanceChange {
  readonly block: EvmBlock;
  /** After the block's parent, and after the block. */
  readonly before: ReadonlyMap<string, bigint>;
  readonly after: ReadonlyMap<string, bigint>;
  /** The native transfers of the block that were found in its transactions. */
  readonly transfers: readonly ChainTransfer[];
}

/**
 * The coins that contracts sent in a block. Such a transfer has no transaction hash and no index of its own. Its `txHash` is
 * the block's hash, and its `outputIndex` is negative and follows from the address.
 */
export function transfersInContracts(
  { block, before, after, transfers }: BalanceChange,
  native: EvmAsset,
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
        currency: native.currency,
        senders: [],
        address,
        amount: toUnits(amount, native),
      };
    });
}

function isCounted(hash: string, transfers: readonly ChainTransfer[], dialect: Dialect): boolean {
  const txHash = dialect.writeHash(hash);
  return transfers.some((transfer) => transfer.txHash === txHash && transfer.outputIndex === nativeIndex);
}

/** -1 - n, with 30 bits of the address's hash as n: unique in practice among the addresses that are paid in one block. */
function contractIndex(address: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = keccak_256(utf8ToBytes(address));
  return -1 - (((a & 63) << 24) | (b << 16) | (c << 8) | d);
}
