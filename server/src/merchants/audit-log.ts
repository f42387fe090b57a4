/** The audit log: who changed keys, webhooks, settings and destinations of money, when, and how. It is append-only. */
import type { Selectable } from 'kysely';
import type { AuditLogTable } from '../db/schema.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import type { Clock } from '../shared/clock.js';
import type { Caller, Mode, Person, Scope } from '../shared/scope.js';
import { checkAuditChain, hashEntry, type AuditCheck } from './audit-chain.js';
import { runningTransaction } from '../db/transaction-context.js';
import * as store from './audit-store.js';
import type { AuditFilter } from './audit-store.js';
import type { Reader, Transaction } from '../db/engine.js';

export type AuditAction =
  | 'merchant.created'
  | 'merchant.updated'
  | 'webhook.set'
  | 'webhook.removed'
  | 'webhook.disabled'
  | 'webhook.secret_rotated'
  | 'key.created'
  | 'key.revoked'
  | 'wallet_address.created'
  | 'wallet_address.made_primary'
  | 'deposit_key.set'
  | 'deposit_key.withdrawn'
  | 'deposit_key.took_effect'
  | 'deposit_key.skipped'
  | 'balance.suspended'
  | 'balance.resumed'
  | 'balance.reconciled'
  | 'transfer.created'
  | 'transfer.settled'
  | 'transfer.failed'
  | 'transfer.exported'
  | 'transfer.released'
  | 'sweep.sent'
  | 'transfer.handed'
  | 'transfer.wallet_answered'
  | 'psbt.exported'
  | 'psbt.bumped'
  | 'psbt.imported'
  | 'psbt.discarded'
  | 'refund.created'
  | 'refund.approved'
  | 'refund.cancelled'
  | 'refund.linked'
  | 'payout.created'
  | 'payout.settled'
  | 'payout.failed'
  | 'restore.confirmed'
  | 'person.invited'
  | 'person.link_made'
  | 'person.role_changed'
  | 'person.removed'
  | 'person.signed_out'
  | 'session.started'
  | 'session.ended'
  | 'passkey.added'
  | 'passkey.removed'
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

export interface AuditEntry {
  readonly id: number;
  /** Real time, epoch milliseconds. */
  readonly time: number;
  readonly merchantId: string;
  readonly mode: Mode | null;
  readonly actor: string;
  readonly action: string;
  readonly subjectId: string;
  /** What changed: only the fields that differ. Null if there was nothing before or after. */
  readonly before: AuditFields | null;
  readonly after: AuditFields | null;
  /** Of the entry and of all before it. */
  readonly hash: string;
}

export interface AuditLog {
  /** Adds an entry, in the transaction of the change. It adds none if `before` and `after` are the same. */
  record(transaction: Transaction, entry: NewAuditEntry): Promise<void>;
  /** Adds an entry unless the transaction has one: for what has no entry of its own kind. */
  recordUnlessDone(transaction: Transaction, entry: NewAuditEntry): Promise<void>;
  /** Oldest first. */
  list(reader: Reader, filter: AuditFilter): Promise<AuditEntry[]>;
  /** Of a merchant's mode, newest first. */
  page(reader: Reader, scope: Scope, request: PageRequest): Promise<Page<AuditEntry>>;
  /** Whether anything was changed, added or removed past the log. @param noted a hash that the log must have */
  check(reader: Reader, noted: string | undefined): Promise<AuditCheck>;
}

export function createAuditLog(clock: Clock): AuditLog {
  const done = new WeakSet<object>();

  async function record(
    transaction: Transaction,
    { merchantId, mode, actor, action, subjectId, before, after }: NewAuditEntry,
  ): Promise<void> {
    const running = runningTransaction();
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

    async recordUnlessDone(transaction, entry) {
      const running = runningTransaction();
      if (!running || !done.has(running)) await record(transaction, entry);
    },

    check: checkAuditChain,

    list: async (reader, filter) => (await store.listEntries(reader, filter)).map(view),

    async page(reader, scope, request) {
      const { rows, total } = await store.pageOfEntries(reader, scope, request);
      return { rows: rows.map(view), total };
    },
  };
}

const view = (row: Selectable<AuditLogTable>): AuditEntry => ({
  id: row.id,
  time: row.time,
  merchantId: row.merchant_id,
  mode: row.mode,
  actor: row.actor,
  action: row.action,
  subjectId: row.subject_id,
  before: readFields(row.before),
  after: readFields(row.after),
  hash: row.hash,
});

/** How the log names who made a request: a key, or a person in the console. */
export function actorOf(caller: Caller): string {
  if (caller.person) return personActor(caller.person);
  const { kind, mode, keyLast4 } = caller;
  return `${kind} key ${kind === 'secret' ? 'sk' : 'pk'}_${mode}_…${keyLast4}`;
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

function readFields(json: string | null): AuditFields | null {
  return json === null ? null : (JSON.parse(json) as AuditFields);
}
