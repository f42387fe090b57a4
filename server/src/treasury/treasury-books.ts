/** Books what happened at treasuries in blocks that were read: sweeps, payments that may settle transfers, and gas. */
import { addressFormat } from '../addresses/formats.js';
import { assetAt, coinOf, fromChain, toChain } from '../chains/assets.js';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import type { SweepTable, TransferTable, TreasuryPaymentTable } from '../db/schema.js';
import type { AccountName, Ledger } from '../ledger/ledger.js';
import type { Clock } from '../shared/clock.js';
import { nativeToken } from './factory.js';
import type { EvmConnected } from './forwarder-checks.js';
import type { SweptLog, TransactionFee, TreasuryPayment } from './watch-reads.js';
import * as store from './watch-store.js';

export interface TreasuryBooksDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ledger: Ledger;
}

/** What was read of some blocks. */
export interface TreasuryBlocks {
  /** The last block that was read before. */
  readonly cursor: number;
  readonly from: number;
  readonly to: number;
  readonly swept: readonly SweptLog[];
  readonly payments: readonly TreasuryPayment[];
  readonly fees: readonly TransactionFee[];
  /** The merchants of each treasury, in lower case. */
  readonly treasuries: ReadonlyMap<string, ReadonlySet<string>>;
  /** The transfers that waited for a payment. */
  readonly pending: readonly TransferTable[];
}

const format = addressFormat('live', 'evm');
const canonical = (address: string): string => format.read(address) ?? address;

const placeOf = ({ network: { mode, code } }: EvmConnected) => ({ mode, network: code });

/** Books the blocks and moves the cursor, unless another replica was faster. */
export async function bookTreasuryBlocks(
  deps: TreasuryBooksDeps,
  watched: EvmConnected,
  read: TreasuryBlocks,
): Promise<void> {
  const place = placeOf(watched);
  await deps.database.write(async (transaction) => {
    await store.createCursor(transaction, place, read.cursor);
    if ((await store.lockCursor(transaction, place)) !== read.cursor) return;
    await bookSweeps(deps, transaction, watched, read);
    await storePayments(transaction, watched, read);
    await bookFees(deps, transaction, watched, read);
    await store.moveCursor(transaction, place, read.to);
  });
}

async function bookSweeps(
  deps: TreasuryBooksDeps,
  transaction: Transaction,
  watched: EvmConnected,
  { from, to, swept }: TreasuryBlocks,
): Promise<void> {
  const place = placeOf(watched);
  const merchants = await store.findForwarders(transaction, place.mode, [
    ...new Set(swept.map(({ forwarder }) => canonical(forwarder))),
  ]);
  const nameOf = (row: SweepTable) => `${row.tx_hash}/${row.log_index}/${row.block_hash}`;
  const found = swept.flatMap((log) => sweepRow(watched, log, merchants) ?? []);
  const present = new Set(found.map(nameOf));
  for (const row of await store.sweepsFrom(transaction, place, from, to)) {
    if (row.is_reversed === 1 || present.has(nameOf(row))) continue;
    await post(deps, transaction, row, 'unsweep');
    await store.writeSweep(transaction, { ...row, is_reversed: 1, reversals: row.reversals + 1 });
  }
  for (const row of found) {
    const known = await store.findSweep(transaction, row);
    if (known?.is_reversed === 0) continue;
    const added = { ...row, reversals: known?.reversals ?? 0 };
    await store.writeSweep(transaction, added);
    await post(deps, transaction, added, 'sweep');
  }
}

function sweepRow(
  watched: EvmConnected,
  { forwarder, treasury, token, amount, txHash, logIndex, height, blockHash }: SweptLog,
  merchants: ReadonlyMap<string, string>,
): SweepTable | undefined {
  const address = canonical(forwarder);
  const merchantId = merchants.get(address);
  const asset = assetAt(watched.chainAssets, token === nativeToken ? undefined : token);
  if (merchantId === undefined || !asset) return undefined;
  return {
    ...{ ...placeOf(watched), tx_hash: txHash, log_index: logIndex, merchant_id: merchantId, address },
    treasury: canonical(treasury),
    currency: asset.currency,
    amount: fromChain(asset, amount).toString(),
    block_height: height,
    block_hash: blockHash,
    is_reversed: 0,
    reversals: 0,
  };
}

/** Moves a sweep's amount from the addresses to the treasury, or back. */
async function post(
  { ledger, clock }: TreasuryBooksDeps,
  transaction: Transaction,
  row: SweepTable,
  kind: 'sweep' | 'unsweep',
): Promise<void> {
  const { mode, network, merchant_id: merchantId, currency, reversals } = row;
  const amount = BigInt(row.amount);
  const addresses: AccountName = { kind: 'custody', network, merchantId };
  const treasury: AccountName = { ...addresses, place: 'treasury' };
  // Whoever decides about the merchant's coins holds this lock, and must not see half of this change.
  await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
  const name = [mode, network, row.tx_hash, row.log_index, ...(reversals > 0 ? [reversals] : [])].join('/');
  const [to, from] = kind === 'sweep' ? [treasury, addresses] : [addresses, treasury];
  const entries = [
    { account: to, debit: amount },
    { account: from, credit: amount },
  ];
  const posting = { key: `${kind}:${name}`, mode, currency, entries };
  await ledger.post(transaction, posting, clock.now({ merchantId, mode }));
}

/** Stores the payments that pay a transfer's exact amount to its address. */
async function storePayments(
  transaction: Transaction,
  watched: EvmConnected,
  { payments, treasuries, pending }: TreasuryBlocks,
): Promise<void> {
  for (const payment of payments) {
    for (const merchantId of treasuries.get(payment.treasury) ?? []) {
      const row = paymentRow(watched, payment, merchantId);
      const isExpected = pending.some(
        (transfer) =>
          transfer.merchant_id === merchantId &&
          transfer.currency === row?.currency &&
          transfer.address === row.address &&
          transfer.amount === row.amount,
      );
      if (row && isExpected) await store.insertPayment(transaction, row);
    }
  }
}

function paymentRow(
  watched: EvmConnected,
  { txHash, outputIndex, treasury, contract, address, amount, height, time }: TreasuryPayment,
  merchantId: string,
): TreasuryPaymentTable | undefined {
  const asset = assetAt(watched.chainAssets, contract);
  if (!asset) return undefined;
  const units = fromChain(asset, amount);
  // What is too small for the books would make it another amount.
  if (toChain(asset, units) !== amount) return undefined;
  return {
    ...{ ...placeOf(watched), tx_hash: txHash, output_index: outputIndex, merchant_id: merchantId },
    treasury: canonical(treasury),
    currency: asset.currency,
    address: canonical(address),
    amount: units.toString(),
    block_height: height,
    paid_at: time,
    transfer_id: null,
  };
}

/** The gas that a treasury paid itself left the treasury. Whoever else paid, it was not with coins of a merchant. */
async function bookFees(
  { ledger, clock }: TreasuryBooksDeps,
  transaction: Transaction,
  watched: EvmConnected,
  { treasuries, fees }: TreasuryBlocks,
): Promise<void> {
  const coin = coinOf(watched.chainAssets);
  if (!coin) return;
  const { mode, network } = placeOf(watched);
  const { currency } = coin;
  for (const { txHash, payer, fee } of fees) {
    const [merchantId] = treasuries.get(payer) ?? [];
    if (merchantId === undefined) continue;
    const units = fromChain(coin, fee);
    const row = {
      mode,
      network,
      tx_hash: txHash,
      merchant_id: merchantId,
      currency,
      amount: units.toString(),
    };
    if (!(await store.insertFee(transaction, row))) continue;
    await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    await ledger.post(
      transaction,
      {
        key: `treasury-fee:${mode}/${network}/${txHash}`,
        mode,
        currency,
        entries: [
          { account: { kind: 'network_fee' }, debit: units },
          { account: { kind: 'custody', network, merchantId, place: 'treasury' }, credit: units },
        ],
      },
      clock.now({ merchantId, mode }),
    );
  }
}
