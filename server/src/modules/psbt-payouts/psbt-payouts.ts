/**
 * Payouts by PSBT: the transfers of a merchant that wait become one transaction, which the merchant's own wallet signs. The
 * server chooses the coins and watches the network, and cannot sign.
 */
import type { AuditActor } from '../../core/merchants/audit-log.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import { chunksOf } from '../../core/db/chunks.js';
import type { Reader } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { exportFigures } from '../networks/export-figures.js';
import { byNetwork } from '../../core/shared/feature.js';
import { invalidState } from '../../core/shared/problem.js';
import { bump } from './bump.js';
import { unspentCoins, untouchedCoins } from './coin-store.js';
import type { PsbtDeps } from './context.js';
import { exportWaiting, type ExportRequest } from './export.js';
import { createFollow, followed, look } from './follow.js';
import { importSigned } from './import.js';
import { settleFirst, unsettledOf } from './paid-transfers.js';
import * as store from './psbt-store.js';
import type { FollowedPsbt, Holder, StoredPsbt } from './psbt-store.js';
import * as transitions from './transitions.js';
import { scopeOf, type Within } from '../../core/shared/scope.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<`psbt.${'exported' | 'bumped' | 'imported' | 'discarded'}`, true> {}
}

export type PsbtPayouts = ReturnType<typeof createPsbtPayouts>;

const listed = 1000;
/** The number of outputs that are looked up at once. */
const coinsAtOnce = 100;

export function createPsbtPayouts(deps: PsbtDeps) {
  const { database, auditLog } = deps;
  const follow = createFollow(deps);
  /** Problem: `not_found`. */
  const retrieve = (id: string, within: Within = {}) => store.requirePsbt(database.reader, id, within);

  /** Those with a problem, oldest first. A settled one is named for a day. */
  const inTrouble = async () =>
    (await followed(deps)).flatMap((psbt) => {
      const problem = store.attentionOf(psbt);
      return problem === null ? [] : { ...psbt, problem };
    });

  /** Gives a PSBT up that was not broadcast, or whose coins went elsewhere. Repeating it changes nothing. */
  async function discard(
    id: string,
    within: Within,
    actor: AuditActor,
    signal: AbortSignal,
  ): Promise<StoredPsbt> {
    let psbt = await retrieve(id, within);
    if (psbt.state === 'discarded') return psbt;
    if (psbt.state === 'open' || psbt.state === 'conflicted') {
      // The operator's wallet may have broadcast it on its own, or in a form of its own.
      const looked = await look(deps, id, signal);
      psbt = await retrieve(id);
      ensureUnspent(psbt, looked);
    }
    if (psbt.state === 'sent') {
      throw invalidState(
        'It is signed and was broadcast, so the network can confirm it at any time. To hurry it, use transfers psbt bump',
      );
    }
    if (psbt.state === 'settled') throw invalidState('It is settled: the transfers are paid');
    await database.write(async (transaction) => {
      const current = await store.lockPsbt(transaction, id);
      if (current.state !== psbt.state) {
        throw invalidState(`The PSBT has become ${current.state} meanwhile`);
      }
      await transitions.discard(deps, transaction, current);
      await auditLog.record(transaction, {
        ...scopeOf(psbt),
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
    /**
     * Makes one PSBT of the transfers that wait, and reserves them and the coins. Problems: `not_found`, `invalid_state`.
     * @throws NodesUnavailable
     */
    exportWaiting: (request: ExportRequest, signal: AbortSignal) => exportWaiting(deps, request, signal),

    /**
     * A version with a higher fee, to be signed in its place (BIP-125). Same problems.
     * @param feeRate satoshis per virtual byte
     */
    async bump(id: string, feeRate: string, within: Within, actor: AuditActor, signal: AbortSignal) {
      await retrieve(id, within);
      return bump(deps, id, feeRate, actor, signal);
    },

    /**
     * Checks a signed PSBT or transaction against what was exported, stores it, and broadcasts it. Problem: `invalid_state`
     * with a sentence that names the difference. Importing the same again broadcasts it again.
     */
    importSigned: (file: Uint8Array, within: Within, actor: AuditActor, signal: AbortSignal) =>
      importSigned(deps, file, within, actor, signal),
    discard,
    retrieve,

    /**
     * A PSBT whose file goes to a wallet once more. Problems: `not_found`, and `service_unavailable` while a restore is suspected:
     * its transfers may have been paid.
     */
    async handOut(id: string, within: Within): Promise<StoredPsbt> {
      const psbt = await retrieve(id, within);
      await deps.hooks.ensurePayable(database.reader, psbt.mode, psbt.merchant_id);
      return psbt;
    },
    /** Newest first, at most 1000. */
    list: (within: Within) => store.listPsbts(database.reader, within, listed),
    inTrouble,
    /** Broadcasts what is not on the network, and settles what is confirmed. */
    follow,

    /**
     * In satoshis, the confirmed deposits and the change of settled PSBTs that no block spends.
     * @throws NodesUnavailable
     */
    async sumUnspent({ utxoNode }: ConnectedNetwork, of: Holder, signal: AbortSignal): Promise<bigint> {
      let total = 0n;
      for await (const coins of unspentCoins(database.reader, of)) {
        for (const chunk of chunksOf(coins, coinsAtOnce)) {
          const found = await utxoNode?.unspent(chunk, false, signal);
          for (const coin of found ?? []) total += coin?.amount ?? 0n;
        }
      }
      return total;
    },

    /** The coins that the merchant was paid and that are in no PSBT, whatever its state; as `hash:index`, in parts. */
    untouchedCoins,
    ensureFree,
    ensureUnpaid,
    figures: () => [
      ...exportFigures(() => store.sumExported(database.reader), deps.clock.real),
      byNetwork({
        name: 'checkout_psbts_in_trouble',
        help: 'PSBTs that need attention; "transfers psbt list" says why',
        read: async () => countByNetwork(await inTrouble()),
      }),
    ],
    jobs: () =>
      deps.connected.some(({ utxoNode }) => utxoNode)
        ? [{ name: 'psbts', intervalMs: 5000, run: follow }]
        : [],
  };
}

function countByNetwork(psbts: readonly FollowedPsbt[]) {
  const counts = new Map<string, readonly [FollowedPsbt, number]>();
  for (const psbt of psbts) {
    const name = `${psbt.mode}/${psbt.network}`;
    const [first, count] = counts.get(name) ?? [psbt, 0];
    counts.set(name, [first, count + 1]);
  }
  return [...counts.values()];
}

/** Before a PSBT is discarded: refuses while a transaction of the wallet may pay its transfers. Problem: `invalid_state`. */
function ensureUnspent(psbt: StoredPsbt, { found, depth }: Awaited<ReturnType<typeof look>>): void {
  const isFree =
    psbt.state === 'conflicted' ? found.kind !== 'contested' && depth !== 'doubted' : found.kind === 'absent';
  if ((psbt.state === 'open' || psbt.state === 'conflicted') && !isFree) {
    throw invalidState(
      'Its coins are being spent, so it may have been broadcast. Import what the wallet signed, or wait until the spending transaction is confirmed',
    );
  }
  const unsettled = found.kind === 'conflict' ? unsettledOf(psbt, found.pays) : [];
  if (found.kind !== 'conflict' || unsettled.length === 0) return;
  throw invalidState(`${settleFirst(found.spender, unsettled)}, and discard the PSBT then`);
}

/** For the rules of transfers: refuses to give back what a transaction of the wallet may have paid. Problem: `invalid_state`. */
async function ensureUnpaid(reader: Reader, { id }: TransferRow): Promise<void> {
  const psbt = await store.doubtfulOf(reader, id);
  if (!psbt) return;
  throw invalidState(
    psbt.state === 'conflicted'
      ? `The transfer is in the PSBT ${psbt.id}, whose coins another transaction has spent. If that has paid it, use transfers settle; if not, run transfers psbt discard ${psbt.id} first`
      : `The transfer is in the PSBT ${psbt.id}. ${psbt.problem ?? ''}`,
  );
}

/** For the rules of transfers: refuses what would pay a transfer twice. Problem: `invalid_state`. */
async function ensureFree(reader: Reader, { id }: TransferRow): Promise<void> {
  const holder = await store.holderOf(reader, id);
  if (holder?.state !== 'open' && holder?.state !== 'sent') return;
  throw invalidState(
    holder.state === 'open'
      ? `The transfer is in the PSBT ${holder.id}, which the wallet may be signing. Import what it signs, or run transfers psbt discard ${holder.id} first`
      : `The transfer is paid by the PSBT ${holder.id}, and ends automatically when that is confirmed`,
  );
}
