/**
 * Follows PSBTs on the network until nothing can change them any more: broadcasts what is signed and not on the network,
 * settles what is confirmed, and says what went wrong.
 *
 * A signed transaction is stored before it is broadcast. Whatever is killed between the two, the next run finds the coins
 * unspent and broadcasts it again, which a network accepts only once.
 */
import { hasOutputs } from '../networks/bitcoin/utxo-node.js';
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import { readCursor } from '../../core/scanning/cursors.js';
import { createFailures } from '../../core/shared/failures.js';
import type { Mode } from '../../core/shared/scope.js';
import { networkOf, walletOf, type PsbtDeps, type PsbtNetwork } from './context.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import * as transitions from './transitions.js';
import { findLocation, type Found, type Location } from './location.js';
import { nameOf, outpointOf } from './outpoints.js';
import { settleFirst, transfersPaid, unsettledOf } from './paid-transfers.js';
import type { PsbtTable, PsbtVersionRow } from './tables.js';

/**
 * The time that a PSBT is watched after it was settled, or has become impossible. A deeper reorganisation was never
 * seen.
 */
const watchedMs = 24 * 60 * 60 * 1000;
/** A block that spends a coin can be replaced by one that is a little lower. */
const rereadBlocks = 6;
/**
 * A coin that is unspent now was not spent before, however late its spender is looked for. Blocks below are not needed
 * again, and a pruned node has the last 288. No chain replaces as many as these: a reward cannot be spent before.
 */
const keptBlocks = 100;
/** It is noted so rarely. */
const noteEveryBlocks = 50;

/** Those that a chain can still change. */
export function followed({ database, clock }: Pick<PsbtDeps, 'database' | 'clock'>) {
  return store.followedPsbts(database.reader, clock.real() - watchedMs);
}

/** @returns a function that looks at all that a chain can still change */
export function createFollow(deps: PsbtDeps) {
  const { log } = deps;
  /** The networks without a node at the last run. That is logged once. */
  let unreachable: ReadonlySet<string> = new Set();
  /** The PSBTs that could not be followed when they were last looked at. That is logged once. */
  const unread = new Set<string>();
  /** The height of the chain when a PSBT's coins were last looked for in blocks. */
  const readUpTo = new Map<string, number>();

  return async (signal: AbortSignal): Promise<void> => {
    const failures = createFailures();
    const down = new Set<string>();
    const heights = new Map<string, number | undefined>();
    for (const { id, mode, network, state } of await followed(deps)) {
      signal.throwIfAborted();
      const name = `${mode}/${network}`;
      if (down.has(name)) continue;
      await failures.collect(async () => {
        let height: number | undefined;
        try {
          height = heights.get(name) ?? (await nodeOf(deps, mode, network)?.height(signal));
        } catch (error) {
          if (!(error instanceof NodesUnavailable)) throw error;
          down.add(name);
          if (unreachable.has(name)) return;
          log.warn({ err: error, mode, network }, 'PSBTs cannot be followed; trying again');
          return;
        }
        heights.set(name, height);
        if (height === undefined || readUpTo.get(id) === height) return;
        try {
          const { found } = await look(deps, id, signal);
          unread.delete(id);
          // Both took whole blocks to find out, and last until the next block at least. And the coins of a discarded
          // PSBT may remain unspent forever: they are asked for once a block.
          const isAtRest = state === 'discarded' && found.kind === 'absent';
          if (found.kind === 'conflict' || found.kind === 'gone' || isAtRest) readUpTo.set(id, height);
          else readUpTo.delete(id);
        } catch (error) {
          if (!(error instanceof NodesUnavailable)) throw error;
          // Its height shows, before the next PSBT, whether the node is gone or only lacks what this one needs.
          heights.delete(name);
          // A block that was pruned is no sooner back.
          if (error.errors.some(({ fault }) => fault === 'failure')) readUpTo.set(id, height);
          if (unread.has(id)) return;
          unread.add(id);
          log.warn({ err: error, psbt: id, mode, network }, 'A PSBT cannot be followed; trying again');
        }
      });
    }
    unreachable = down;
    failures.report('PSBTs could not be followed');
  };
}

/**
 * The depth of the transaction that decides about a PSBT. Final: no reorganisation is expected to undo it. Doubted: one node says so,
 * and a second one must confirm it and does not.
 */
type Depth = 'shallow' | 'doubted' | 'final';

/** One look at a PSBT. */
interface Look {
  readonly deps: PsbtDeps;
  readonly psbt: StoredPsbt;
  readonly to: PsbtNetwork;
  readonly depth: Depth;
  readonly signal: AbortSignal;
}

/** Looks at one PSBT on the network, and changes what follows. Problem: `invalid_state` if the network is not configured any more. */
export async function look(
  deps: PsbtDeps,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly found: Location; readonly depth: Depth }> {
  const psbt = await store.requirePsbt(deps.database.reader, id);
  const to = networkOf(deps, psbt.mode, psbt.network);
  const books = {
    account: async () => (await walletOf(deps, psbt)).account,
    claims: (txHash: string) => store.claimsOn(deps.database.reader, psbt, txHash),
    isBooked: (txHash: string) => store.isBooked(deps.database.reader, psbt, txHash),
  };
  const found = await findLocation(psbt, to.node, books, signal);
  const depth = await depthOf({ deps, psbt, to, signal }, found);
  await apply({ deps, psbt, to, depth, signal }, found);
  if (found.kind === 'absent') await noteUnspent({ deps, psbt, to, depth, signal });
  return { found, depth };
}

/**
 * Notes now and then up to which block its coins are unspent, so that their spender is looked for only in blocks above.
 * Never above the scan, which has read real blocks: a height is easily made up.
 */
async function noteUnspent(at: Look): Promise<void> {
  const { deps, psbt, to, signal } = at;
  const { mode, network, from_height: from } = psbt;
  const scan = await readCursor(deps.database.reader, { mode, network });
  const isDue = (height: number) => height - keptBlocks >= from + noteEveryBlocks;
  if (!scan || !isDue(scan.height)) return;
  const reported = await to.node.unspentAt(psbt.inputs.map(outpointOf), signal);
  const height = Math.min(reported ?? -1, scan.height);
  if (isDue(height)) await note(at, { from_height: height - keptBlocks });
}

async function depthOf(at: Omit<Look, 'depth'>, found: Location): Promise<Depth> {
  const { deps, psbt, to } = at;
  if (found.kind !== 'block' && found.kind !== 'conflict') return 'shallow';
  if (found.confirmations < to.network.confirmations) return 'shallow';
  if (!to.node.hasSecond) return 'final';
  if (found.kind === 'block') {
    if (isSettledBy(psbt, found)) return 'final';
    const stake = psbt.transfers.map(({ amount }) => ({ units: amount, currency: psbt.currency }));
    if (!deps.isCrossChecked(to.network, stake)) return 'final';
  }
  return (await isAgreed(at, found)) ? 'final' : 'doubted';
}

const isSettledBy = (
  { state, settled_version: settled, confirmed_at: at }: StoredPsbt,
  { version }: Found<'block'>,
): boolean => state === 'settled' && settled === version.number && at !== null;

/** True if two providers show the same: a version that pays all of its transfers, or the transaction that spent its coins. */
async function isAgreed(
  { deps, psbt, to, signal }: Omit<Look, 'depth'>,
  found: Found<'block' | 'conflict'>,
): Promise<boolean> {
  const place = found.kind === 'block' ? found : found.spender;
  const coins = psbt.inputs.map(outpointOf);
  const spent =
    found.kind === 'block'
      ? coins[0]
      : coins.find((coin) => found.spender.inputs.some((input) => nameOf(input) === nameOf(coin)));
  if (!spent) return false;
  const { confirmations } = to.network;
  const outputs = await to.node.agreedOutputs(place, spent, confirmations, signal);
  if (outputs === undefined) return false;
  if (found.kind === 'conflict') return hasOutputs(outputs, found.spender.outputs);
  const { account } = await walletOf(deps, psbt);
  return transfersPaid({ outputs }, psbt, account, []).size === psbt.transfers.length;
}

/** Undefined if the network is not configured any more. */
function nodeOf({ connected }: PsbtDeps, mode: Mode, code: string) {
  return connected.find(({ network }) => network.mode === mode && network.code === code)?.utxoNode;
}

/** Changes what is only noted of it, and decides nothing. */
const note = ({ deps, psbt }: Look, changes: Partial<PsbtTable>): Promise<void> =>
  deps.database.write((transaction) => store.updatePsbt(transaction, psbt.id, changes));

/** Sets what the operator should know. Logged once, when it changes. */
async function report(at: Look, problem: string | null): Promise<void> {
  if (at.psbt.problem === problem) return;
  await note(at, { problem });
  if (problem === null) at.deps.log.info(namesOf(at), 'A PSBT is in order again');
  else at.deps.log.warn({ ...namesOf(at), problem }, 'A PSBT needs attention');
}

/** For the log. */
const namesOf = ({ psbt: { id, mode, network } }: Look) => ({ psbt: id, mode, network });

/** @returns why the network refuses it; undefined if it took it, or there is nothing to broadcast */
async function broadcast({ psbt, to, signal }: Look): Promise<string | undefined> {
  const raw = newestSigned(psbt)?.signed_transaction;
  return raw ? to.node.send(raw, signal) : undefined;
}

/** Applies the changes of one look at the network. */
async function apply(at: Look, found: Location): Promise<void> {
  const { deps, psbt, to, signal } = at;
  const { id, state } = psbt;
  if (psbt.confirmed_at !== null && at.depth === 'shallow') await transitions.unconfirm(deps, id);
  switch (found.kind) {
    case 'absent': {
      if (state !== 'sent' && state !== 'settled') return report(at, null);
      const refusal = await broadcast(at);
      if (refusal !== undefined) return report(at, `The network refuses the transaction: ${refusal}`);
      return report(at, state === 'settled' ? lost(psbt) : null);
    }
    case 'waiting':
      return applyWaiting(at, found);
    case 'block':
      return applyBlock(at, found);
    case 'replaced': {
      const { txHash, height } = found.spender;
      const transaction = await to.node.rawTransaction(txHash, height, signal);
      return transitions.adoptReplacement(deps, id, found, { txHash, transaction });
    }
    case 'contested': {
      if (state === 'discarded' || state === 'conflicted') return;
      // Ours may pay a higher fee, and then replaces the other one.
      const refusal = await broadcast(at);
      if (refusal === undefined && newestSigned(psbt)) return report(at, null);
      return report(
        at,
        'Another transaction that waits on the network spends its coins. If the wallet has raised the fee on its own, wait until it is confirmed',
      );
    }
    case 'conflict':
      return applyConflict(at, found);
    case 'gone': {
      return report(
        at,
        state === 'discarded'
          ? null
          : 'The node does not know its coins: the transactions that they came from have left the chain. It is sent again when they are back',
      );
    }
    default:
      return found satisfies never;
  }
}

/** One of its versions waits in the mempool. */
async function applyWaiting(at: Look, found: Found<'waiting'>): Promise<void> {
  const { psbt } = at;
  const { version } = found;
  await adopt(at, found, undefined);
  if (psbt.state === 'settled') return report(at, lost(psbt));
  // An older version waits: the newer one was stored, but the server died before it broadcast it.
  const newest = newestSigned(psbt);
  const isOlder = newest !== undefined && newest.number > version.number;
  const refusal = isOlder ? await broadcast(at) : undefined;
  return report(
    at,
    refusal === undefined
      ? null
      : `Version ${version.number} waits on the network, which refuses version ${newest?.number ?? ''}: ${refusal}`,
  );
}

/** Notes that a version is on the network, if it was not imported, or given up. @param height of its block, if it is in one */
async function adopt(
  at: Look,
  { version, txHash }: Found<'waiting' | 'block'>,
  height: number | undefined,
): Promise<void> {
  const { deps, psbt, to, signal } = at;
  const { state } = psbt;
  if (version.imported_at !== null && (state === 'sent' || state === 'settled')) return;
  const transaction = version.signed_transaction ?? (await to.node.rawTransaction(txHash, height, signal));
  if (state === 'discarded') {
    deps.log.warn(
      { ...namesOf(at), txHash },
      'A discarded PSBT was broadcast after all, and pays its transfers',
    );
  }
  await transitions.adopt(deps, psbt.id, version.number, { txHash, transaction });
}

/** One of its versions is in a block. */
async function applyBlock(at: Look, found: Found<'block'>): Promise<void> {
  const { deps, psbt, depth } = at;
  const { version, txHash, blockHash, height } = found;
  await adopt(at, found, height);
  // A block that one node made up would hide the real one.
  const isKept = depth !== 'doubted';
  const place = { block_hash: isKept ? blockHash : null, block_height: isKept ? height : null };
  if (version.block_hash !== place.block_hash) {
    await deps.database.write((transaction) => store.updateVersion(transaction, version, place));
  }
  if (depth === 'shallow') return;
  if (depth === 'doubted') return report(at, doubt(found));
  if (isSettledBy(psbt, found)) return report(at, null);
  const problem = await transitions.settle(deps, psbt.id, version.number);
  deps.log.info({ ...namesOf(at), txHash }, 'A PSBT is settled');
  if (problem !== undefined) deps.log.warn({ psbt: psbt.id, problem }, 'A PSBT needs attention');
}

/** A transaction in a block, which is none of ours, has spent its coins. */
async function applyConflict(at: Look, found: Found<'conflict'>): Promise<void> {
  const { spender } = found;
  const { deps, psbt, depth } = at;
  const { id, state } = psbt;
  if (depth === 'doubted') return report(at, doubt(spender));
  await note(at, { from_height: Math.max(psbt.from_height, spender.height - rereadBlocks) });
  const problem = `Its coins were spent by another transaction, ${spender.txHash}, in block ${spender.height}. If that has paid some of the transfers, run transfers settle ID --tx-hash ${spender.txHash} --block ${spender.height} for each; then discard the PSBT`;
  if (state === 'discarded') {
    const unsettled = unsettledOf(psbt, found.pays);
    if (unsettled.length > 0) return report(at, `It was discarded. ${settleFirst(spender, unsettled)}`);
    // It can never be confirmed.
    if (depth === 'final' && psbt.confirmed_at === null) await note(at, { confirmed_at: deps.clock.real() });
    return report(at, null);
  }
  if (depth === 'shallow' || state === 'conflicted') return report(at, problem);
  deps.log.warn({ ...namesOf(at), problem }, 'A PSBT needs attention');
  await transitions.conflict(deps, id, found, problem);
}

function newestSigned({ versions }: StoredPsbt): PsbtVersionRow | undefined {
  return [...versions].reverse().find(({ signed_transaction: raw }) => raw !== null);
}

const doubt = ({ txHash, height }: { readonly txHash: string; readonly height: number }): string =>
  `One node shows the transaction ${txHash}, which spends its coins, in block ${height}. The PSBT waits until a node of a second provider shows the same, and none differs: see chains status`;

function lost({ settled_version: number }: StoredPsbt): string {
  return `The chain has dropped its transaction (version ${number ?? 1}) after it was settled. It was sent again, and is not confirmed yet`;
}
