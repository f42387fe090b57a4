/**
 * Follows PSBTs on the network until nothing can change them any more: broadcasts what is signed and not on the network,
 * settles what is confirmed, and says what went wrong.
 *
 * A signed transaction is stored before it is broadcast. Whatever is killed between the two, the next run finds the coins
 * unspent and broadcasts it again, which a network accepts only once.
 */
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import { createFailures } from '../../core/shared/failures.js';
import type { Mode } from '../../core/shared/scope.js';
import { networkOf, walletOf, type PsbtDeps, type PsbtNetwork } from './context.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import * as transitions from './transitions.js';
import { findLocation, type Found, type Location } from './location.js';
import { settleFirst, unsettledOf } from './paid-transfers.js';
import type { PsbtTable, PsbtVersionRow } from './tables.js';

/**
 * The time that a PSBT is watched after it was settled, or has become impossible. A deeper reorganisation was never
 * seen.
 */
const watchedMs = 24 * 60 * 60 * 1000;
/** A block that spends a coin can be replaced by one that is a little lower. */
const rereadBlocks = 6;

/** Those that a chain can still change. */
export function followed({ database, clock }: Pick<PsbtDeps, 'database' | 'clock'>) {
  return store.followedPsbts(database.reader, clock.real() - watchedMs);
}

/** @returns what looks at all that a chain can still change */
export function createFollow(deps: PsbtDeps) {
  const { log } = deps;
  /** The networks without a node at the last run. That is logged once. */
  let unreachable: ReadonlySet<string> = new Set();
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
        try {
          const height = heights.get(name) ?? (await nodeOf(deps, mode, network)?.height(signal));
          heights.set(name, height);
          if (height === undefined || readUpTo.get(id) === height) return;
          const found = await look(deps, id, signal);
          // Both took whole blocks to find out, and last until the next block at least. And the coins of a discarded
          // PSBT may remain unspent for ever: they are asked for once a block.
          const isAtRest = state === 'discarded' && found.kind === 'absent';
          if (found.kind === 'conflict' || found.kind === 'gone' || isAtRest) readUpTo.set(id, height);
          else readUpTo.delete(id);
        } catch (error) {
          if (!(error instanceof NodesUnavailable)) throw error;
          down.add(name);
          if (unreachable.has(name)) return;
          log.warn({ err: error, mode, network }, 'PSBTs cannot be followed; trying again');
        }
      });
    }
    unreachable = down;
    failures.report('PSBTs could not be followed');
  };
}

/** One look at a PSBT. */
interface Look {
  readonly deps: PsbtDeps;
  readonly psbt: StoredPsbt;
  readonly to: PsbtNetwork;
  readonly signal: AbortSignal;
}

/** Looks at one PSBT on the network, and changes what follows. Problem: `invalid_state` if the network is not configured any more. */
export async function look(deps: PsbtDeps, id: string, signal: AbortSignal): Promise<Location> {
  const psbt = await store.requirePsbt(deps.database.reader, id);
  const to = networkOf(deps, psbt.mode, psbt.network);
  const books = {
    account: async () => (await walletOf(deps, psbt)).account,
    claims: (txHash: string) => store.claimsOn(deps.database.reader, psbt, txHash),
    isBooked: (txHash: string) => store.isBooked(deps.database.reader, psbt, txHash),
  };
  const found = await findLocation(psbt, to.node, books, signal);
  await apply({ deps, psbt, to, signal }, found);
  return found;
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
  const isAtEnd = (found.kind === 'block' || found.kind === 'conflict') && isFinal(found, to);
  if (psbt.confirmed_at !== null && !isAtEnd) await transitions.unconfirm(deps, id);
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

/** Deep enough in the chain that no reorganisation is expected to undo it. */
export function isFinal(
  { confirmations }: Pick<Found<'block' | 'conflict'>, 'confirmations'>,
  { network }: PsbtNetwork,
): boolean {
  return confirmations >= network.confirmations;
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
  const { deps, psbt, to } = at;
  const { version, txHash, blockHash, height } = found;
  await adopt(at, found, height);
  if (version.block_hash !== blockHash) {
    const place = { block_hash: blockHash, block_height: height };
    await deps.database.write((transaction) => store.updateVersion(transaction, version, place));
  }
  if (!isFinal(found, to)) return;
  const { id, state, settled_version: settled } = psbt;
  if (state === 'settled' && settled === version.number && psbt.confirmed_at !== null) return;
  const problem = await transitions.settle(deps, id, version.number);
  deps.log.info({ ...namesOf(at), txHash }, 'A PSBT is settled');
  if (problem !== undefined) deps.log.warn({ psbt: id, problem }, 'A PSBT needs attention');
}

/** A transaction in a block, which is none of ours, has spent its coins. */
async function applyConflict(at: Look, found: Found<'conflict'>): Promise<void> {
  const { spender } = found;
  const { deps, psbt, to } = at;
  const { id, state } = psbt;
  await note(at, { from_height: Math.max(psbt.from_height, spender.height - rereadBlocks) });
  const problem = `Its coins were spent by another transaction, ${spender.txHash}, in block ${spender.height}. If that has paid some of the transfers, run transfers settle ID --tx-hash ${spender.txHash} --block ${spender.height} for each; then discard the PSBT`;
  if (state === 'discarded') {
    const unsettled = unsettledOf(psbt, found.pays);
    if (unsettled.length > 0) return report(at, `It was discarded. ${settleFirst(spender, unsettled)}`);
    // It can never be confirmed.
    if (isFinal(found, to) && psbt.confirmed_at === null) await note(at, { confirmed_at: deps.clock.real() });
    return report(at, null);
  }
  if (!isFinal(found, to)) return report(at, problem);
  if (state === 'conflicted') return;
  deps.log.warn({ ...namesOf(at), problem }, 'A PSBT needs attention');
  await transitions.conflict(deps, id, found, problem);
}

function newestSigned({ versions }: StoredPsbt): PsbtVersionRow | undefined {
  return [...versions].reverse().find(({ signed_transaction: raw }) => raw !== null);
}

function lost({ settled_version: number }: StoredPsbt): string {
  return `The chain has dropped its transaction (version ${number ?? 1}) after it was settled. It was sent again, and is not confirmed yet`;
}
