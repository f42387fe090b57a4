/**
 * The differences between Tron and the Ethereum that its JSON-RPC imitates: addresses are T… (Base58Check of 41 and
 * 20 bytes), hashes have no 0x, and many contracts look like a transfer of the native coin. Sources: java-tron's
 * `JsonRpcApiUtil` and https://developers.tron.network/reference/json-rpc-api-overview.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import * as z from 'zod/mini';
import type { EvmClient } from '../evm/client.js';
import type { ContractMove, Dialect } from '../evm/dialect.js';
import type { EvmTransaction } from '../evm/replies.js';
import { isObject } from '../rpc/node-client.js';
import { NodeError } from '../rpc/node-error.js';

const base58check = createBase58check(sha256);
/** The first byte of every address on the main network and on Nile. */
const prefix = 0x41;

/** T… from 0x and 40 digits. */
export function toTronAddress(evmAddress: string): string {
  return base58check.encode(Uint8Array.of(prefix, ...hex.decode(evmAddress.slice(2))));
}

/** 0x and 40 lower-case digits from T…, or from 41 and 40 digits; undefined if it is neither. */
export function toEvmAddress(text: string): string | undefined {
  if (/^41[0-9a-f]{40}$/i.test(text)) return `0x${text.slice(2).toLowerCase()}`;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === 21 && bytes[0] === prefix ? `0x${hex.encode(bytes.subarray(1))}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Addresses and contracts are T…, transaction and block hashes are without 0x, and TRX has 6 decimals. Nodes are base URLs, such
 * as https://api.trongrid.io: JSON-RPC is at `/jsonrpc` below, the HTTP API at `/wallet`. The chain id is the last 4 bytes of the
 * genesis block's hash: 728126428 for the main network, 3448148188 for Nile.
 */
export const tronDialect: Dialect = {
  jsonRpcUrl(node) {
    if (!URL.canParse(node)) return node;
    const url = new URL(node);
    url.pathname = url.pathname.replace(/(\/jsonrpc)?\/?$/, '/jsonrpc');
    return url.href;
  },
  writeAddress: toTronAddress,
  askedAddress: toTronAddress,
  readAddress: toEvmAddress,
  writeHash: (hash) => hash.slice(2),
  hasPending: false,
  // Balances and calls are answered for the newest block only.
  hasBalancesAtBlock: false,

  /**
   * JSON-RPC shows the amount of a TRC-10 transfer, the votes of a vote and more as `value`, as if it were TRX. Only
   * the HTTP API has the kind of a transaction.
   */
  async confirmNative(evm, transactions) {
    const confirmed = new Set<string>();
    for (const transaction of transactions) {
      if (await isTrxTransfer(evm, transaction)) confirmed.add(transaction.hash);
    }
    return confirmed;
  },

  /** Its receipt in JSON-RPC has the price of all energy, as if nothing of it was staked, and no bandwidth. */
  async cost(evm, txHash) {
    const id = txHash.slice(2);
    const info = await evm.post('wallet/gettransactioninfobyid', { value: id });
    if (!isObject(info) || info['id'] !== id || hasFailed(info)) return undefined;
    // Left out if it was free.
    const fee = info['fee'] ?? 0;
    return Number.isSafeInteger(fee) ? { fee: BigInt(Number(fee)), payer: undefined } : undefined;
  },

  async contractMoves(evm, { height, transactions }) {
    // Some providers do not offer it, and nodes behind a balancer that lack the block answer with an empty list.
    const reported = await evm.offers.contractMoves(async () => {
      const found = await unlessRefusing(evm.post('wallet/gettransactioninfobyblocknum', { num: height }));
      return Array.isArray(found) && found.length >= transactions.length ? (found as unknown[]) : undefined;
    });
    if (reported.kind === 'unsupported') return undefined;
    if (reported.kind === 'failed') {
      throw new NodeError(
        'inconsistent',
        `${evm.name} does not show now what contracts sent in block ${height}`,
      );
    }
    const hashes = new Set(transactions.map(({ hash }) => hash));
    return reported.value.filter(isObject).flatMap((info) => {
      const txHash = `0x${String(info['id'])}`;
      // It is asked for by height. In another block at this height, there are other transactions.
      if (!hashes.has(txHash)) {
        throw new NodeError(
          'inconsistent',
          `${evm.name} has other transactions of block ${height} in its HTTP API`,
        );
      }
      return hasFailed(info) ? [] : movesOf(txHash, info['internal_transactions']);
    });
  },
};

/** The answer of the HTTP API; undefined if the node refuses it. */
async function unlessRefusing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NodeError && error.fault === 'refused') return undefined;
    throw error;
  }
}

function hasFailed(info: Readonly<Record<string, unknown>>): boolean {
  const receipt = isObject(info['receipt']) ? info['receipt'] : {};
  return info['result'] === 'FAILED' || (receipt['result'] ?? 'SUCCESS') !== 'SUCCESS';
}

/** `call` and `suicide` in hex. Other internal transactions, such as a delegated call, move nothing. */
const movingNotes = new Set(['63616c6c', '73756963696465']);

/**
 * The place is counted among calls and suicides only: nodes with `vm.saveFeaturedInternalTx` list freezes, votes and the like in
 * between, and each node must give a payment the same key.
 */
function movesOf(txHash: string, list: unknown): ContractMove[] {
  const moving = (Array.isArray(list) ? (list as unknown[]) : [])
    .filter(isObject)
    .filter(({ note }) => movingNotes.has(String(note)));
  return moving.flatMap((entry, place) => {
    if (entry['rejected'] === true) return [];
    const to = toEvmAddress(String(entry['transferTo_address']));
    const from = toEvmAddress(String(entry['caller_address']));
    if (to === undefined || from === undefined || from === to) return [];
    const values = Array.isArray(entry['callValueInfo']) ? (entry['callValueInfo'] as unknown[]) : [];
    // A value with a token's id is of that token. Several values of TRX are not possible.
    const value = values.find((info) => isObject(info) && info['tokenId'] === undefined);
    const amount = isObject(value) ? value['callValue'] : undefined;
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount <= 0) return [];
    return { txHash, place, from, to, amount: BigInt(amount) };
  });
}

/** Contracts of other types have parameters of their own, and some nodes show none for a type that they do not know. */
const anyTransaction = z.object({
  raw_data: z.object({ contract: z.array(z.object({ type: z.string() })) }),
});
const trxTransfer = z.object({
  raw_data: z.object({
    contract: z.array(
      z.object({
        parameter: z.object({
          value: z.object({ amount: z.int(), to_address: z.string(), owner_address: z.string() }),
        }),
      }),
    ),
  }),
  ret: z.array(z.object({ contractRet: z.string() })),
});

async function isTrxTransfer(evm: EvmClient, { hash, from, to, value }: EvmTransaction): Promise<boolean> {
  const id = hash.slice(2);
  const answer = await evm.post('wallet/gettransactionbyid', { value: id });
  if (!isObject(answer) || answer['txID'] !== id) {
    throw new NodeError('inconsistent', `${evm.name} has a transaction in JSON-RPC, but not in its HTTP API`);
  }
  const type = anyTransaction.safeParse(answer).data?.raw_data.contract[0]?.type;
  if (type === undefined) {
    throw new NodeError('garbage', `${evm.name} answered with a transaction without a contract`);
  }
  const { raw_data: raw, ret } =
    (type === 'TransferContract' ? trxTransfer.safeParse(answer).data : undefined) ?? {};
  const transfer = raw?.contract[0]?.parameter.value;
  return (
    transfer !== undefined &&
    ret?.[0]?.contractRet === 'SUCCESS' &&
    BigInt(transfer.amount) === value &&
    toEvmAddress(transfer.to_address) === to &&
    toEvmAddress(transfer.owner_address) === from
  );
}
