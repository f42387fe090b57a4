/**
 * Idempotency keys: a request that is sent again gets the first one's reply and changes nothing.
 * A record belongs to merchant, mode, key kind, method and the path as it was called, so that an alias is a
 * path of its own. It commits with the change, so that a retry after a crash finds both or neither.
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

const maximumKeyLength = 255;

/** A request that carries a key. */
export interface KeyedRequest {
  readonly caller: Caller;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** The parsed body: what is ignored of a body does not make it another one. */
  readonly body: unknown;
}

export interface KeyedReply {
  readonly json: string;
  readonly isReplay: boolean;
}

/** The record of the request that is under way, for the transaction that makes its change. */
export interface OpenRecord {
  /** Before the change: nobody else with the same key gets past this until the transaction ends. */
  claim(transaction: Transaction): Promise<void>;
  /** After it. */
  keep(transaction: Transaction, json: string): Promise<void>;
}

export interface Idempotency {
  /**
   * Runs the work of a request once. Errors are not kept.
   * Problems: `idempotency_in_progress`, `idempotency_mismatch`.
   */
  once(request: KeyedRequest, work: (record: OpenRecord) => Promise<string>): Promise<KeyedReply>;
  /** Deletes the records of a mode that were made up to a time of its clock. */
  prune(mode: Mode, before: number): Promise<void>;
}

/** The key of an `Idempotency-Key` header. Problem: `validation_error`. */
export function readIdempotencyKey(header: string): string {
  if (header === '' || header.length > maximumKeyLength) {
    throw invalidField('Idempotency-Key', `Must have 1 to ${maximumKeyLength} characters`);
  }
  return header;
}

/** Another process took the key between our look and our claim: its record is there now. */
class ClaimedElsewhere extends Error {
  override readonly name = 'ClaimedElsewhere';
}

type Identity = Omit<IdempotencyTable, 'payload_hash' | 'reply' | 'created_at'>;

export function createIdempotency(database: Database, clock: Clock): Idempotency {
  const inFlight = new Set<string>();
  const oldest = (mode: Mode) => clock.now(mode) - retention.idempotencyMs;

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
      .where('created_at', '>', oldest(identity.mode))
      .executeTakeFirst();
    if (!record) return undefined;
    if (record.payload_hash !== payloadHash) {
      throw new Problem('idempotency_mismatch', 'This Idempotency-Key was used with another request body');
    }
    return { json: record.reply, isReplay: true };
  }

  const openRecord = (identity: Identity, payloadHash: string): OpenRecord => ({
    async claim(transaction) {
      const content = { payload_hash: payloadHash, reply: '', created_at: clock.now(identity.mode) };
      // On PostgreSQL this waits for a transaction that has the same key, as SQLite's write lock does for all.
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('idempotency')
        .values({ ...identity, ...content })
        .onConflict((conflict) =>
          conflict
            .columns(['merchant_id', 'mode', 'key_kind', 'method', 'path', 'idempotency_key'])
            .doUpdateSet(content)
            .where('idempotency.created_at', '<=', oldest(identity.mode)),
        )
        .executeTakeFirstOrThrow();
      if (!numInsertedOrUpdatedRows) throw new ClaimedElsewhere();
    },
    async keep(transaction, json) {
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
      // Parsed bodies have their fields in the order of the schema, so equal ones are equal as text.
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
        const other = await replay(identity, payloadHash);
        if (other) return other;
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

/** PostgreSQL indexes at most 2704 bytes; a path with a longer value in it is known by its hash. */
function indexable(path: string): string {
  return path.length <= 500 ? path : hash('sha256', path, 'hex');
}

function inProgress(): Problem {
  return new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is under way; try again when it has ended',
  );
}
