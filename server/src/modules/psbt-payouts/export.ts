/** Makes one PSBT of the transfers that wait, and reserves them and the coins. */
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { takeIndexes } from '../../core/addresses/address-pool.js';
import type { DepositKeyRecord } from '../../core/addresses/deposit-keys.js';
import { inChunks } from '../../core/db/chunks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { readCursor } from '../../core/scanning/cursors.js';
import { finalHeight } from '../../core/scanning/finality.js';
import { invalidState } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { ensureDue } from '../networks/ensure-due.js';
import { lockTransfers, unheldTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { heldAmong, knownCoins } from './coin-store.js';
import { chooseCoins, type CoinChoice } from './coins.js';
import { sumOf } from './outpoints.js';
import {
  networkOf,
  outputTo,
  walletOfKey,
  type AccountNames,
  type PsbtDeps,
  type PsbtNetwork,
  type Wallet,
} from './context.js';
import { chooseFeeRate, parseFeeRate, refuseHighFee } from './fee-rate.js';
import { newVersion, previousTransactions } from './new-version.js';
import { forcedCoins, pickTransfers, type SkippedTransfer } from './payable-transfers.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import type { PsbtTable } from './tables.js';

export interface ExportRequest extends AccountNames {
  readonly scope: Scope;
  /** The code of the network. */
  readonly network: string;
  /** Satoshis per virtual byte; undefined for the node's estimate. */
  readonly feeRate: string | undefined;
  /** The deposit key whose coins are spent; undefined for the one in use. */
  readonly keyId: string | undefined;
  /** Only these transfers; undefined for all that wait. */
  readonly transferIds: readonly string[] | undefined;
  /** For the audit log. */
  readonly actor: AuditActor;
}

export interface Exported {
  /** Undefined if there is nothing to pay. */
  readonly psbt: StoredPsbt | undefined;
  readonly skipped: readonly SkippedTransfer[];
}

export async function exportWaiting(
  deps: PsbtDeps,
  request: ExportRequest,
  signal: AbortSignal,
): Promise<Exported> {
  const { scope } = request;
  await deps.hooks.ensurePayable(deps.database.reader, scope.mode, scope.merchantId);
  const to = networkOf(deps, scope.mode, request.network);
  const key = await findKey(deps, scope, to, request.keyId);
  const wallet = walletOfKey(key, to, request);
  if (request.feeRate !== undefined) parseFeeRate(request.feeRate);
  const { reader } = deps.database;
  const of = { scope, network: to.network.code, currency: to.currency.code };
  const { payable: picked, skipped } = await pickTransfers(deps, of, request.transferIds, wallet);
  const source = { wallet, of, sourceId: key.sourceId };
  const { payable, forced, unsafe, discarded } = await forcedCoins(deps, picked, source, signal);
  skipped.push(...unsafe);
  if (payable.length === 0) return { psbt: undefined, skipped };
  const height = await to.node.height(signal);
  await refuseUnread(reader, to, height);
  const rate = chooseFeeRate(request.feeRate, await to.node.feeRates(signal));
  const { debt, coins } = await deps.ledger.holdings(reader, scope, of.currency, of.network);
  // The amount of a refund whose fee the merchant bears must arrive whole.
  const outputs = payable.map((row) => ({
    ...outputTo(row, wallet),
    mayBearFee: row.fee_bearer !== 'merchant',
  }));
  const custody = debt === 0n ? coins : undefined;
  const known = knownCoins(reader, of, key.sourceId);
  const choice = await chooseCoins(wallet, { known, forced, outputs, custody, rate }, signal);
  refuseHighFee(choice.fee, sumOf(payable), to);
  const previous = await previousTransactions(reader, wallet, choice.coins, signal);
  const chosen = { wallet, key, payable, discarded, choice, previous, height };
  const psbt = await deps.database.write((transaction) => insert(deps, transaction, request, chosen));
  return { psbt, skipped };
}

/**
 * Refuses to pay while blocks are unread: after a restore, they show what was paid already. The reader of the blocks
 * also records that in the transaction that moves the cursor.
 */
async function refuseUnread(
  reader: Reader,
  { network: { mode, code, name } }: PsbtNetwork,
  height: number,
): Promise<void> {
  const scan = await readCursor(reader, { mode, network: code });
  if (scan && scan.height >= height) return;
  throw invalidState(
    scan
      ? `The scan of ${name} has read up to block ${scan.height}, and there are ${height}. What the others paid is not known yet. Try again when it has read them; "chains status" shows how far it is`
      : `No block of ${name} was read yet, so nobody knows what was paid already. Start the server, and try again when "chains status" shows it`,
  );
}

async function findKey(
  deps: PsbtDeps,
  { merchantId, mode }: Scope,
  to: PsbtNetwork,
  keyId: string | undefined,
): Promise<DepositKeyRecord> {
  const keys = (await deps.depositKeys.list(deps.database.reader, merchantId)).filter(
    (key) => key.mode === mode && key.family === to.family,
  );
  const key = keys.find(({ id, state }) => (keyId === undefined ? state === 'in_use' : id === keyId));
  if (key) return key;
  throw invalidState(
    keyId === undefined
      ? `The merchant has no ${mode} deposit key for ${to.family}, so no coins of theirs can be found. See deposit-keys list --json`
      : `The merchant has no ${mode} deposit key ${keyId} for ${to.family}. See deposit-keys list --json`,
  );
}

/** The parts of a PSBT. */
interface Chosen {
  readonly wallet: Wallet;
  readonly key: DepositKeyRecord;
  readonly payable: readonly TransferRow[];
  readonly discarded: ReadonlySet<string>;
  readonly choice: CoinChoice;
  readonly previous: ReadonlyMap<string, string>;
  readonly height: number;
}

async function insert(
  deps: PsbtDeps,
  transaction: Transaction,
  request: ExportRequest,
  chosen: Chosen,
): Promise<StoredPsbt> {
  const { scope, actor, fingerprint, path } = request;
  const { wallet, key, payable, choice, previous, height } = chosen;
  const { merchantId, mode } = scope;
  await deps.hooks.beforePayout(transaction, mode, merchantId);
  // Two exports of one merchant wait for each other.
  await deps.ledger.balance(transaction, mode, wallet.currency.code, { kind: 'available', merchantId });
  await ensureStillFree(transaction, chosen);
  await ensureDue(deps, transaction, payable);
  const psbt: PsbtTable = {
    id: deps.newId(),
    merchant_id: merchantId,
    mode,
    network: wallet.network.code,
    currency: wallet.currency.code,
    state: 'open',
    key_id: key.id,
    source_id: key.sourceId,
    fingerprint: fingerprint?.toLowerCase() ?? null,
    account_path: path ?? null,
    // Counted apart from the receiving addresses.
    change_index: choice.change > 0n ? await takeIndexes(transaction, `${key.sourceId}/change`, 1) : null,
    // A reorganisation can put it into a block at the height of one that was there before it.
    from_height: Math.max(0, finalHeight(wallet.network, height)),
    settled_version: null,
    confirmed_at: null,
    problem: null,
    warning: null,
    created_at: deps.clock.real(),
    updated_at: deps.clock.real(),
  };
  await store.insertPsbt(transaction, psbt, payable, choice);
  const stored = await store.lockPsbt(transaction, psbt.id);
  const version = newVersion(deps, stored, choice, wallet, previous);
  await store.insertVersion(transaction, version);
  await deps.auditLog.record(transaction, {
    ...scope,
    actor,
    action: 'psbt.exported',
    subjectId: psbt.id,
    after: {
      network: psbt.network,
      transfers: payable.map((row) => row.id),
      feeUnits: version.fee.toString(),
    },
  });
  return { ...stored, versions: [version] };
}

/** The network was asked outside of the transaction: another export may have taken some of the transfers or coins meanwhile. */
async function ensureStillFree(
  transaction: Transaction,
  { wallet: { network }, payable, discarded, choice }: Chosen,
): Promise<void> {
  const changed = invalidState(
    'Another command has taken some of these transfers or coins meanwhile. Run the export again',
  );
  const ids = payable.map((row) => row.id);
  await lockTransfers(transaction, ids);
  const free = await inChunks(ids, (chunk) =>
    unheldTransfers(transaction, {}).select('id').where('id', 'in', chunk).execute(),
  );
  if (free.length < ids.length) throw changed;
  const discardedNow = await store.discardedWith(transaction, ids);
  if (discardedNow.some((id) => !discarded.has(id))) throw changed;
  const at = { mode: network.mode, network: network.code };
  if ((await heldAmong(transaction, at, choice.coins)).size > 0) throw changed;
}
