/** Work of a shop's staff on payments. */
import type { CaseNoteKind } from 'crypto-checkout/contract';
import { own, ownPersonal } from '../../core/db/data-policy.js';
import { sealedColumns } from '../../core/db/personal-data.js';
import type { Rows } from '../../core/db/schema.js';
import { integer, record, table, text, time } from '../../core/db/table.js';

const since = '0010-cases.additive';

const ofPayers = ownPersonal({ columns: { text: 'text' }, payment: 'payment_id' });

export const caseTables = {
  payment_cases: table(
    own,
    {
      /** The payment's. */
      id: text().primaryKey().references('payments.id'),
      merchant_id: record.merchant_id,
      mode: record.mode,
      /** Somebody of the team, or who was; null if nobody takes care of it. */
      assignee_id: text().nullable(),
      assigned_at: time().nullable(),
      /** The payment's `parts_version` when it was handled: another one means that something has happened since. Null if it was not. */
      handled_version: integer().nullable(),
      updated_at: time(),
    },
    since,
  ).index('assignee', ['merchant_id', 'mode', 'assignee_id', 'assigned_at']),

  payment_notes: table(
    ofPayers,
    {
      ...record,
      payment_id: text().references('payments.id'),
      kind: text<CaseNoteKind>(),
      /** In the staff's words, encrypted if there is a data key; the person's id for `assigned`. */
      text: text(),
      person_id: text(),
      created_at: time(),
    },
    since,
  ).index('payment', ['payment_id', 'created_at', 'id']),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof caseTables> {}
}

export type CaseTable = Rows<typeof caseTables>['payment_cases'];
export type NoteTable = Rows<typeof caseTables>['payment_notes'];

export const sealedNotes = sealedColumns('payment_notes', 'text');
