/**
 * Idempotency keys: a repeated request gets the reply of the first one and changes nothing.
 *
 * A record is scoped to the merchant, mode, kind of API key, method and path as called, so an alias counts as another
 * path. It commits together with the change: a retry after a crash finds both or neither.
 *
 * The memory for them is bounded: equal replies of one path are kept once, and without a payment's lists. Of a payer's change, no
 * reply is kept: it is made again from the payment. A record ages by real time, because a test clock can jump over the whole
 * time that it is kept.
 */
import { hash } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Database } from '../db/database.js';
import type { PersonalData } from '../db/personal-data.js';
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
  /** Set for a payer's change of a payment. */
  readonly change?: PayerChange | undefined;
}

/** A change whose reply is made again from its payment, as it is when the request is repeated. */
export interface PayerChange {
  readonly paymentId: string;
  /** @param payment as the caller sees it */
  replyWith(payment: unknown): string;
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

export type Idempotency = ReturnType<typeof createIdempotency>;

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

type Identity = Pick<IdempotencyTable, 'request' | 'merchant_id' | 'mode'>;

/** Replicas' clocks may differ, and a reply must be there as long as any record that refers to it. */
const replyMarginMs = 3_600_000;

export interface IdempotencyDeps {
  readonly database: Database;
  readonly personalData: PersonalData;
  /** Real time, in epoch milliseconds. */
  readonly now: () => number;
  /** Reads a payment as the caller sees it. */
  readonly readPayment: (caller: Caller, id: string) => Promise<unknown>;
}

export function createIdempotency(deps: IdempotencyDeps) {
  const { database, personalData, now, readPayment } = deps;
  const inFlight = new Set<string>();

  async function replay(
    { caller, change }: KeyedRequest,
    { request }: Identity,
    payloadHash: string,
  ): Promise<KeyedReply | undefined> {
    const record = await database.reader
      .selectFrom('idempotency as i')
      .leftJoin('idempotency_replies as r', (join) =>
        join
          .onRef('r.merchant_id', '=', 'i.merchant_id')
          .onRef('r.mode', '=', 'i.mode')
          .onRef('r.hash', '=', 'i.reply_hash'),
      )
      .select(['i.payload_hash', 'i.reply_hash', 'r.reply'])
      .where('i.request', '=', request)
      .where('i.expires_at', '>', now())
      .executeTakeFirst();
    if (!record) return undefined;
    if (!personalData.digests(payloadHash).includes(record.payload_hash)) {
      throw new Problem(
        'idempotency_mismatch',
        'This Idempotency-Key was already used with a different request body. Use a new key for a new request',
      );
    }
    if (change)
      return { json: change.replyWith(await readPayment(caller, change.paymentId)), isReplay: true };
    if (record.reply === null || record.reply_hash === null) return undefined;
    const key = { merchant_id: caller.merchantId, mode: caller.mode, hash: record.reply_hash };
    const kept = personalData.openReply(key, record.reply);
    const json = await restoreReply(kept, (id) => readPayment(caller, id));
    return { json, isReplay: true };
  }

  const openRecord = (identity: Identity, payloadHash: string, isPayers: boolean): OpenRecord => ({
    async claim(transaction) {
      const claimedAt = now();
      const content = {
        payload_hash: personalData.digest(payloadHash),
        reply_hash: isPayers ? null : '',
        expires_at: claimedAt + (isPayers ? retention.payerIdempotencyMs : retention.idempotencyMs),
      };
      // On PostgreSQL this waits for any transaction with the same key. On SQLite the write lock has done so already.
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('idempotency')
        .values({ ...identity, ...content })
        .onConflict((conflict) =>
          conflict.column('request').doUpdateSet(content).where('idempotency.expires_at', '<=', claimedAt),
        )
        .executeTakeFirstOrThrow();
      if (!numInsertedOrUpdatedRows) throw new ClaimedElsewhere();
    },
    async save(transaction, json) {
      if (isPayers) return;
      const { merchant_id, mode, request } = identity;
      const shortened = shortenReply(json);
      const reply_hash = personalData.digest(digest([shortened]));
      const reply = personalData.sealReply({ merchant_id, mode, hash: reply_hash }, shortened);
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
        transaction.updateTable('idempotency').set({ reply_hash }).where('request', '=', request),
      );
    },
  });

  return {
    /**
     * Runs a request's work once per key. Errors are not stored, so a failed request may be retried.
     * Problems: `idempotency_in_progress`, `idempotency_mismatch`.
     */
    async once(keyed: KeyedRequest, work: (record: OpenRecord) => Promise<string>): Promise<KeyedReply> {
      const { caller, method, path, key, body } = keyed;
      const { merchantId, mode, kind } = caller;
      const request = digest([merchantId, mode, kind, method, path, key]);
      const identity: Identity = { request, merchant_id: merchantId, mode };
      // Parsed bodies have their fields in schema order, so equal bodies serialize to equal text.
      const payloadHash = digest(body ?? {});
      const earlier = await replay(keyed, identity, payloadHash);
      if (earlier) return earlier;

      if (inFlight.has(request)) throw inProgress();
      inFlight.add(request);
      try {
        const record = openRecord(identity, payloadHash, keyed.change !== undefined);
        return { json: await work(record), isReplay: false };
      } catch (error) {
        if (!(error instanceof ClaimedElsewhere)) throw error;
        const theirs = await replay(keyed, identity, payloadHash);
        if (theirs) return theirs;
        throw inProgress();
      } finally {
        inFlight.delete(request);
      }
    },

    /** Deletes the records that have expired. */
    async prune(): Promise<void> {
      await database.write(async (transaction) => {
        await transaction.deleteFrom('idempotency').where('expires_at', '<=', now()).execute();
        await transaction
          .deleteFrom('idempotency_replies')
          .where('created_at', '<=', now() - retention.idempotencyMs - replyMarginMs)
          .execute();
      });
    },
  };
}

/** 32 characters: 192 bits, so that nobody finds two requests with the same one. */
function digest(content: unknown): string {
  return hash('sha256', JSON.stringify(content), 'base64url').slice(0, 32);
}

function inProgress(): Problem {
  return new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress. Try again when it has finished',
  );
}
