/**
 * Sweeps as people of a shop plan and send them: each shop sees and sweeps only its own addresses, also if it shares
 * a treasury.
 */
import type { Input, ConsoleApi } from 'crypto-checkout/contract';
import { coinOf } from '../../core/chains/assets.js';
import type { Reader } from '../../core/db/engine.js';
import type { AuditActor, AuditEntry, AuditFields } from '../../core/merchants/audit-log.js';
import { invalidField } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import type { EvmConnected, TreasuryContext } from './context.js';
import { listTreasuries } from './owners.js';
import { mostBalances, planSweeps, writeSweep } from './plan.js';
import { readBookedSweeps } from './sweep-store.js';

export type Sweeps = ReturnType<typeof createSweeps>;

const isHash = /^0x[0-9a-f]{64}$/i;
const action = 'sweep.sent';
const listedMs = 7 * 86_400_000;

export function createSweeps(deps: TreasuryContext) {
  const { database, clock, auditLog } = deps;

  /** Those where the shop has a treasury. */
  async function networksOf({ merchantId, mode }: Scope): Promise<EvmConnected[]> {
    const treasuries = await listTreasuries(deps, database.reader, mode, merchantId);
    return treasuries.length === 0 ? [] : deps.networks.filter(({ network }) => network.mode === mode);
  }

  async function networkOf(scope: Scope, code: string): Promise<EvmConnected> {
    const on = (await networksOf(scope)).find(({ network }) => network.code === code);
    if (!on) throw invalidField('network', 'The shop has no treasury there');
    return on;
  }

  /** The sweeps that browsers have sent in the last week. */
  async function recent(reader: Reader, { merchantId, mode }: Scope): Promise<AuditEntry[]> {
    const entries = await auditLog.list(reader, { merchantId, action, from: clock.real() - listedMs });
    return entries.filter((entry) => entry.mode === mode);
  }

  return {
    networksOf,

    /** Problem: `validation_error` for a network without a treasury. @throws NodesUnavailable */
    async plan(scope: Scope, code: string, signal: AbortSignal) {
      const on = await networkOf(scope, code);
      const plan = await planSweeps(deps, { network: on, merchantId: scope.merchantId }, signal);
      return { on, plan, ...writeSweep(plan, mostBalances, clock.real()) };
    },

    /** The sweeps that browsers have sent in the last week, newest first. Asks no node. */
    async sent(scope: Scope) {
      const { reader } = database;
      const ofMode = await recent(reader, scope);
      const ended = new Set(ofMode.map(batchOf));
      const listed = ofMode.filter(
        (entry) =>
          entry.after?.['isSent'] !== false && (batchOf(entry) !== undefined || !ended.has(entry.subjectId)),
      );
      const own = [...new Map(listed.map((entry) => [entry.subjectId, entry])).values()];
      const booked = await readBookedSweeps(
        reader,
        scope,
        own.map(({ subjectId }) => subjectId),
      );
      // `answer` is the hash of the transaction, or the id that the wallet gave to a batch.
      return own.reverse().map(({ subjectId, time, actor, after }) => ({
        network: String(after?.['network']),
        answer: subjectId,
        time,
        actor,
        isBooked: booked.has(subjectId),
      }));
    },

    /**
     * Keeps each answer once. Problem: `validation_error` for a network without a treasury.
     * @param given its hashes are those of a batch's transactions, which are listed in place of the batch; empty if the wallet says
     *   that it sent nothing
     */
    async keepAnswer(
      scope: Scope,
      given: Input<ConsoleApi['sweeps']['keepAnswer']>['body'],
      actor: AuditActor,
    ): Promise<void> {
      const { network } = given;
      await networkOf(scope, network);
      const { merchantId, mode } = scope;
      const { hashes } = given;
      const batch = idOf(given.answer);
      const kept: readonly { subjectId: string; after: AuditFields }[] =
        hashes === undefined
          ? [{ subjectId: batch, after: { network } }]
          : hashes.length === 0
            ? [{ subjectId: batch, after: { network, batch, isSent: false } }]
            : hashes.map((hash) => ({ subjectId: idOf(hash), after: { network, batch } }));
      await database.write(async (transaction) => {
        // Two tabs can get the same answer.
        const known = await recent(transaction, scope);
        for (const one of kept) {
          const isKnown = known.some(
            (entry) => entry.subjectId === one.subjectId && batchOf(entry) === one.after['batch'],
          );
          if (!isKnown) await auditLog.record(transaction, { merchantId, mode, actor, action, ...one });
        }
      });
    },
  };
}

/** A wallet may also answer with the id of a batch, in any form. */
const idOf = (answer: string): string => (isHash.test(answer) ? answer.toLowerCase() : answer);

/** The id of the batch whose outcome an entry records. */
const batchOf = ({ after }: Pick<AuditEntry, 'after'>): unknown => after?.['batch'];

export const coinCodeOf = ({ chainAssets }: EvmConnected): string => coinOf(chainAssets)?.currency ?? '';
