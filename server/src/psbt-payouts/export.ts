/** Makes one PSBT of the transfers that wait, and reserves them and the coins. */
import type { SpendingAccount } from './account.js';
import { scriptOfAddress } from './build.js';
import { takeIndexes } from '../addresses/address-pool.js';
import type { DepositKeyRecord } from '../addresses/deposit-keys.js';
import type { Transaction } from '../db/engine.js';
import { isUniqueViolation } from '../db/errors.js';
import type { PsbtTable, TransferTable } from '../db/schema.js';
import { readCursor } from '../scanning/cursors.js';
import { invalidState } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import { lockTransfers } from '../withdrawals/waiting-transfers.js';
import { chooseCoins, type CoinChoice, type UnspentCoin } from './coins.js';
import { nameOf } from './outpoints.js';
import { accountOf, networkOf, type AccountNames, type PsbtDeps, type PsbtNetwork } from './context.js';
import { chooseFeeRate, parseFeeRate, refuseHighFee } from './fee-rate.js';
import { newVersion, previousTransactions } from './new-version.js';
import { forcedCoins, pickTransfers, type SkippedTransfer } from './payable-transfers.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';

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
  readonly actor: string;
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
  await deps.guard.ensureTrusted(deps.database.reader, scope.mode);
  const to = networkOf(deps, scope.mode, request.network);
  const key = await findKey(deps, scope, to, request.keyId);
  const account = accountOf(key, to, request);
  if (request.feeRate !== undefined) parseFeeRate(request.feeRate);
  const { payable: picked, skipped } = await pickTransfers(deps, request, to, account);
  const of = { scope, network: to.network.code, currency: to.currency.code };
  const known = await store.knownCoins(deps.database.reader, of, key.sourceId);
  const source = { to, account, known, sourceId: key.sourceId };
  const { payable, forced, unsafe, discarded } = await forcedCoins(deps, picked, source, signal);
  skipped.push(...unsafe);
  if (payable.length === 0) return { psbt: undefined, skipped };
  const height = await to.node.height(signal);
  await refuseUnread(deps, to, height);
  const rate = chooseFeeRate(request.feeRate, await to.node.feeRates(signal));
  const amounts = payable.map(({ amount }) => BigInt(amount));
  const holdings = await deps.ledger.holdings(deps.database.reader, scope, of.currency, of.network);
  const scripts = payable.map(({ address }) => scriptOfAddress(address, account.prefixes));
  const custody = holdings.debt === 0n ? holdings.coins : undefined;
  const frozen = await store.frozenTransfers(
    deps.database.reader,
    payable.map(({ id }) => id),
  );
  const mayBear = payable.map(({ id }) => !frozen.has(id));
  const choice = await chooseCoins(
    { to, account, known, forced, scripts, amounts, mayBear, custody, rate },
    signal,
  );
  refuseHighFee(
    choice.fee,
    amounts.reduce((sum, units) => sum + units, 0n),
    to,
  );
  const previous = await previousTransactions(deps.database.reader, to, account, choice.coins, signal);
  try {
    const psbt = await deps.database.write((transaction) =>
      insert(deps, transaction, request, { to, key, account, payable, discarded, choice, previous, height }),
    );
    return { psbt, skipped };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw invalidState('Another export has just taken these coins. Run the export again');
  }
}

/**
 * Refuses to pay while blocks are unread: after a restore, they show what was paid already. Whoever reads them also says so in
 * the transaction that moves the cursor.
 */
async function refuseUnread(
  { database }: PsbtDeps,
  { network: { mode, code, name } }: PsbtNetwork,
  height: number,
): Promise<void> {
  const scan = await readCursor(database.reader, { mode, network: code });
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

/** What a PSBT is made of. */
interface Chosen {
  readonly to: PsbtNetwork;
  readonly key: DepositKeyRecord;
  readonly account: SpendingAccount;
  readonly payable: readonly TransferTable[];
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
  const { scope, actor } = request;
  const { to, account, payable, discarded, choice, previous } = chosen;
  await deps.guard.startPayout(transaction, scope.mode);
  // Two exports of one merchant wait for each other.
  await deps.ledger.balance(transaction, scope.mode, to.currency.code, {
    kind: 'available',
    merchantId: scope.merchantId,
  });
  await ensureStillFree(transaction, payable, discarded, choice.coins, to);
  const stored = await newPsbt(deps, transaction, request, chosen);
  await store.insertPsbt(transaction, stored);
  const version = newVersion(deps, stored, choice, account, previous);
  await store.insertVersion(transaction, version);
  await deps.auditLog.record(transaction, {
    ...scope,
    actor,
    action: 'psbt.exported',
    subjectId: stored.id,
    after: {
      network: stored.network,
      transfers: payable.map((row) => row.id),
      feeUnits: version.fee,
    },
  });
  return { ...stored, versions: [version] };
}

async function newPsbt(
  deps: PsbtDeps,
  transaction: Transaction,
  { scope: { merchantId, mode }, fingerprint, path }: ExportRequest,
  { to, key, payable, choice, height }: Chosen,
): Promise<StoredPsbt> {
  const id = deps.newId();
  const { code: network } = to.network;
  const psbt: PsbtTable = {
    id,
    merchant_id: merchantId,
    mode,
    network,
    currency: to.currency.code,
    state: 'open',
    key_id: key.id,
    source_id: key.sourceId,
    fingerprint: fingerprint?.toLowerCase() ?? null,
    account_path: path ?? null,
    // Counted apart from the receiving addresses.
    change_index: choice.change > 0n ? await takeIndexes(transaction, `${key.sourceId}/change`, 1) : null,
    from_height: height,
    settled_version: null,
    confirmed_at: null,
    ...{ problem: null, warning: null },
    created_at: deps.clock.real(),
    updated_at: deps.clock.real(),
  };
  const inputs = choice.coins.map((coin, position) => ({
    psbt_id: id,
    position,
    mode,
    network,
    tx_hash: coin.txHash,
    output_index: coin.outputIndex,
    amount: coin.amount.toString(),
    branch: coin.branch,
    derivation_index: coin.index,
    is_held: 1 as const,
  }));
  const transfers = payable.map((row, position) => ({
    ...row,
    is_held: 1 as const,
    bears_fee: position === choice.bearer ? (1 as const) : (0 as const),
  }));
  return { ...psbt, inputs, transfers, versions: [] };
}

/** The network was asked outside of the transaction. Meanwhile, another export may have taken some of it. */
async function ensureStillFree(
  transaction: Transaction,
  payable: readonly TransferTable[],
  discarded: ReadonlySet<string>,
  coins: readonly UnspentCoin[],
  { network: { mode, code: network } }: PsbtNetwork,
): Promise<void> {
  const changed = invalidState(
    'Another command has taken some of these transfers or coins meanwhile. Run the export again',
  );
  const ids = payable.map((row) => row.id);
  const locked = await lockTransfers(transaction, ids);
  for (const id of ids) {
    if (locked.get(id)?.status !== 'pending' || (await store.holderOf(transaction, id))) throw changed;
  }
  const discardedNow = await store.discardedWith(transaction, ids);
  if (discardedNow.some((id) => !discarded.has(id))) throw changed;
  const held = await store.heldOutpoints(transaction, { mode, network });
  if (coins.some((coin) => held.has(nameOf(coin)))) throw changed;
}
