/** The audit log: who changed keys, webhooks, settings and destinations of money, when, and how. It is append-only. */
import { roles } from 'crypto-checkout/contract';
import type { Selectable } from 'kysely';
import { tables, type AuditLogTable } from '../db/schema.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Caller, Mode, Person, Scope } from '../shared/scope.js';
import { checkAuditChain, hashEntry } from './audit-chain.js';
import { identityOf } from '../db/transaction-context.js';
import { sealed, type PersonalData } from '../db/personal-data.js';
import * as store from './audit-store.js';
import type { AuditFilter } from './audit-store.js';
import type { Reader, Transaction } from '../db/engine.js';

type CoreAction =
  | `merchant.${'created' | 'updated'}`
  | `webhook.${'set' | 'removed' | 'disabled' | 'secret_rotated'}`
  | `key.${'created' | 'revoked'}`
  | `wallet_address.${'created' | 'made_primary'}`
  | `deposit_key.${'set' | 'withdrawn' | 'took_effect' | 'skipped'}`
  | `balance.${'suspended' | 'resumed'}`
  | `transfer.${'created' | 'settled' | 'failed'}`
  | `payout.${'created' | 'settled' | 'failed'}`
  | 'payment.accepted'
  | 'sandbox.reset';

/** The actions that an entry can have. A module extends it with its own, with `declare module`. */
export interface AuditActions extends Record<CoreAction, true> {}

export type AuditAction = keyof AuditActions;

/** Somebody who is signed in: the person and role, and the address and request of the change. */
type PersonActor = Pick<Person, 'id' | 'role' | 'address' | 'requestId'>;

/** The author of a change: a signed-in person, or a key, a command or the server by its name. */
export type AuditActor = string | PersonActor;

/** The fields that an entry shows. Must not contain secrets or personal data. */
export type AuditFields = Readonly<Record<string, Json | undefined>>;
/** JSON has no `bigint`: amounts are written as text. */
type Json =
  string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined };

export interface NewAuditEntry {
  readonly merchantId: string;
  /** Absent if both modes share it. */
  readonly mode?: Mode | undefined;
  /** From `actorOf` for a caller; on the command line, the name of the user who runs the command. */
  readonly actor: AuditActor;
  readonly action: AuditAction;
  /** The id of the record that was changed. */
  readonly subjectId: string;
  readonly before?: AuditFields | undefined;
  readonly after?: AuditFields | undefined;
}

export type AuditEntry = Readonly<ReturnType<typeof view>>;

/** The details that identify a person. They are kept apart from the log, so that they can be erased. */
export interface Identity {
  /** The id of the person, or of something that belongs to the person. */
  readonly id: string;
  readonly merchantId: string;
  readonly personId: string;
  /** An e-mail address, or the name of a passkey. */
  readonly value: string;
  /** The index that finds an e-mail address. */
  readonly emailIndex?: string;
}

const { columns } = tables.audit_log;

export type AuditLog = ReturnType<typeof createAuditLog>;

/** The e-mail addresses of people, by id, as far as they are not in the log's own table. */
type FindEmails = (
  reader: Reader,
  ids: readonly string[],
) => Promise<Iterable<readonly [id: string, email: string]>>;

/** @param onAudited called in the transaction of each entry */
export function createAuditLog(
  clock: Clock,
  personalData: PersonalData,
  findEmails: FindEmails,
  onAudited: (transaction: Transaction, entry: NewAuditEntry) => Promise<void> = () => Promise.resolve(),
) {
  const done = new WeakSet<object>();

  const remember = (transaction: Transaction, { id, merchantId, personId, value, emailIndex }: Identity) =>
    store.insertIdentity(
      transaction,
      personalData.sealRow(sealed.auditIdentities, {
        id,
        merchant_id: merchantId,
        person_id: personId,
        value,
        email_index: emailIndex ?? null,
      }),
    );

  /** The e-mail addresses of people, and the details kept apart from the log, by ids. */
  async function readNames(reader: Reader, ids: readonly string[]): Promise<NameOf> {
    const wanted = [...new Set(ids)];
    const names = new Map<string, string>();
    for (const row of await store.findIdentities(reader, wanted))
      names.set(row.id, personalData.openRow(sealed.auditIdentities, row).value);
    for (const [id, email] of await findEmails(reader, wanted)) names.set(id, email);
    return (id) => names.get(id);
  }

  const namesIn = (reader: Reader, rows: readonly Row[]): Promise<NameOf> =>
    readNames(reader, [
      ...rows.flatMap((row) => idsIn(row.actor)),
      ...rows.filter(isOfPerson).map((row) => row.subject_id),
    ]);
  const viewNamed = (row: Row, nameOf: NameOf): AuditEntry =>
    view({ ...row, actor: describeActor(row.actor, nameOf) }, nameOf);

  /** Adds an entry, in the transaction of the change. It adds none if `before` and `after` are the same. */
  async function record(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
    const { merchantId, mode, actor, action, subjectId, before, after } = entry;
    const running = identityOf(transaction);
    if (running) done.add(running);
    const changed = (field: string) => !isSame(before?.[field], after?.[field]);
    const changedOf = (fields: AuditFields | undefined) =>
      fields ? Object.fromEntries(Object.entries(fields).filter(([name]) => changed(name))) : null;
    if (before && after && ![...Object.keys(before), ...Object.keys(after)].some(changed)) return;
    if (typeof actor !== 'string') {
      const { id: personId, address: value } = actor;
      await remember(transaction, { id: requestKey(personId, actor.requestId), merchantId, personId, value });
    }
    const previousHash = await store.lockHead(transaction);
    const row = {
      time: clock.real(),
      merchant_id: merchantId,
      mode: mode ?? null,
      actor: storedActor(actor),
      action,
      subject_id: subjectId,
      before: columns.before.write(changedOf(before)),
      after: columns.after.write(changedOf(after)),
      previous_hash: previousHash,
    };
    await store.insertEntry(transaction, { ...row, hash: hashEntry(row) });
    await onAudited(transaction, entry);
  }

  return {
    record,

    /** Adds an entry unless the transaction has one: for a change without an entry of its own kind. */
    async recordUnlessDone(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
      const running = identityOf(transaction);
      if (!running || !done.has(running)) await record(transaction, entry);
    },

    check: checkAuditChain,

    /** Oldest first. */
    async list(reader: Reader, { person, ...filter }: AskedEntries & AuditFilter): Promise<AuditEntry[]> {
      const rows = await store.listEntries(reader, { ...filter, actors: actorsOf(person) });
      const nameOf = await namesIn(reader, rows);
      return rows.map((row) => viewNamed(row, nameOf));
    },

    /** Lists entries without personal details, for the server's own log. */
    listUnnamed: async (reader: Reader, filter: AuditFilter) =>
      (await store.listEntries(reader, filter)).map((row) => view(row)),

    /** Pages through the entries of a merchant and mode, newest first. */
    async page(reader: Reader, scope: Scope, { person, ...request }: AskedEntries & PageRequest) {
      const asked = { ...request, actors: actorsOf(person) };
      const { rows, total } = await store.pageOfEntries(reader, scope, asked);
      const nameOf = await namesIn(reader, rows);
      const shown = rows.map((row) => {
        const id = readActor(row.actor)?.id;
        const by = id === undefined ? null : { id, email: nameOf(id) ?? null };
        return { ...viewNamed(row, nameOf), person: by };
      });
      return { rows: shown, total } satisfies Page<AuditEntry>;
    },

    /** The form in which the log shows these actors, as `storedActor` or `makerOf` wrote them. */
    async describeActors(reader: Reader, actors: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const nameOf = await readNames(reader, actors.flatMap(idsIn));
      return new Map(actors.map((actor) => [actor, describeActor(actor, nameOf)]));
    },

    /** Stores personal details that are stored nowhere else. */
    remember,

    /** Erases all that says who the people were that had an e-mail address. @returns their ids */
    forget: (transaction: Transaction, merchantId: string, emailIndexes: readonly string[]) =>
      store.deleteIdentities(transaction, merchantId, emailIndexes),
  };
}

export interface AskedEntries {
  /** Only what this person did, by id. */
  readonly person?: string | undefined;
  readonly action?: string | undefined;
}

/** The beginnings of a person's entries, one for each role. */
const actorsOf = (person: string | undefined): string[] | undefined =>
  person === undefined ? undefined : roles.map((role) => `${role} ${person}, request `);

type Row = Selectable<AuditLogTable>;
type NameOf = (id: string) => string | undefined;

const requestKey = (personId: string, requestId: string): string => `${personId}/${requestId}`;

/** The form of an actor in the log and in other tables, without personal details. */
export function storedActor(actor: AuditActor): string {
  return typeof actor === 'string' ? actor : `${actor.role} ${actor.id}, request ${actor.requestId}`;
}

function readActor(stored: string) {
  const [, name, id, requestId] = /^([a-z]+) ([^\s,]+)(?:, request (\S+))?$/.exec(stored) ?? [];
  const role = roles.find((one) => one === name);
  return role === undefined || id === undefined ? undefined : { role, id, requestId };
}

function idsIn(stored: string): string[] {
  const actor = readActor(stored);
  if (!actor) return [];
  const { id, requestId } = actor;
  return requestId === undefined ? [id] : [id, requestKey(id, requestId)];
}

function describeActor(stored: string, nameOf: NameOf): string {
  const actor = readActor(stored);
  if (!actor) return stored;
  const { role, id, requestId } = actor;
  if (requestId === undefined) return `${nameOf(id) ?? 'erased person'}, ${role}`;
  const address = nameOf(requestKey(id, requestId));
  const where = address === undefined ? '' : `, from ${address}`;
  return `${nameOf(id) ?? 'erased person'}, ${role} ${id}${where}, request ${requestId}`;
}

/** True if an entry is about a person or a passkey, whose name is not in it. */
const isOfPerson = ({ action }: Pick<Row, 'action'>): boolean => /^(?:person|passkey)\./.test(action);

/** @param nameOf leaves out who somebody is without it */
function view(row: Row, nameOf?: NameOf) {
  const subject = isOfPerson(row) ? nameOf?.(row.subject_id) : undefined;
  const named = (fields: Record<string, unknown> | null, other: unknown) =>
    fields === null || other !== null || subject === undefined
      ? fields
      : { [row.action.startsWith('person') ? 'email' : 'name']: subject, ...fields };
  return {
    id: row.id,
    /** Real time. */
    time: isoTime(row.time),
    merchantId: row.merchant_id,
    mode: row.mode,
    actor: row.actor,
    action: row.action,
    subjectId: row.subject_id,
    /** The changes: only the fields that differ. Null if there was nothing before or after. */
    before: named(columns.before.read(row.before), row.after),
    after: named(columns.after.read(row.after), row.before),
    /** Covers the entry and all entries before it. */
    hash: row.hash,
  };
}

/** The author of a request, for the log: a key, or a signed-in person. */
export function actorOf(caller: Caller): AuditActor {
  if (caller.person) return caller.person;
  const { kind, mode, keyLast4 } = caller;
  return `${kind} key ${kind === 'secret' ? 'sk' : 'pk'}_${mode}_…${keyLast4}`;
}

/** The form of a caller in records of other tables, without the request. */
export function makerOf(caller: Caller): string {
  return caller.person ? `${caller.person.role} ${caller.person.id}` : storedActor(actorOf(caller));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
