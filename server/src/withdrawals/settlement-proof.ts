/** Checks on the chain that the merchant's own wallet has paid a transfer, before it is settled. */
import { fromUnits } from 'crypto-checkout/contract';
import { readCursor } from '../chains/cursors.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import type { Currencies } from '../money/currencies.js';
import { invalidField, invalidState } from '../shared/problem.js';
import * as store from './proof-store.js';
import { findAnyTransfer } from './transfer-store.js';

export interface ProofDeps {
  readonly reader: Reader;
  readonly currencies: Pick<Currencies, 'known'>;
  /** The real networks. On others no real money moves, and nothing is checked. */
  readonly networks: readonly Pick<ConnectedNetwork, 'network' | 'locate' | 'chainFor'>[];
}

export interface ClaimedPayment {
  /** The transfer that it is said to have paid. */
  readonly transferId: string;
  readonly txHash: string;
  /** The height of its block, for nodes that find no transaction by its hash; undefined if it was not given. */
  readonly height: number | undefined;
}

/**
 * Looks at the database again, in the transaction that settles the transfer: another command may have settled another
 * transfer with the same hash meanwhile. Problem: `validation_error`.
 */
export type Claim = (transaction: Transaction) => Promise<void>;

/**
 * Looks the transaction up and compares its address, asset, amount and depth with the transfer. What the transaction has
 * already settled counts only once. Problems: `validation_error`, `invalid_state`.
 * @throws if no node answers
 */
export async function proveSettlement(
  { reader, currencies, networks }: ProofDeps,
  { transferId, txHash, height: givenHeight }: ClaimedPayment,
  signal: AbortSignal,
): Promise<Claim> {
  const nothing: Claim = () => Promise.resolve();
  const row = await findAnyTransfer(reader, transferId);
  // The rule that settles it says so if the transfer is unknown, or settled or failed already.
  if (row?.status !== 'pending' && row?.status !== 'processing') return nothing;
  const real = networks.find(({ network }) => network.mode === row.mode && network.code === row.network);
  if (!real) return nothing;
  const { network } = real;
  const hash = txHash.trim().toLowerCase().replace(/^0x/, '');
  const height = givenHeight ?? (await real.locate(hash, signal));
  if (height === undefined) {
    throw invalidField(
      'tx-hash',
      `${network.name} does not know this transaction, or it is not in a block yet. If an explorer shows it, give its block with --block; if no node here can see it, --unverified settles the transfer without a check`,
    );
  }
  const chain = real.chainFor(new Set([row.address]));
  const [head, block] = [await chain.head(signal), await chain.block(height, signal)];
  const paid = (block?.transfers ?? []).filter(
    (transfer) =>
      transfer.address === row.address && transfer.txHash.replace(/^0x/, '').toLowerCase() === hash,
  );
  const inCurrency = paid.filter(({ currency }) => currency === row.currency);
  if (inCurrency.length === 0) {
    const others = [...new Set(paid.map(({ currency }) => currency))].join(', ');
    throw invalidField(
      'tx-hash',
      others === ''
        ? `In block ${height} of ${network.name}, this transaction pays nothing to ${row.address}`
        : `This transaction pays ${others} to ${row.address}, not ${row.currency}`,
    );
  }
  const confirmations = head.height - height + 1;
  const finalHeight = (await readCursor(reader, chain))?.final_height ?? 0;
  if (confirmations < network.confirmations && height > finalHeight) {
    throw invalidState(
      `The transaction has ${confirmations} of ${network.confirmations} confirmations; try again later`,
    );
  }
  const sum = inCurrency.reduce((total, { amount }) => total + amount, 0n);
  const ensureLeft = async (now: Reader) => {
    const used = await store.sumSettledBy(now, row, hash);
    if (sum - used < BigInt(row.amount)) throw invalidField('tx-hash', tooLittle(row, sum, used, currencies));
  };
  await ensureLeft(reader);
  return async (transaction) => {
    await store.lockTransfersTo(transaction, row);
    await ensureLeft(transaction);
  };
}

function tooLittle(
  row: TransferTable,
  sum: bigint,
  used: bigint,
  currencies: ProofDeps['currencies'],
): string {
  const { decimals } = currencies.known(row.currency);
  const amountOf = (units: bigint) => `${fromUnits(units, decimals)} ${row.currency}`;
  const before = used === 0n ? '' : `, of which ${amountOf(used)} have settled other transfers`;
  return `The transaction pays ${amountOf(sum)} to ${row.address}${before}; the transfer is ${amountOf(BigInt(row.amount))}`;
}
