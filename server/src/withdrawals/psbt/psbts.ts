/**
 * Payouts by PSBT: the transfers of a merchant that wait become one transaction, which the merchant's own wallet signs. The
 * server chooses the coins and watches the network, and cannot sign.
 */
import { scriptOfAddress, scriptsOf } from '../../chains/bitcoin/psbt/build.js';
import type { SpendingAccount } from '../../chains/bitcoin/psbt/account.js';
import {
  finalize,
  findDifference,
  outpointsOf,
  readReturned,
  Refused,
} from '../../chains/bitcoin/psbt/check.js';
import { dustLimit, feeOf, transactionWeight } from '../../chains/bitcoin/psbt/sizes.js';
import type { Outpoint } from '../../chains/bitcoin/utxo-node.js';
import type { DepositKeyRecord } from '../../chains/addresses/deposit-keys.js';
import type { Reader, Transaction } from '../../db/engine.js';
import { isUniqueViolation } from '../../db/errors.js';
import type { PsbtTable, PsbtVersionTable, TransferTable } from '../../db/schema.js';
import { errorMessage } from '../../shared/error-message.js';
import { notFound, Problem } from '../../shared/problem.js';
import type { Scope } from '../../shared/scope.js';
import { lockTransfer } from '../transfer-store.js';
import { chooseCoins, planFee, type CoinChoice, type UnspentCoin } from './coins.js';
import {
  accountOf,
  accountOfPsbt,
  amountIn,
  expectedOf,
  networkOf,
  rateText,
  type AccountNames,
  type PsbtDeps,
  type PsbtNetwork,
} from './context.js';
import { chooseFeeRate, parseFeeRate } from './fee-rate.js';
import { createFollow } from './follow.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import { createTransitions } from './transitions.js';

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

export interface Imported {
  readonly psbt: StoredPsbt;
  readonly version: PsbtVersionTable;
  /** Whether a node took it. If not, the server tries again by itself. */
  readonly isBroadcast: boolean;
  /** Why not; undefined if it was. */
  readonly problem: string | undefined;
}

export interface Psbts {
  /**
   * Makes one PSBT of the transfers that wait, and reserves them and the coins. Problems: `not_found`, `invalid_state`.
   * @throws NodesUnavailable
   */
  exportWaiting(request: ExportRequest, signal: AbortSignal): Promise<Exported>;
  /**
   * A version with a higher fee, to be signed in its place (BIP-125). Same problems.
   * @param feeRate satoshis per virtual byte
   */
  bump(id: string, feeRate: string, actor: string, signal: AbortSignal): Promise<StoredPsbt>;
  /**
   * Checks a signed PSBT or transaction against what was exported, stores it, and broadcasts it. Problem: `invalid_state`
   * with a sentence that names the difference. Importing the same again broadcasts it again.
   */
  importSigned(file: Uint8Array, actor: string, signal: AbortSignal): Promise<Imported>;
  /** Gives a PSBT up that was not broadcast, or whose coins went elsewhere. Repeating it changes nothing. */
  discard(id: string, actor: string, signal: AbortSignal): Promise<StoredPsbt>;
  /** Problem: `not_found`. */
  retrieve(id: string): Promise<StoredPsbt>;
  /** Newest first, at most 1000. @param merchantId of all merchants if it is undefined */
  list(merchantId: string | undefined): Promise<PsbtTable[]>;
  /** Broadcasts what is not on the network, and settles what is confirmed. For a job. */
  follow(signal: AbortSignal): Promise<void>;
}

/** Far below what fits into a transaction that nodes relay, and still something that a person can check. */
const mostTransfers = 500;
const listed = 1000;

export function createPsbts(deps: PsbtDeps): Psbts {
  const { database, clock, newId, ledger, auditLog, depositKeys } = deps;
  const transitions = createTransitions(deps);
  const { look, follow } = createFollow(deps, transitions);

  async function retrieve(id: string): Promise<StoredPsbt> {
    const psbt = await store.readPsbt(database.reader, id);
    if (!psbt) throw notFound('PSBT');
    return psbt;
  }

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
      const psbt = await retrieve(id);
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

  /** Hardware wallets check amounts by the transactions that the coins came from. */
  async function previousTransactions(
    to: PsbtNetwork,
    account: SpendingAccount,
    coins: readonly (Outpoint & { readonly height: number | undefined })[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    if (account.script === 'p2tr') return new Map();
    const heights = new Map(coins.map(({ txHash, height }) => [txHash, height]));
    const found = new Map(await store.ownTransactions(database.reader, [...heights.keys()]));
    for (const [txHash, height] of heights) {
      if (found.has(txHash)) continue;
      const raw = await to.node.rawTransaction(txHash, height, signal);
      if (raw !== undefined) found.set(txHash, raw);
    }
    return found;
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
      change_index: choice.change > 0n ? await store.takeChangeIndex(transaction, key.sourceId) : null,
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
      const row = await lockTransfer(transaction, id);
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
    const previous = await previousTransactions(to, account, choice.coins, signal);
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

  function refuseHighFee(fee: bigint, sum: bigint, { currency }: PsbtNetwork): void {
    if (fee <= sum) return;
    const amount = amountIn(currency);
    throw new Problem(
      'invalid_state',
      `The fee would be ${amount(fee)}, which is more than the ${amount(sum)} that is paid. Wait for more transfers, or give a lower --fee-rate`,
    );
  }

  async function bump(id: string, feeRate: string, actor: string, signal: AbortSignal): Promise<StoredPsbt> {
    parseFeeRate(feeRate);
    const found = await look(id, signal);
    const psbt = await retrieve(id);
    if (psbt.state !== 'open' && psbt.state !== 'sent') {
      throw new Problem(
        'invalid_state',
        `The PSBT is ${psbt.state}: only one that is not confirmed yet can be bumped`,
      );
    }
    if (found?.kind === 'block') {
      throw new Problem('invalid_state', 'Its transaction is in a block already: there is nothing to bump');
    }
    if (found?.kind !== 'absent' && found?.kind !== 'waiting') {
      throw new Problem('invalid_state', psbt.problem ?? 'Its coins are not there: see transfers psbt list');
    }
    const to = networkOf(deps, psbt.mode, psbt.network);
    const account = await accountOfPsbt(deps, psbt, to);
    const rates = await to.node.feeRates(signal);
    const rate = chooseFeeRate(feeRate, rates);
    const plan = planBump(psbt, account, to, rate, rates.increment);
    const sum = psbt.transfers.reduce((total, { amount }) => total + BigInt(amount), 0n);
    refuseHighFee(plan.fee, sum, to);
    const outpoints = psbt.inputs.map(({ tx_hash: txHash, output_index: outputIndex }) => ({
      txHash,
      outputIndex,
    }));
    // What waits in the mempool spends them, and must not hide their blocks.
    const unspent = await to.node.unspent(outpoints, false, signal);
    const coins = outpoints.map((coin, position) => ({ ...coin, height: unspent[position]?.height }));
    const previous = await previousTransactions(to, account, coins, signal);
    return database.write(async (transaction) => {
      const current = await transitions.lock(transaction, id);
      if (current.state !== psbt.state || current.versions.length !== psbt.versions.length) {
        throw new Problem(
          'invalid_state',
          'The PSBT has changed meanwhile. Look at it, and run the command again',
        );
      }
      const version = transitions.newVersion(current, plan, account, previous);
      await store.insertVersion(transaction, version);
      await auditLog.record(transaction, {
        merchantId: psbt.merchant_id,
        mode: psbt.mode,
        actor,
        action: 'psbt.bumped',
        subjectId: id,
        before: { version: psbt.versions.length, feeUnits: psbt.versions.at(-1)?.fee },
        after: { version: version.number, feeUnits: version.fee },
      });
      return { ...current, versions: [...current.versions, version] };
    });
  }

  async function importSigned(file: Uint8Array, actor: string, signal: AbortSignal): Promise<Imported> {
    const { psbt, version, signed, to } = await checkReturned(file).catch((error: unknown) => {
      throw error instanceof Refused ? new Problem('invalid_state', error.message) : error;
    });
    const stored = await database.write(async (transaction) => {
      const current = await transitions.lock(transaction, psbt.id);
      refuseEnded(current);
      const same = current.versions.find(({ number }) => number === version.number);
      if (!same) throw new Error(`The PSBT ${psbt.id} has lost a version`);
      await transitions.lockBooks(transaction, current);
      const isNew = same.signed_transaction === null;
      await transitions.markSent(transaction, current, same, {
        txHash: signed.txHash,
        transaction: signed.transaction,
      });
      if (isNew) {
        await auditLog.record(transaction, {
          merchantId: current.merchant_id,
          mode: current.mode,
          actor,
          action: 'psbt.imported',
          subjectId: current.id,
          after: { version: version.number, txHash: signed.txHash },
        });
      }
      return same;
    });
    const problem = await to.node
      .send(signed.transaction, signal)
      .catch((error: unknown) => errorMessage(error));
    return {
      psbt: await retrieve(psbt.id),
      version: { ...stored, tx_hash: signed.txHash },
      isBroadcast: problem === undefined,
      problem,
    };
  }

  /** Finds the version that came back. @throws Refused */
  async function checkReturned(file: Uint8Array) {
    const returned = readReturned(file);
    const ids = await store.psbtsSpending(database.reader, outpointsOf(returned));
    let refusal: Refused | undefined;
    for (const id of ids) {
      const psbt = await retrieve(id);
      const to = networkOf(deps, psbt.mode, psbt.network);
      const account = await accountOfPsbt(deps, psbt, to);
      const format = amountIn(to.currency);
      for (const version of [...psbt.versions].reverse()) {
        const expected = expectedOf(psbt, version, account);
        const difference = findDifference(returned, expected, format);
        if (difference !== undefined) {
          refusal ??= new Refused(
            `This is not the transaction that was exported as ${id}. ${difference}. Nothing was stored or sent`,
          );
          continue;
        }
        refuseEnded(psbt);
        return { psbt, version, to, signed: finalize(returned, expected) };
      }
    }
    throw refusal ?? new Refused('It spends no coin of a PSBT that was exported here');
  }

  function refuseEnded({ id, state, problem }: PsbtTable): void {
    if (state === 'open' || state === 'sent') return;
    const reasons: Record<typeof state, string> = {
      settled: `The PSBT ${id} is settled already`,
      conflicted: `The PSBT ${id} can no longer be sent. ${problem ?? ''}`,
      discarded: `The PSBT ${id} was discarded, and its transfers may be paid otherwise. Nothing was sent`,
    };
    throw new Problem('invalid_state', reasons[state]);
  }

  async function discard(id: string, actor: string, signal: AbortSignal): Promise<StoredPsbt> {
    let psbt = await retrieve(id);
    if (psbt.state === 'discarded') return psbt;
    if (psbt.state === 'open') {
      // The operator's wallet may have broadcast it by itself.
      const found = await look(id, signal);
      if (found === undefined) networkOf(deps, psbt.mode, psbt.network);
      psbt = await retrieve(id);
      if (psbt.state === 'open' && found?.kind !== 'absent') {
        throw new Problem(
          'invalid_state',
          'Its coins are being spent, so it may have been broadcast. Import what the wallet signed, or wait until the spending transaction is confirmed',
        );
      }
    }
    if (psbt.state === 'sent') {
      throw new Problem(
        'invalid_state',
        'It is signed and was broadcast, so the network can confirm it at any time. To hurry it, use transfers psbt bump',
      );
    }
    if (psbt.state === 'settled') throw new Problem('invalid_state', 'It is settled: the transfers are paid');
    await database.write(async (transaction) => {
      const current = await transitions.lock(transaction, id);
      if (current.state !== psbt.state) {
        throw new Problem('invalid_state', `The PSBT has become ${current.state} meanwhile`);
      }
      await transitions.discard(transaction, current);
      await auditLog.record(transaction, {
        merchantId: psbt.merchant_id,
        mode: psbt.mode,
        actor,
        action: 'psbt.discarded',
        subjectId: id,
        before: { state: current.state },
        after: { state: 'discarded' },
      });
    });
    return retrieve(id);
  }

  return {
    exportWaiting,
    bump,
    importSigned,
    discard,
    retrieve,
    list: (merchantId) => store.listPsbts(database.reader, merchantId, listed),
    follow,
  };
}

/** The same coins and transfers with a higher fee, which the change pays. Problem: `invalid_state`. */
function planBump(
  psbt: StoredPsbt,
  account: SpendingAccount,
  to: PsbtNetwork,
  rate: bigint,
  increment: bigint,
) {
  const amount = amountIn(to.currency);
  const spent = psbt.inputs.reduce((sum, input) => sum + BigInt(input.amount), 0n);
  const scripts = psbt.transfers.map(({ address }) => scriptOfAddress(address, account.prefixes));
  const sum = psbt.transfers.reduce((total, transfer) => total + BigInt(transfer.amount), 0n);
  const highest = psbt.versions.reduce((most, { fee }) => (BigInt(fee) > most ? BigInt(fee) : most), 0n);
  const inputs = { count: psbt.inputs.length, sum: spent };
  const plan = planFee(account, to.family, inputs, { scripts, sum }, rate);
  if (!plan || (plan.change > 0n && psbt.change_index === null)) {
    throw new Problem(
      'invalid_state',
      `The coins of this PSBT cannot pay that: beside the transfers, they have ${amount(spent - sum)} for the fee. Give a lower --fee-rate`,
    );
  }
  // BIP-125, rules 3 and 4: more than what it replaces, by the price of its own size.
  const needed = highest + (BigInt(plan.virtualSize) * increment + 999n) / 1000n;
  if (plan.fee >= needed) return plan;
  const change = scriptsOf(account.publicKey(1, 0), account.script, account.prefixes).script;
  const weight = transactionWeight(account.script, psbt.inputs.length, [...scripts, change]);
  let least = (needed * 1000n) / BigInt(plan.virtualSize);
  while (feeOf(weight, least) < needed) least += 1n;
  throw new Problem(
    'invalid_state',
    spent - sum < needed
      ? `The fee cannot be raised: nodes want at least ${amount(needed)} for a replacement, and beside the transfers the coins have ${amount(spent - sum)}`
      : `--fee-rate ${rateText(rate)} is too low: the fee is ${amount(highest)} now, and nodes take a replacement from ${amount(needed)} on. Give at least ${rateText(least)}`,
  );
}

/** For the rules of transfers: refuses what would pay a transfer twice. Problem: `invalid_state`. */
export async function ensureNotInPsbt(reader: Reader, transferId: string): Promise<void> {
  const holder = await store.holderOf(reader, transferId);
  if (holder?.state !== 'open' && holder?.state !== 'sent') return;
  throw new Problem(
    'invalid_state',
    holder.state === 'open'
      ? `The transfer is in the PSBT ${holder.id}, which the wallet may be signing. Import what it signs, or run transfers psbt discard ${holder.id} first`
      : `The transfer is paid by the PSBT ${holder.id}, and ends by itself when that is confirmed`,
  );
}
