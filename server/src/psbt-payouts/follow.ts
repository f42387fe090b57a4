/**
 * Follows PSBTs on the network until nothing can change them any more: broadcasts what is signed and not on the network,
 * settles what is confirmed, and says what went wrong.
 *
 * A signed transaction is stored before it is broadcast. Whatever is killed between the two, the next run finds the coins
 * unspent and broadcasts it again, which a network accepts only once.
 */
import { NodesUnavailable } from '../chains/rpc/node-error.js';
import type { Mode } from '../shared/scope.js';
import { createFailures } from '../shared/failures.js';
import type { PsbtVersionTable } from '../db/schema.js';
import { accountOfPsbt, networkOf, type PsbtDeps, type PsbtNetwork } from './context.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import type { Transitions } from './transitions.js';
import { findLocation, type Location } from './location.js';

/** How long a settled PSBT is looked at. A deeper reorganisation was never seen. */
const watchedMs = 24 * 60 * 60 * 1000;
/** A block that spends a coin can be replaced by one that is a little lower. */
const rereadBlocks = 6;

export function createFollow(deps: PsbtDeps, transitions: Transitions) {
  const { database, clock, log } = deps;
  /** The networks without a node at the last run. That is logged once. */
  let unreachable: ReadonlySet<string> = new Set();
  /** The height of the chain when a PSBT's coins were last looked for in blocks. */
  const readUpTo = new Map<string, number>();

  function isConfigured({ mode, network }: StoredPsbt): boolean {
    return deps.connected.some(
      (one) => one.utxoNode && one.network.mode === mode && one.network.code === network,
    );
  }

  /** Sets what the operator should know. Said in the log once, when it changes. */
  async function report(psbt: StoredPsbt, problem: string | null): Promise<void> {
    if (!(await transitions.noteProblem(psbt, problem))) return;
    const fields = { psbt: psbt.id, mode: psbt.mode, network: psbt.network };
    if (problem === null) log.info(fields, 'A PSBT is in order again');
    else log.warn({ ...fields, problem }, 'A PSBT needs attention');
  }

  /** @returns why the network refuses it; undefined if it took it, or there is nothing to broadcast */
  async function broadcast(
    psbt: StoredPsbt,
    to: PsbtNetwork,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const newest = newestSigned(psbt);
    return newest?.signed_transaction
      ? to.node.send(newest.signed_transaction, signal)
      : Promise.resolve(undefined);
  }

  async function rawOf(
    to: PsbtNetwork,
    txHash: string,
    height: number | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return to.node.rawTransaction(txHash, height, signal);
  }

  /** What one look at the network changes. */
  async function apply(
    psbt: StoredPsbt,
    found: Location,
    to: PsbtNetwork,
    signal: AbortSignal,
  ): Promise<void> {
    const { id, state } = psbt;
    switch (found.kind) {
      case 'absent': {
        if (state !== 'sent' && state !== 'settled') return report(psbt, null);
        if (state === 'settled') await transitions.markUnconfirmed(id);
        const refusal = await broadcast(psbt, to, signal);
        if (refusal !== undefined) return report(psbt, `The network refuses the transaction: ${refusal}`);
        return report(psbt, state === 'settled' ? lost(psbt) : null);
      }
      case 'waiting': {
        const { version } = found;
        const txHash = version.tx_hash ?? '';
        if (version.imported_at === null || !['sent', 'settled'].includes(state)) {
          const transaction = version.signed_transaction ?? (await rawOf(to, txHash, undefined, signal));
          await transitions.adopt(id, version.number, { txHash, transaction });
        }
        if (state === 'settled') {
          await transitions.markUnconfirmed(id);
          return report(psbt, lost(psbt));
        }
        // An older version waits: the newer one was stored, but the server died before it broadcast it.
        const newest = newestSigned(psbt);
        if (newest && newest.number > version.number) {
          const refusal = await broadcast(psbt, to, signal);
          return report(
            psbt,
            refusal === undefined
              ? null
              : `Version ${version.number} waits on the network, which refuses version ${newest.number}: ${refusal}`,
          );
        }
        return report(psbt, null);
      }
      case 'block': {
        const { version, blockHash, height, confirmations } = found;
        let { tx_hash: txHash } = version;
        if (txHash === null || version.imported_at === null || !['sent', 'settled'].includes(state)) {
          const spender = txHash === null ? await spenderOf(psbt, to, signal) : undefined;
          txHash ??= spender ?? null;
          if (txHash === null) return;
          const transaction = version.signed_transaction ?? (await rawOf(to, txHash, height, signal));
          await transitions.adopt(id, version.number, { txHash, transaction });
        }
        if (version.block_hash !== blockHash) await transitions.noteBlock(version, { blockHash, height });
        if (confirmations < to.network.confirmations) {
          if (state === 'settled') await transitions.markUnconfirmed(id);
          return;
        }
        if (psbt.state === 'settled' && psbt.settled_version === version.number && psbt.confirmed_at !== null)
          return;
        const problem = await transitions.settle(id, version.number);
        log.info({ psbt: id, mode: psbt.mode, network: psbt.network, txHash }, 'A PSBT is settled');
        if (problem !== undefined) log.warn({ psbt: id, problem }, 'A PSBT needs attention');
        return;
      }
      case 'replaced': {
        const { spender, changeAmount } = found;
        const transaction = await rawOf(to, spender.txHash, spender.height, signal);
        await transitions.adoptReplacement(id, changeAmount, { txHash: spender.txHash, transaction });
        return;
      }
      case 'contested': {
        if (state === 'discarded' || state === 'conflicted') return;
        // Ours may pay a higher fee, and then replaces the other one.
        const refusal = await broadcast(psbt, to, signal);
        if (refusal === undefined && newestSigned(psbt)) return report(psbt, null);
        return report(
          psbt,
          'Another transaction that waits on the network spends its coins. If the wallet has raised the fee by itself, wait until it is confirmed',
        );
      }
      case 'conflict': {
        const { spender, confirmations } = found;
        await transitions.noteHeight(id, Math.max(psbt.from_height, spender.height - rereadBlocks));
        const problem = `Its coins were spent by another transaction, ${spender.txHash}, in block ${spender.height}. If that has paid some of the transfers, run transfers settle ID --tx-hash ${spender.txHash} --block ${spender.height} for each; then discard the PSBT`;
        if (confirmations < to.network.confirmations || state === 'discarded') {
          return report(psbt, state === 'discarded' ? null : problem);
        }
        if (state !== 'conflicted') {
          log.warn({ psbt: id, mode: psbt.mode, network: psbt.network, problem }, 'A PSBT needs attention');
          await transitions.conflict(id, problem);
        }
        return;
      }
      case 'gone': {
        if (state === 'settled') await transitions.markUnconfirmed(id);
        return report(
          psbt,
          state === 'discarded'
            ? null
            : 'The node does not know its coins: the transactions that they came from have left the chain. It is sent again when they are back',
        );
      }
      default:
        return found satisfies never;
    }
  }

  async function spenderOf(psbt: StoredPsbt, to: PsbtNetwork, signal: AbortSignal) {
    const [first] = psbt.inputs;
    if (!first) return undefined;
    const outpoint = { txHash: first.tx_hash, outputIndex: first.output_index };
    return (await to.node.findSpender(outpoint, psbt.from_height, signal))?.txHash;
  }

  /** Undefined if the network is not configured any more. */
  function heightOf(mode: Mode, code: string, signal: AbortSignal): Promise<number | undefined> {
    const found = deps.connected.find(({ network }) => network.mode === mode && network.code === code);
    return found?.utxoNode?.height(signal) ?? Promise.resolve(undefined);
  }

  async function look(id: string, signal: AbortSignal): Promise<Location | undefined> {
    const psbt = await store.readPsbt(database.reader, id);
    if (!psbt || !isConfigured(psbt)) return undefined;
    const to = networkOf(deps, psbt.mode, psbt.network);
    const account = await accountOfPsbt(deps, psbt, to);
    const found = await findLocation(psbt, to.node, account, signal);
    await apply(psbt, found, to, signal);
    return found;
  }

  return {
    /** Looks at one PSBT on the network, and changes what follows. @returns undefined if its network is not configured */
    look,

    /** Looks at all that a chain can still change. */
    async follow(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      const down = new Set<string>();
      const heights = new Map<string, number | undefined>();
      for (const { id, mode, network } of await store.followedPsbts(
        database.reader,
        clock.real() - watchedMs,
      )) {
        signal.throwIfAborted();
        const name = `${mode}/${network}`;
        if (down.has(name)) continue;
        await failures.collect(async () => {
          try {
            const height = heights.get(name) ?? (await heightOf(mode, network, signal));
            heights.set(name, height);
            if (height === undefined || readUpTo.get(id) === height) return;
            const found = await look(id, signal);
            // Both took whole blocks to find out, and last until the next block at least.
            if (found?.kind === 'conflict' || found?.kind === 'gone') readUpTo.set(id, height);
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
    },
  };
}

function newestSigned({ versions }: StoredPsbt): PsbtVersionTable | undefined {
  return [...versions].reverse().find(({ signed_transaction: raw }) => raw !== null);
}

function lost({ settled_version: number }: StoredPsbt): string {
  return `The chain has dropped its transaction (version ${number ?? 1}) after it was settled. It was sent again, and is not confirmed yet`;
}

export type Follow = ReturnType<typeof createFollow>;
