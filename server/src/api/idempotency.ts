/**
 * Idempotency keys: a repeated request gets the reply of the first one and changes nothing.
 *
 * A record is scoped to the merchant, mode, kind of API key, method and path as called, so an alias counts as another
 * path. It commits together with the change: a retry after a crash finds both or neither.
 *
 * What is kept is bounded: equal replies of one path are kept once, and without a payment's lists, which only grow. A
 * record ages by real time, because a test clock can jump over the whole time that it is kept.
 */
import { hash } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Database } from '../db/database.js';
import type { IdempotencyTable } from '../db/schema.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import { send } from '../db/send.js';
import { restoreReply, shortenReply } from './kept-reply.js';

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
  /** Deletes the records that were created at or before `before`, in epoch milliseconds. */
  prune(before: number): Promise<void>;
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

type Identity = Omit<IdempotencyTable, 'payload_hash' | 'reply_hash' | 'created_at'>;

/** Replicas' clocks may differ, and a reply must be there as long as any record that refers to it. */
const replyMarginMs = 3_600_000;

export interface IdempotencyDeps {
  readonly database: Database;
  /** Real time, in epoch milliseconds. */
  readonly now: () => number;
  /** Reads a payment as the caller sees it. */
  readonly readPayment: (caller: Caller, id: string) => Promise<unknown>;
}

export function createIdempotency({ database, now, readPayment }: IdempotencyDeps): Idempotency {
  const inFlight = new Set<string>();
  const expiredBefore = () => now() - retention.idempotencyMs;

  async function replay(
    caller: Caller,
    identity: Identity,
    payloadHash: string,
  ): Promise<KeyedReply | undefined> {
    const record = await database.reader
      .selectFrom('idempotency as i')
      .innerJoin('idempotency_replies as r', (join) =>
        join
          .onRef('r.merchant_id', '=', 'i.merchant_id')
          .onRef('r.mode', '=', 'i.mode')
          .onRef('r.hash', '=', 'i.reply_hash'),
      )
      .select(['i.payload_hash', 'r.reply'])
      .where('i.merchant_id', '=', identity.merchant_id)
      .where('i.mode', '=', identity.mode)
      .where('i.key_kind', '=', identity.key_kind)
      .where('i.method', '=', identity.method)
      .where('i.path', '=', identity.path)
      .where('i.idempotency_key', '=', identity.idempotency_key)
      .where('i.created_at', '>', expiredBefore())
      .executeTakeFirst();
    if (!record) return undefined;
    if (record.payload_hash !== payloadHash) {
      throw new Problem(
        'idempotency_mismatch',
        'This Idempotency-Key was already used with a different request body. Use a new key for a new request',
      );
    }
    const json = await restoreReply(record.reply, (id) => readPayment(caller, id));
    return { json, isReplay: true };
  }

  const openRecord = (identity: Identity, payloadHash: string): OpenRecord => ({
    async claim(transaction) {
      const content = { payload_hash: payloadHash, reply_hash: '', created_at: now() };
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
      const { merchant_id, mode, key_kind, method, path } = identity;
      const reply = shortenReply(json);
      const reply_hash = hash('sha256', JSON.stringify([key_kind, method, path, reply]), 'base64url');
      const created_at = now();
      await send(
        transaction,
        transaction
          .insertInto('idempotency_replies')
          .values({ merchant_id, mode, hash: reply_hash, reply, created_at })
          .onConflict((conflict) =>
            conflict.columns(['merchant_id', 'mode', 'hash']).doUpdateSet({ created_at }),
          ),
      );
      await send(
        transaction,
        transaction
          .updateTable('idempotency')
          .set({ reply_hash })
          .where((e) => e.and({ merchant_id, mode, key_kind, method, path }))
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
      const earlier = await replay(caller, identity, payloadHash);
      if (earlier) return earlier;

      const name = JSON.stringify(identity);
      if (inFlight.has(name)) throw inProgress();
      inFlight.add(name);
      try {
        return { json: await work(openRecord(identity, payloadHash)), isReplay: false };
      } catch (error) {
        if (!(error instanceof ClaimedElsewhere)) throw error;
        const theirs = await replay(caller, identity, payloadHash);
        if (theirs) return theirs;
        throw inProgress();
      } finally {
        inFlight.delete(name);
      }
    },

    async prune(before) {
      await database.write(async (transaction) => {
        await transaction.deleteFrom('idempotency').where('created_at', '<=', before).execute();
        await transaction
          .deleteFrom('idempotency_replies')
          .where('created_at', '<=', before - replyMarginMs)
          .execute();
      });
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
