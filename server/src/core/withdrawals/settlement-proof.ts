/** Checks on the chain that the merchant's own wallet has paid a transfer, before it is settled. */
import { fromUnits } from 'crypto-checkout/contract';
import { coinOf, fromChain } from '../chains/assets.js';
import type { ConnectedNetwork } from '../chains/connected.js';
import type { Network } from '../chains/networks.js';
import { readCursor, readScannedHash } from '../scanning/cursors.js';
import { finalHeight } from '../scanning/finality.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferRow } from '../db/schema.js';
import type { Currencies } from '../money/currencies.js';
import type { Clock } from '../shared/clock.js';
import { invalidField, invalidState } from '../shared/problem.js';
import { isAfter } from './after.js';
import * as store from './transfer-store.js';

export interface ProofDeps {
  readonly reader: Reader;
  readonly clock: Pick<Clock, 'at'>;
  readonly currencies: Pick<Currencies, 'known'>;
  /** The real networks. On others no real money moves, and nothing is checked. */
  readonly networks: readonly Pick<
    ConnectedNetwork,
    'network' | 'locate' | 'cost' | 'chainFor' | 'chainAssets'
  >[];
  /**
   * The sum that contracts of the merchant sent to the transfer's address in a block with a transaction, in units of
   * the coin, where no transaction and no log shows it; undefined if the nodes no longer have it.
   */
  readonly sentByContracts: (
    transfer: TransferRow,
    paid: { readonly txHash: string; readonly height: number },
    signal: AbortSignal,
  ) => Promise<bigint | undefined>;
  /** The accounts that pay the merchant's transfers on the network, in lower case; undefined if any may. */
  readonly payersOf: (reader: Reader, transfer: TransferRow) => Promise<readonly string[] | undefined>;
}

export interface ClaimedPayment {
  /** The transfer that it is claimed to have paid. */
  readonly transferId: string;
  readonly txHash: string;
  /** The height of its block, for nodes that find no transaction by its hash; undefined if it was not given. */
  readonly height: number | undefined;
}

export type Proof = NonNullable<Awaited<ReturnType<typeof proveSettlement>>>;

/**
 * Looks the transaction up and compares its sender, address, asset, amount, time and depth with the transfer. Amounts
 * that the transaction has already settled count only once. A transfer that is settled already with this transaction
 * is looked up again, so that its fee can be corrected. Problems: `validation_error`, `invalid_state`.
 * @returns undefined if there is nothing to look up
 * @throws if no node answers
 */
export async function proveSettlement(
  { reader, clock, currencies, networks, sentByContracts, payersOf }: ProofDeps,
  { transferId, txHash, height: givenHeight }: ClaimedPayment,
  signal: AbortSignal,
) {
  const hash = txHash.trim().toLowerCase().replace(/^0x/, '');
  const row = await store.findAnyTransfer(reader, transferId);
  const isSame = row?.status === 'success' && row.tx_hash?.replace(/^0x/, '') === hash;
  // The rule that settles it says so if the transfer is unknown, or settled or failed already.
  if (!row || (row.status !== 'pending' && row.status !== 'processing' && !isSame)) return undefined;
  const real = networks.find(({ network }) => network.mode === row.mode && network.code === row.network);
  if (!real) return undefined;
  const { network } = real;
  const height = givenHeight ?? (await real.locate(hash, signal))?.height;
  if (height === undefined) {
    throw invalidField(
      'tx-hash',
      `${network.name} does not know this transaction, or it is not in a block yet. If an explorer shows it, give its block with --block; if no node here can see it, --unverified settles the transfer without a check`,
    );
  }
  const chain = real.chainFor(new Set([row.address]));
  const block = await chain.block(height, signal);
  const paid = (block?.transfers ?? []).filter(
    (transfer) =>
      transfer.address === row.address && transfer.txHash.replace(/^0x/, '').toLowerCase() === hash,
  );
  const coin = coinOf(real.chainAssets);
  const found = await real.cost(hash, height, signal);
  const cost = coin && found && { ...found, fee: fromChain(coin, found.fee) };
  const ofAnybody = paid.filter(({ currency }) => currency === row.currency);
  const payers = isSame ? undefined : await payersOf(reader, row);
  const inCurrency = ofAnybody.filter(
    ({ senders }) => !payers || senders.some((one) => payers.includes(one.toLowerCase())),
  );
  const mayBeInside = inCurrency.length === 0 && row.currency === coin?.currency && found !== undefined;
  const inside = mayBeInside ? await sentByContracts(row, { txHash: hash, height }, signal) : 0n;
  if (inside === undefined) {
    throw invalidField(
      'tx-hash',
      `If a contract paid ${row.address} in block ${height} of ${network.name}, only its balances show it, and no node here has those any more. Look in an explorer; --unverified settles the transfer without a check`,
    );
  }
  if (inCurrency.length === 0 && inside === 0n && ofAnybody.length > 0) {
    throw invalidField(
      'tx-hash',
      `It was sent by ${ofAnybody.flatMap(({ senders }) => senders).join(', ')}, which is no treasury of the merchant. If it was their payment anyway, --unverified settles the transfer without a check`,
    );
  }
  if (inCurrency.length === 0 && inside === 0n) {
    const others = [...new Set(paid.map(({ currency }) => currency))].join(', ');
    throw invalidField(
      'tx-hash',
      others === ''
        ? `In block ${height} of ${network.name}, this transaction pays nothing to ${row.address}`
        : `This transaction pays ${others} to ${row.address}, not ${row.currency}`,
    );
  }
  await ensureDeep(reader, network, height, block?.hash);
  if (!isSame && block && !isAfter(clock, block, row)) {
    throw invalidField(
      'tx-hash',
      `Block ${height} of ${network.name} was made before this transfer, so the transaction was for something else. If the time is wrong, --unverified settles the transfer without a check`,
    );
  }
  const sum = inCurrency.reduce((total, { amount }) => total + amount, inside);
  /** @returns the part of the network's fee that other transfers bear */
  const ensureLeft = async (now: Reader) => {
    const { amount: used, networkFee } = await store.sumSettledBy(now, row, hash);
    if (sum - used < row.amount) throw invalidField('tx-hash', tooLittle(row, sum, used, currencies));
    return networkFee;
  };
  await ensureLeft(reader);
  return {
    /** The transaction's cost, in units of the network's coin; undefined if the nodes do not report it. */
    cost,
    /**
     * Looks at the database again, in the transaction that settles the transfer: another command may have settled
     * another transfer with the same hash meanwhile. Problem: `validation_error`.
     * @returns the part of the network's fee, in the transfer's currency, that no other transfer of the transaction
     * bears; undefined if the nodes do not report the fee
     */
    async claim(transaction: Transaction): Promise<bigint | undefined> {
      await store.lockTransfersOf(transaction, row, hash);
      const borne = await ensureLeft(transaction);
      if (row.currency !== coin?.currency) return 0n;
      if (!cost) return undefined;
      return cost.fee > borne ? cost.fee - borne : 0n;
    },
  };
}

/** Measures the depth by the blocks that were read, as for payments: a single node could claim any depth. */
async function ensureDeep(
  reader: Reader,
  network: Network,
  height: number,
  hash: string | undefined,
): Promise<void> {
  const ref = { mode: network.mode, network: network.code };
  const { height: read } = (await readCursor(reader, ref)) ?? { height: -1 };
  if (height > finalHeight(network, read)) {
    const confirmations = Math.max(0, read - height + 1);
    throw invalidState(
      `The transaction has ${confirmations} of ${network.confirmations} confirmations in the blocks that were read; try again later`,
    );
  }
  const readHash = await readScannedHash(reader, ref, height);
  if (hash !== undefined && readHash !== undefined && hash !== readHash) {
    throw invalidState(
      `A node has another block at height ${height} of ${network.name} than the one that was read; try again later`,
    );
  }
}

function tooLittle(row: TransferRow, sum: bigint, used: bigint, currencies: ProofDeps['currencies']): string {
  const { decimals } = currencies.known(row.currency);
  const amountOf = (units: bigint) => `${fromUnits(units, decimals)} ${row.currency}`;
  const before = used === 0n ? '' : `, of which ${amountOf(used)} have settled other transfers`;
  return `The transaction pays ${amountOf(sum)} to ${row.address}${before}; the transfer is ${amountOf(row.amount)}`;
}
