/** Takes a signed PSBT or transaction back: checks it against what was exported, stores it, and broadcasts it. */
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { finalize, findDifference, outpointsOf, readReturned, Refused } from './check.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { invalidState } from '../../core/shared/problem.js';
import { amountIn, expectedOf, walletOf, type PsbtDeps } from './context.js';
import * as store from './psbt-store.js';
import * as transitions from './transitions.js';
import { isWithin, scopeOf, type Within } from '../../core/shared/scope.js';
import { ensureDue } from '../networks/ensure-due.js';
import type { PsbtTable } from './tables.js';

export async function importSigned(
  deps: PsbtDeps,
  file: Uint8Array,
  within: Within,
  actor: AuditActor,
  signal: AbortSignal,
) {
  const { database, auditLog } = deps;
  const { psbt, version, signed, node } = await checkReturned(deps, file, within).catch((error: unknown) => {
    throw error instanceof Refused ? invalidState(error.message) : error;
  });
  const stored = await database.write(async (transaction) => {
    await deps.hooks.beforePayout(transaction, psbt.mode, psbt.merchant_id);
    const current = await store.lockPsbt(transaction, psbt.id);
    refuseEnded(current);
    const same = current.versions.find(({ number }) => number === version.number);
    if (!same) throw new Error(`The PSBT ${psbt.id} has lost a version`);
    // Checked only before the first broadcast: refusing a later version does not stop a transaction that is on its way.
    if (current.state === 'open') await ensureDue(deps, transaction, current.transfers);
    const isNew = same.signed_transaction === null;
    await transitions.markSent(deps, transaction, current, same, signed);
    if (isNew) {
      await auditLog.record(transaction, {
        ...scopeOf(current),
        actor,
        action: 'psbt.imported',
        subjectId: current.id,
        after: { version: version.number, txHash: signed.txHash },
      });
    }
    return same;
  });
  const problem = await node.send(signed.transaction, signal).catch(errorMessage);
  return {
    psbt: await store.requirePsbt(database.reader, psbt.id),
    version: { ...stored, tx_hash: signed.txHash },
    /** True if a node accepted it. If not, `problem` has the reason, and the server retries automatically. */
    isBroadcast: problem === undefined,
    problem,
  };
}

/** Finds the version that came back. @throws Refused */
async function checkReturned(deps: PsbtDeps, file: Uint8Array, within: Within) {
  const returned = readReturned(file);
  const ids = await store.psbtsSpending(deps.database.reader, outpointsOf(returned));
  let refusal: Refused | undefined;
  for (const id of ids) {
    const psbt = await store.requirePsbt(deps.database.reader, id);
    if (!isWithin(psbt, within)) continue;
    const { node, currency, account } = await walletOf(deps, psbt);
    for (const version of [...psbt.versions].reverse()) {
      const expected = expectedOf(psbt, version, account);
      const difference = findDifference(returned, expected, amountIn(currency));
      if (difference !== undefined) {
        refusal ??= new Refused(
          `This is not the transaction that was exported as ${id}. ${difference}. Nothing was stored or sent`,
        );
        continue;
      }
      refuseEnded(psbt);
      return { psbt, version, node, signed: finalize(returned, expected) };
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
  throw invalidState(reasons[state]);
}
