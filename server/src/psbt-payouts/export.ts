/** Makes one PSBT of the transfers that wait, and reserves them and the coins. */
import type { SpendingAccount } from './account.js';
import { scriptOfAddress } from './build.js';
import { dustLimit } from './sizes.js';
import { takeIndexes } from '../addresses/address-pool.js';
import type { DepositKeyRecord } from '../addresses/deposit-keys.js';
import type { Transaction } from '../db/engine.js';
import { isUniqueViolation } from '../db/errors.js';
import type { PsbtTable, TransferTable } from '../db/schema.js';
import { Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import { chooseCoins, type CoinChoice, type UnspentCoin } from './coins.js';
import {
  accountOf,
  amountIn,
  networkOf,
  type AccountNames,
  type PsbtDeps,
  type PsbtNetwork,
} from './context.js';
import { chooseFeeRate, parseFeeRate, refuseHighFee } from './fee-rate.js';
import type { Follow } from './follow.js';
import { previousTransactions } from './previous-transactions.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import type { Transitions } from './transitions.js';

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

/** A transfer that an export left out, and why. */
export interface SkippedTransfer {
  readonly id: string;
  readonly reason: string;
}

export interface Exported {
  /** Undefined if there is nothing to pay. */
  readonly psbt: StoredPsbt | undefined;
  readonly skipped: readonly SkippedTransfer[];
}

/** Far below what fits into a transaction that nodes relay, and still something that a person can check. */
const mostTransfers = 500;

export type ExportWaiting = (request: ExportRequest, signal: AbortSignal) => Promise<Exported>;

export function createExport(deps: PsbtDeps, transitions: Transitions, look: Follow['look']): ExportWaiting {
  const { database, clock, newId, ledger, auditLog, depositKeys } = deps;

  async function findKey(
    { merchantId, mode }: Scope,
    to: PsbtNetwork,
    keyId: string | undefined,
  ): Promise<DepositKeyRecord> {
    const keys = (await depositKeys.list(database.reader, merchantId)).filter(
      (key) => key.mode === mode && key.family === to.family,
    );
    const key = keys.find(({ id, replacedAt }) => (keyId === undefined ? replacedAt === null : id === keyId));
    if (key) return key;
    throw new Problem(
      'invalid_state',
      keyId === undefined
        ? `The merchant has no ${mode} deposit key for ${to.family}, so no coins of theirs can be found. See deposit-keys list --json`
        : `The merchant has no ${mode} deposit key ${keyId} for ${to.family}. See deposit-keys list --json`,
    );
  }

  /** What is to be paid now, and what is left out. */
  async function pickTransfers(
    { scope, transferIds }: ExportRequest,
    to: PsbtNetwork,
    account: SpendingAccount,
  ): Promise<{ payable: TransferTable[]; skipped: SkippedTransfer[] }> {
    const waiting = await store.waitingTransfers(database.reader, scope, to.network.code, to.currency.code);
    const unknown = transferIds?.find((id) => !waiting.some((row) => row.id === id));
    if (unknown !== undefined) {
      throw new Problem(
        'invalid_state',
        `The transfer ${unknown} does not wait to be sent on ${to.network.name}: see transfers list and transfers psbt list`,
      );
    }
    const chosen = transferIds ? waiting.filter(({ id }) => transferIds.includes(id)) : waiting;
    const amount = amountIn(to.currency);
    const skipped: SkippedTransfer[] = [];
    const payable = chosen.filter((row) => {
      const smallest = dustLimit(scriptOfAddress(row.address, account.prefixes), to.family);
      if (BigInt(row.amount) >= smallest) return true;
      skipped.push({
        id: row.id,
        reason: `${amount(BigInt(row.amount))} is too little: nodes relay no output below ${amount(smallest)} to this address. Fail it with transfers fail`,
      });
      return false;
    });
    for (const { id } of payable.slice(mostTransfers)) {
      skipped.push({
        id,
        reason: `One PSBT pays at most ${mostTransfers} transfers. Export again for the rest`,
      });
    }
    return { payable: payable.slice(0, mostTransfers), skipped };
  }

  /**
   * A signed copy of a discarded PSBT may still exist. Whatever pays its transfers now must spend one of its coins, so that
   * the chain takes only one of the two.
   */
  async function forcedCoins(
    payable: readonly TransferTable[],
    sourceId: string,
    skipped: SkippedTransfer[],
    signal: AbortSignal,
  ): Promise<{ payable: TransferTable[]; forced: Set<string> }> {
    const forced = new Set<string>();
    let left = [...payable];
    const skip = (psbt: StoredPsbt, reason: string) => {
      for (const { id } of left) {
        if (psbt.transfers.some((transfer) => transfer.id === id)) skipped.push({ id, reason });
      }
      left = left.filter(({ id }) => !psbt.transfers.some((transfer) => transfer.id === id));
    };
    const ids = await store.discardedWith(
      database.reader,
      payable.map(({ id }) => id),
    );
    for (const id of ids) {
      const found = await look(id, signal);
      const psbt = await store.requirePsbt(database.reader, id);
      if (psbt.state !== 'discarded') {
        skip(psbt, `The discarded PSBT ${id} was broadcast after all, and pays it`);
        continue;
      }
      // Its coins are spent in a block, by a transaction that is none of ours: it can never be confirmed.
      if (found?.kind === 'conflict') continue;
      if (found?.kind !== 'absent') {
        skip(
          psbt,
          `It is in the discarded PSBT ${id}, whose coins are being spent. Try again when that is confirmed`,
        );
        continue;
      }
      if (psbt.source_id !== sourceId) {
        skip(psbt, `It is in the discarded PSBT ${id} of another key. Export it with --key ${psbt.key_id}`);
        continue;
      }
      const held = await store.heldOutpoints(database.reader, psbt);
      const names = psbt.inputs.map(({ tx_hash: hash, output_index: index }) => `${hash}:${index}`);
      if (names.some((name) => forced.has(name))) continue;
      const free = names.find((name) => !held.has(name));
      if (free === undefined) {
        skip(
          psbt,
          `It is in the discarded PSBT ${id}, and other PSBTs spend the coins of that. Settle those first`,
        );
        continue;
      }
      forced.add(free);
    }
    return { payable: left, forced };
  }

  async function insert(
    transaction: Transaction,
    request: ExportRequest,
    parts: {
      readonly to: PsbtNetwork;
      readonly key: DepositKeyRecord;
      readonly account: SpendingAccount;
      readonly payable: readonly TransferTable[];
      readonly choice: CoinChoice;
      readonly previous: ReadonlyMap<string, string>;
      readonly height: number;
    },
  ): Promise<StoredPsbt> {
    const { scope, actor, fingerprint, path } = request;
    const { to, key, account, payable, choice, previous, height } = parts;
    const { code: currency } = to.currency;
    // Two exports of one merchant wait for each other.
    await ledger.balance(transaction, scope.mode, currency, {
      kind: 'available',
      merchantId: scope.merchantId,
    });
    await ensureStillFree(transaction, payable, choice.coins, scope, to);
    const id = newId();
    const { mode } = scope;
    const { code: network } = to.network;
    const psbt: PsbtTable = {
      id,
      merchant_id: scope.merchantId,
      mode,
      network,
      currency,
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
      problem: null,
      created_at: clock.real(),
      updated_at: clock.real(),
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
      psbt_id: id,
      position,
      transfer_id: row.id,
      is_held: 1 as const,
    }));
    await store.insertPsbt(transaction, psbt, inputs, transfers);
    const stored: StoredPsbt = {
      ...psbt,
      inputs,
      transfers: payable.map((row) => ({ ...row, is_held: 1 })),
      versions: [],
    };
    const version = transitions.newVersion(stored, choice, account, previous);
    await store.insertVersion(transaction, version);
    await auditLog.record(transaction, {
      ...scope,
      actor,
      action: 'psbt.exported',
      subjectId: id,
      after: { network, transfers: payable.map((row) => row.id), feeUnits: version.fee },
    });
    return { ...stored, versions: [version] };
  }

  /** The network was asked outside of the transaction. Meanwhile, another export may have taken some of it. */
  async function ensureStillFree(
    transaction: Transaction,
    payable: readonly TransferTable[],
    coins: readonly UnspentCoin[],
    scope: Scope,
    to: PsbtNetwork,
  ): Promise<void> {
    const changed = new Problem(
      'invalid_state',
      'Another command has taken some of these transfers or coins meanwhile. Run the export again',
    );
    for (const id of payable.map((row) => row.id).sort()) {
      const row = await deps.settlement.lock(transaction, id);
      if (row?.status !== 'pending' || (await store.holderOf(transaction, id))) throw changed;
    }
    const held = await store.heldOutpoints(transaction, { mode: scope.mode, network: to.network.code });
    if (coins.some(({ txHash, outputIndex }) => held.has(`${txHash}:${outputIndex}`))) throw changed;
  }

  async function exportWaiting(request: ExportRequest, signal: AbortSignal): Promise<Exported> {
    const { scope } = request;
    const to = networkOf(deps, scope.mode, request.network);
    const key = await findKey(scope, to, request.keyId);
    const account = accountOf(key, to, request);
    if (request.feeRate !== undefined) parseFeeRate(request.feeRate);
    const { payable: picked, skipped } = await pickTransfers(request, to, account);
    const { payable, forced } = await forcedCoins(picked, key.sourceId, skipped, signal);
    if (payable.length === 0) return { psbt: undefined, skipped };
    const rate = chooseFeeRate(request.feeRate, await to.node.feeRates(signal));
    const height = await to.node.height(signal);
    const known = await store.knownCoins(
      database.reader,
      scope,
      to.network.code,
      to.currency.code,
      key.sourceId,
    );
    const sum = payable.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const scripts = payable.map(({ address }) => scriptOfAddress(address, account.prefixes));
    const choice = await chooseCoins({ to, account, known, forced, scripts, sum, rate }, signal);
    refuseHighFee(choice.fee, sum, to);
    const previous = await previousTransactions(database.reader, to, account, choice.coins, signal);
    try {
      const psbt = await database.write((transaction) =>
        insert(transaction, request, { to, key, account, payable, choice, previous, height }),
      );
      return { psbt, skipped };
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new Problem('invalid_state', 'Another export has just taken these coins. Run the export again');
    }
  }

  return exportWaiting;
}
