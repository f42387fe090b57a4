/** Notes about payments, who of the team takes care of one, and that it is handled. Nothing here moves money. */
import type { CaseNoteKind, PaymentCase } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { PaymentRow } from '../../core/db/schema.js';
import type { PaymentRefunds } from '../../core/payments/refundable.js';
import { isoTime } from '../../core/shared/clock.js';
import { invalidState, notFound } from '../../core/shared/problem.js';
import { isWithin, scopeOf, type PersonCaller, type Scope } from '../../core/shared/scope.js';
import * as store from './case-store.js';
import { sealedNotes, type CaseTable } from './case-tables.js';
import type { People } from './people.js';

const maxNotes = 200;
const maxAssigned = 100;

interface CasesDeps extends Pick<RoomDeps, 'database' | 'clock' | 'newId'> {
  readonly personalData: PersonalData;
  readonly payments: Pick<PaymentRefunds, 'find' | 'lock'>;
  readonly people: Pick<People, 'emailsOf' | 'isInTeam'>;
}

interface Change {
  readonly kind: CaseNoteKind;
  readonly text: string;
  readonly changes?: Partial<Pick<CaseTable, 'assignee_id' | 'assigned_at' | 'handled_version'>>;
}

export type Cases = ReturnType<typeof createCases>;

export function createCases(deps: CasesDeps) {
  const { database, clock, newId, personalData, payments, people } = deps;

  function ensureOwn(payment: PaymentRow, scope: Scope): PaymentRow {
    if (!isWithin(payment, scope)) throw notFound('payment');
    return payment;
  }

  async function view(reader: Reader, payment: PaymentRow): Promise<PaymentCase> {
    const found = await store.findCase(reader, payment.id);
    const rows = (await store.listNotes(reader, payment.id, maxNotes)).map((row) =>
      personalData.openRow(sealedNotes, row),
    );
    const assignee = found?.assignee_id ?? undefined;
    const emails = await people.emailsOf(reader, [
      ...new Set(rows.flatMap((row) => [row.person_id, ...(row.kind === 'assigned' ? [row.text] : [])])),
      ...(assignee === undefined ? [] : [assignee]),
    ]);
    const email = assignee === undefined ? undefined : emails.get(assignee);
    return {
      paymentId: payment.id,
      // Somebody who has left the team takes care of nothing.
      assignee: assignee === undefined || email === undefined ? null : { id: assignee, email },
      isHandled: found?.handled_version === payment.parts_version,
      notes: rows.map((row) => ({
        id: row.id,
        kind: row.kind,
        by: emails.get(row.person_id) ?? null,
        text: row.kind === 'assigned' ? (emails.get(row.text) ?? '') : row.text,
        at: isoTime(row.created_at),
      })),
    };
  }

  /** @param decide gets the payment, locked, and its case. Nothing is stored if it returns undefined. */
  async function change(
    transaction: Transaction,
    caller: PersonCaller,
    paymentId: string,
    decide: (payment: PaymentRow, before: CaseTable | undefined) => Change | undefined,
  ): Promise<PaymentCase> {
    const payment = ensureOwn(await payments.lock(transaction, paymentId), caller);
    const before = await store.findCase(transaction, paymentId);
    const made = decide(payment, before);
    if (!made) return view(transaction, payment);
    const notes = await store.listNotes(transaction, paymentId, maxNotes);
    if (notes.length >= maxNotes) throw invalidState(`This payment has ${maxNotes} notes already`);
    const { merchantId: merchant_id, mode } = scopeOf(payment);
    const at = Math.max(clock.real(), (notes.at(-1)?.created_at ?? 0) + 1);
    const none = { assignee_id: null, assigned_at: null, handled_version: null };
    await store.putCase(transaction, {
      ...none,
      ...before,
      ...made.changes,
      id: paymentId,
      merchant_id,
      mode,
      updated_at: at,
    });
    const { kind, text } = made;
    const note = { id: newId(), merchant_id, mode, payment_id: paymentId, kind, text };
    await store.insertNote(
      transaction,
      personalData.sealRow(sealedNotes, { ...note, person_id: caller.person.id, created_at: at }),
    );
    return view(transaction, payment);
  }

  return {
    /** Problem: `not_found`. */
    retrieve: async (scope: Scope, paymentId: string) =>
      view(database.reader, ensureOwn(await payments.find(database.reader, paymentId), scope)),

    async listMine(caller: PersonCaller) {
      const rows = await store.listAssigned(database.reader, caller, caller.person.id, maxAssigned);
      return rows.map(({ id, tx_ref: txRef, assigned_at: at }) => ({
        paymentId: id,
        txRef,
        assignedAt: isoTime(at ?? 0),
      }));
    },

    /** Problems of this and the others: `not_found`, `invalid_state`. */
    addNote: (transaction: Transaction, caller: PersonCaller, paymentId: string, text: string) =>
      change(transaction, caller, paymentId, () => ({ kind: 'note', text })),

    /** @param personId null: nobody */
    async assign(transaction: Transaction, caller: PersonCaller, paymentId: string, personId: string | null) {
      if (personId !== null && !(await people.isInTeam(transaction, caller.merchantId, personId))) {
        throw notFound('person');
      }
      return change(transaction, caller, paymentId, (_payment, before) => {
        if ((before?.assignee_id ?? null) === personId) return undefined;
        const assigned_at = personId === null ? null : clock.real();
        const changes = { assignee_id: personId, assigned_at };
        return { kind: personId === null ? 'given_back' : 'assigned', text: personId ?? '', changes };
      });
    },

    handle: (transaction: Transaction, caller: PersonCaller, paymentId: string, text: string) =>
      change(transaction, caller, paymentId, ({ parts_version: version }, before) =>
        before?.handled_version === version
          ? undefined
          : { kind: 'handled', text, changes: { handled_version: version } },
      ),

    reopen: (transaction: Transaction, caller: PersonCaller, paymentId: string, text: string) =>
      change(transaction, caller, paymentId, ({ parts_version: version }, before) =>
        before?.handled_version === version
          ? { kind: 'reopened', text, changes: { handled_version: null } }
          : undefined,
      ),
  };
}
