/** The audit log: who changed keys, webhooks, settings and destinations of money, when, and how. It is append-only. */
import type { Selectable } from 'kysely';
import type { AuditLogTable } from '../db/schema.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Caller, Mode, Person, Scope } from '../shared/scope.js';
import { checkAuditChain, hashEntry } from './audit-chain.js';
import { identityOf } from '../db/transaction-context.js';
import * as store from './audit-store.js';
import type { AuditFilter } from './audit-store.js';
import type { Reader, Transaction } from '../db/engine.js';

export type AuditAction =
  | `merchant.${'created' | 'updated'}`
  | `webhook.${'set' | 'removed' | 'disabled' | 'secret_rotated'}`
  | `key.${'created' | 'revoked'}`
  | `wallet_address.${'created' | 'made_primary'}`
  | `deposit_key.${'set' | 'withdrawn' | 'took_effect' | 'skipped'}`
  | `balance.${'suspended' | 'resumed' | 'reconciled'}`
  | `transfer.${'created' | 'settled' | 'failed' | 'exported' | 'released' | 'handed' | 'wallet_answered' | 'paid_late'}`
  | 'treasury.explained'
  | 'sweep.sent'
  | `psbt.${'exported' | 'bumped' | 'imported' | 'discarded'}`
  | `refund.${'created' | 'approved' | 'cancelled' | 'linked'}`
  | `payout.${'created' | 'settled' | 'failed'}`
  | 'restore.confirmed'
  | `person.${'invited' | 'link_made' | 'role_changed' | 'removed' | 'signed_out'}`
  | `session.${'started' | 'ended'}`
  | `passkey.${'added' | 'removed'}`
  | 'console.change'
  | 'customer.erased'
  | 'sandbox.reset';

/** The fields that an entry shows. They must never contain a secret. */
export type AuditFields = Readonly<Record<string, unknown>>;

export interface NewAuditEntry {
  readonly merchantId: string;
  /** Absent for what both modes share. */
  readonly mode?: Mode | undefined;
  /** From `actorOf` for a key; who runs the command, on the command line. */
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of the record that was changed. */
  readonly subjectId: string;
  readonly before?: AuditFields | undefined;
  readonly after?: AuditFields | undefined;
}

export type AuditEntry = Readonly<ReturnType<typeof view>>;

export type AuditLog = ReturnType<typeof createAuditLog>;

export function createAuditLog(clock: Clock) {
  const done = new WeakSet<object>();

  /** Adds an entry, in the transaction of the change. It adds none if `before` and `after` are the same. */
  async function record(
    transaction: Transaction,
    { merchantId, mode, actor, action, subjectId, before, after }: NewAuditEntry,
  ): Promise<void> {
    const running = identityOf(transaction);
    if (running) done.add(running);
    const changed = (field: string) => !isSame(before?.[field], after?.[field]);
    const fieldsOf = (fields: AuditFields | undefined) =>
      fields && JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([name]) => changed(name))));
    if (before && after && ![...Object.keys(before), ...Object.keys(after)].some(changed)) return;
    const previousHash = await store.lockHead(transaction);
    const row = {
      time: clock.real(),
      merchant_id: merchantId,
      mode: mode ?? null,
      actor,
      action,
      subject_id: subjectId,
      before: fieldsOf(before) ?? null,
      after: fieldsOf(after) ?? null,
      previous_hash: previousHash,
    };
    await store.insertEntry(transaction, { ...row, hash: hashEntry(row) });
  }

  return {
    record,

    /** Adds an entry unless the transaction has one: for what has no entry of its own kind. */
    async recordUnlessDone(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
      const running = identityOf(transaction);
      if (!running || !done.has(running)) await record(transaction, entry);
    },

    check: checkAuditChain,

    /** Oldest first. */
    list: async (reader: Reader, filter: AuditFilter) => (await store.listEntries(reader, filter)).map(view),

    /** Of a merchant's mode, newest first. */
    async page(reader: Reader, scope: Scope, request: PageRequest): Promise<Page<AuditEntry>> {
      const { rows, total } = await store.pageOfEntries(reader, scope, request);
      return { rows: rows.map(view), total };
    },
  };
}

const view = (row: Selectable<AuditLogTable>) => ({
  id: row.id,
  /** Real time. */
  time: isoTime(row.time),
  merchantId: row.merchant_id,
  mode: row.mode,
  actor: row.actor,
  action: row.action,
  subjectId: row.subject_id,
  /** What changed: only the fields that differ. Null if there was nothing before or after. */
  before: readFields(row.before),
  after: readFields(row.after),
  /** Of the entry and of all before it. */
  hash: row.hash,
});

/** How the log names who made a request: a key, or a person in the console. */
export function actorOf(caller: Caller): string {
  if (caller.person) return personActor(caller.person);
  const { kind, mode, keyLast4 } = caller;
  return `${kind} key ${kind === 'secret' ? 'sk' : 'pk'}_${mode}_…${keyLast4}`;
}

/** The same for records of other tables, which never have a person's e-mail address. */
export function makerOf(caller: Caller): string {
  return caller.person ? `${caller.person.role} ${caller.person.id}` : actorOf(caller);
}

export function personActor({
  id,
  email,
  role,
  address,
  requestId,
}: Pick<Person, 'id' | 'email' | 'role' | 'address' | 'requestId'>): string {
  return `${email}, ${role} ${id}, from ${address}, request ${requestId}`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function readFields(json: string | null): Record<string, unknown> | null {
  return json === null ? null : (JSON.parse(json) as Record<string, unknown>);
}
