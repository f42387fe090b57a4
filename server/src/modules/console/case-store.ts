/** Reads and writes the staff's work on payments. */
import { expressionBuilder } from 'kysely';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { QueryParts } from '../../core/db/query-parts.js';
import { insertRow } from '../../core/db/rows.js';
import type { Schema } from '../../core/db/schema.js';
import type { Scope } from '../../core/shared/scope.js';
import type { CaseTable, NoteTable } from './case-tables.js';

/** For lists of payments that need somebody. */
export const caseParts: QueryParts = {
  // Counted, because PostgreSQL would read all of them for a `not exists`.
  countHandled: () =>
    expressionBuilder<Schema, 'payments'>()
      .selectFrom('payment_cases')
      .select((e) => e.fn.countAll<number>().as('count'))
      .whereRef('payment_cases.id', '=', 'payments.id')
      .whereRef('payment_cases.handled_version', '=', 'payments.parts_version'),
};

export const findCase = (reader: Reader, id: string): Promise<CaseTable | undefined> =>
  reader.selectFrom('payment_cases').selectAll().where('id', '=', id).executeTakeFirst();

/** @param row its payment is locked */
export async function putCase(transaction: Transaction, { id, ...row }: CaseTable): Promise<void> {
  await transaction
    .insertInto('payment_cases')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}

export const insertNote = insertRow('payment_notes');

/** Oldest first. */
export const listNotes = (reader: Reader, paymentId: string, limit: number): Promise<NoteTable[]> =>
  reader
    .selectFrom('payment_notes')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();

/** Payments that a person takes care of, longest first, without those that are handled. */
export const listAssigned = (reader: Reader, { merchantId, mode }: Scope, personId: string, limit: number) =>
  reader
    .selectFrom('payment_cases')
    .innerJoin('payments', 'payments.id', 'payment_cases.id')
    .select(['payments.id', 'payments.tx_ref', 'payment_cases.assigned_at'])
    .where('payment_cases.merchant_id', '=', merchantId)
    .where('payment_cases.mode', '=', mode)
    .where('payment_cases.assignee_id', '=', personId)
    .where((e) =>
      e.or([
        e('payment_cases.handled_version', 'is', null),
        e('payment_cases.handled_version', '<>', e.ref('payments.parts_version')),
      ]),
    )
    .orderBy('payment_cases.assigned_at')
    .orderBy('payments.id')
    .limit(limit)
    .execute();
