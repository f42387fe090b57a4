/** Reads and writes messages, choices and refusals. */
import type { StaffMailKind } from 'crypto-checkout/contract';
import { forUpdateSkipLocked } from '../../core/db/locks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import { countRows, having, inScope, rowById, within } from '../../core/db/rows.js';
import { send } from '../../core/db/send.js';
import { valuesOf, type Values } from '../../core/db/values.js';
import type { Mode, Scope, Within } from '../../core/shared/scope.js';
import type { Kind } from './kinds.js';
import { mailTables, sealedMails, type MailRow, type MailTable } from './tables.js';

const choices = valuesOf(mailTables.mail_choices);
const staff = valuesOf(mailTables.mail_staff_choices);
export type StaffChoices = Values<typeof mailTables.mail_staff_choices>;
export type MailStore = ReturnType<typeof createMailStore>;
export type Choices = Values<typeof mailTables.mail_choices>;

export function createMailStore(personalData: PersonalData) {
  const open = (row: MailTable): MailTable => personalData.openRow(sealedMails, row);
  async function staffChoices(reader: Reader, of: Within): Promise<StaffChoices[]> {
    const rows = await reader
      .selectFrom('mail_staff_choices')
      .selectAll()
      .$call(within(of))
      .orderBy('person_id')
      .execute();
    return rows.map(staff.decode);
  }
  return {
    async insert(transaction: Transaction, row: MailRow): Promise<void> {
      await send(transaction, transaction.insertInto('mails').values(personalData.sealRow(sealedMails, row)));
    },

    /** Does nothing if there is one with the same `once`. */
    async insertOnce(transaction: Transaction, row: MailRow): Promise<void> {
      await transaction
        .insertInto('mails')
        .values(personalData.sealRow(sealedMails, row))
        .onConflict((conflict) => conflict.column('once').doNothing())
        .execute();
    },

    /** The number of messages of a kind to somebody since a time. */
    countSince: (reader: Reader, personId: string, kind: StaffMailKind, since: number): Promise<number> =>
      countRows(
        reader
          .selectFrom('mails')
          .where((e) => e.and({ person_id: personId, kind }))
          .where('created_at', '>', since),
      ),

    staffChoices,

    async merchantsWanting(reader: Reader, mode: Mode, kind: StaffMailKind): Promise<string[]> {
      const rows = await staffChoices(reader, { mode });
      return [...new Set(rows.filter(({ kinds }) => kinds.includes(kind)).map((row) => row.merchant_id))];
    },

    async putStaffChoices(transaction: Transaction, row: StaffChoices): Promise<void> {
      const { person_id: _person, mode: _mode, ...changes } = staff.encode(row);
      await transaction
        .insertInto('mail_staff_choices')
        .values(staff.encode(row))
        .onConflict((conflict) => conflict.columns(['person_id', 'mode']).doUpdateSet(changes))
        .execute();
    },

    async deleteStaffChoices(transaction: Transaction, personId: string, mode: Mode): Promise<void> {
      await transaction
        .deleteFrom('mail_staff_choices')
        .where((e) => e.and({ person_id: personId, mode }))
        .execute();
    },

    async find(reader: Reader, id: string): Promise<MailTable | undefined> {
      const row = await rowById(reader, 'mails', id).executeTakeFirst();
      return row && open(row);
    },

    /** The address of a payment's payer. */
    async emailOf(transaction: Transaction, paymentId: string): Promise<string | undefined> {
      const row = await rowById(transaction, 'payments', paymentId).executeTakeFirst();
      return row && personalData.payer(row).email;
    },

    /** The newest message to the payer of a payment, of these kinds, that was sent or will be. */
    async lastOf(
      reader: Reader,
      paymentId: string,
      kinds: readonly Kind[],
    ): Promise<Pick<MailTable, 'id' | 'created_at' | 'status'> | undefined> {
      return reader
        .selectFrom('mails')
        .select(['id', 'created_at', 'status'])
        .where((e) => e.and({ payment_id: paymentId, person_id: null }))
        .where('kind', 'in', kinds)
        .where('status', 'in', ['pending', 'sent'])
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
    },

    /** The newest, at most 1000. */
    async list(reader: Reader, scope: Scope, status?: MailRow['status']): Promise<MailTable[]> {
      return reader
        .selectFrom('mails')
        .selectAll()
        .$call(inScope(scope))
        .$call(having<'mails'>({ status }))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1000)
        .execute();
    },

    /** Claims the message that is due longest and that no process has claimed. Times are real. */
    async claim(
      transaction: Transaction,
      { now, until, claim }: { now: number; until: number; claim: string },
    ): Promise<MailTable | undefined> {
      const row = await transaction
        .selectFrom('mails')
        .selectAll()
        .where('due_at', '<=', now)
        .where((e) => e.or([e('claimed_until', 'is', null), e('claimed_until', '<=', now)]))
        .orderBy('due_at')
        .orderBy('id')
        .limit(1)
        .$call(forUpdateSkipLocked(transaction))
        .executeTakeFirst();
      if (!row) return undefined;
      const held = { claim, claimed_until: until };
      await transaction.updateTable('mails').set(held).where('id', '=', row.id).execute();
      return open({ ...row, ...held });
    },

    /** Changes a message only while its claim still holds it. */
    async update(
      transaction: Transaction,
      { id, claim }: Pick<MailTable, 'id' | 'claim'>,
      changes: Partial<MailTable>,
    ): Promise<void> {
      await transaction
        .updateTable('mails')
        .set({ ...changes, claim: null, claimed_until: null })
        .where((e) => e.and({ id, claim }))
        .execute();
    },

    /** @returns false if there is no such message that has failed */
    async retry(transaction: Transaction, id: string, now: number): Promise<boolean> {
      const { numUpdatedRows } = await transaction
        .updateTable('mails')
        .set({ status: 'pending', tries: 0, due_at: now, created_at: now, problem: null })
        .where((e) => e.and({ id, status: 'failed' }))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Deletes some that ended before a time. @returns the number deleted */
    async prune(transaction: Transaction, before: number, limit: number): Promise<number> {
      const old = await transaction
        .selectFrom('mails')
        .select('id')
        .where('due_at', 'is', null)
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(limit)
        .execute();
      if (old.length === 0) return 0;
      const ids = old.map(({ id }) => id);
      await transaction.deleteFrom('mails').where('id', 'in', ids).execute();
      return old.length;
    },

    countDue: (reader: Reader): Promise<number> =>
      countRows(reader.selectFrom('mails').where('due_at', 'is not', null)),

    async choicesOf(reader: Reader, scope: Scope): Promise<Choices | undefined> {
      const row = await reader
        .selectFrom('mail_choices')
        .selectAll()
        .$call(inScope(scope))
        .executeTakeFirst();
      return choices.decode(row);
    },

    async putChoices(transaction: Transaction, row: Choices): Promise<void> {
      const { merchant_id: _merchant, mode: _mode, ...changes } = choices.encode(row);
      await transaction
        .insertInto('mail_choices')
        .values(choices.encode(row))
        .onConflict((conflict) => conflict.columns(['merchant_id', 'mode']).doUpdateSet(changes))
        .execute();
    },

    async isRefused(reader: Reader, customerId: string): Promise<boolean> {
      const row = await reader
        .selectFrom('mail_refusals')
        .select('customer_id')
        .where('customer_id', '=', customerId)
        .executeTakeFirst();
      return row !== undefined;
    },

    async refuse(transaction: Transaction, customerId: string, now: number): Promise<void> {
      await transaction
        .insertInto('mail_refusals')
        .values({ customer_id: customerId, created_at: now })
        .onConflict((conflict) => conflict.column('customer_id').doNothing())
        .execute();
    },
  };
}
