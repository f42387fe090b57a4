/**
 * Idempotency keys: a repeated request gets the reply of the first one and changes nothing.
 *
 * A record is scoped to the merchant, mode, kind of API key, method and path as called, so an alias counts as another
 * path. It commits together with the change: a retry after a crash finds both or neither.
 */
import { hash } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { IdempotencyTable } from '../db/schema.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Mode, Caller } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import { send } from '../db/send.js';

const maxKeyLength = 255;

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly caller: Caller;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** The parsed body, so that ignored fields do not make a request count as different. */
  readonly body: unknown;
}

export interface KeyedReply {
  readonly json: string;
  readonly isReplay: boolean;
}

/** The record of the current request, to be written in the transaction of its change. */
export interface OpenRecord {
  /** Call it before the change. It blocks other requests with the same key until the transaction ends. */
  claim(transaction: Transaction): Promise<void>;
  /** Call it after the change, with the reply. */
  save(transaction: Transaction, json: string): Promise<void>;
}

export interface Idempotency {
  /**
   * Runs a request's work once per key. Errors are not stored, so a failed request may be retried.
   * Problems: `idempotency_in_progress`, `idempotency_mismatch`.
   */
  once(request: KeyedRequest, work: (record: OpenRecord) => Promise<string>): Promise<KeyedReply>;
  /** Deletes a mode's records that were created at or before `before`, a real time. */
  prune(mode: Mode, before: number): Promise<void>;
}

/** Reads the `Idempotency-Key` header. Problem: `validation_error`. */
export function readIdempotencyKey(header: string): string {
  if (header === '' || header.length > maxKeyLength) {
    throw invalidField('Idempotency-Key', `Must have 1 to ${maxKeyLength} characters`);
  }
  return header;
}

/** Another process claimed the key between our lookup and our claim; its record is stored now. */
class ClaimedElsewhere extends Error {
  override readonly name = 'ClaimedElsewhere';
}

type Identity = Omit<IdempotencyTable, 'payload_hash' | 'reply' | 'created_at'>;

export function createIdempotency(database: Database, clock: Clock): Idempotency {
  const inFlight = new Set<string>();
  const expiredBefore = () => clock.real() - retention.idempotencyMs;

  async function replay(identity: Identity, payloadHash: string): Promise<KeyedReply | undefined> {
    const record = await database.reader
      .selectFrom('idempotency')
      .select(['payload_hash', 'reply'])
      .where('merchant_id', '=', identity.merchant_id)
      .where('mode', '=', identity.mode)
      .where('key_kind', '=', identity.key_kind)
      .where('method', '=', identity.method)
      .where('path', '=', identity.path)
      .where('idempotency_key', '=', identity.idempotency_key)
      .where('created_at', '>', expiredBefore())
      .executeTakeFirst();
    if (!record) return undefined;
    if (record.payload_hash !== payloadHash) {
      throw new Problem(
        'idempotency_mismatch',
        'This Idempotency-Key was already used with a different request body. Use a new key for a new request',
      );
    }
    return { json: record.reply, isReplay: true };
  }

  const openRecord = (identity: Identity, payloadHash: string): OpenRecord => ({
    async claim(transaction) {
      const content = { payload_hash: payloadHash, reply: '', created_at: clock.real() };
      // On PostgreSQL this waits for any transaction with the same key. On SQLite the write lock has done so already.
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('idempotency')
        .values({ ...identity, ...content })
        .onConflict((conflict) =>
          conflict
            .columns(['merchant_id', 'mode', 'key_kind', 'method', 'path', 'idempotency_key'])
            .doUpdateSet(content)
            .where('idempotency.created_at', '<=', expiredBefore()),
        )
        .executeTakeFirstOrThrow();
      if (!numInsertedOrUpdatedRows) throw new ClaimedElsewhere();
    },
    async save(transaction, json) {
      await send(
        transaction,
        transaction
          .updateTable('idempotency')
          .set({ reply: json })
          .where('merchant_id', '=', identity.merchant_id)
          .where('mode', '=', identity.mode)
          .where('key_kind', '=', identity.key_kind)
          .where('method', '=', identity.method)
          .where('path', '=', identity.path)
          .where('idempotency_key', '=', identity.idempotency_key),
      );
    },
  });

  return {
    async once({ caller, method, path, key, body }, work) {
      const identity: Identity = {
        merchant_id: caller.merchantId,
        mode: caller.mode,
        key_kind: caller.kind,
        method,
        path: indexable(path),
        idempotency_key: key,
      };
      // Parsed bodies have their fields in schema order, so equal bodies serialize to equal text.
      const payloadHash = hash('sha256', JSON.stringify(body ?? {}), 'hex');
      const earlier = await replay(identity, payloadHash);
      if (earlier) return earlier;

      const name = JSON.stringify(identity);
      if (inFlight.has(name)) throw inProgress();
      inFlight.add(name);
      try {
        return { json: await work(openRecord(identity, payloadHash)), isReplay: false };
      } catch (error) {
        if (!(error instanceof ClaimedElsewhere)) throw error;
        const theirs = await replay(identity, payloadHash);
        if (theirs) return theirs;
        throw inProgress();
      } finally {
        inFlight.delete(name);
      }
    },

    async prune(mode, before) {
      await database.write((transaction) =>
        transaction
          .deleteFrom('idempotency')
          .where('mode', '=', mode)
          .where('created_at', '<=', before)
          .execute(),
      );
    },
  };
}

/** PostgreSQL cannot index values of more than 2704 bytes, so long paths are stored as a hash. */
function indexable(path: string): string {
  return path.length <= 500 ? path : hash('sha256', path, 'hex');
}

function inProgress(): Problem {
  return new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress. Try again when it has finished',
  );
}
