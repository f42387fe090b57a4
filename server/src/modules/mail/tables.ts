/** Messages, until and after they are sent, and who wants which. */
import { staffMailKinds, type StaffMailKind } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { ofOwn, own, ownPersonal } from '../../core/db/data-policy.js';
import { sealedColumns } from '../../core/db/personal-data.js';
import type { Rows } from '../../core/db/schema.js';
import { integer, json, record, table, text, time } from '../../core/db/table.js';
import type { Values } from '../../core/db/values.js';
import type { Mode } from '../../core/shared/scope.js';
import { kinds, type Kind } from './kinds.js';

const since = '0008-mail.additive';

export const mailTables = {
  mails: table(
    ownPersonal({ columns: { link: 'kept', token: 'kept' } }),
    {
      ...record,
      kind: text<Kind | StaffMailKind>(),
      /**
       * The payment that it is about, and whose payer it is for unless it is for a person. The address is read when it is sent, so that
       * an erased payer gets none.
       */
      payment_id: text().references('payments.id').nullable(),
      /** The customer of an invoice. */
      customer_id: text().references('customers.id').nullable(),
      /** Somebody of the team, whom another module knows. */
      person_id: text().nullable(),
      /** Identifies its news: there is no second message with the same. */
      once: text().nullable().unique(),
      /** A reason, a network, a date or an invoice, by the kind. */
      about: text().nullable(),
      /** `12.50 USDT`, if it is about another amount than the payment's. */
      amount: text().nullable(),
      tx_hash: text().nullable(),
      /** The link for a refund: a secret, encrypted if there is a data key. Emptied once it was sent, or given up. */
      link: text(),
      link_until: time().nullable(),
      /** The last part of the link by which the payer wants no more of them, encrypted in the same way. */
      token: text(),
      /** `dropped`: nobody wants it any more. */
      status: text<'pending' | 'sent' | 'failed' | 'dropped'>(),
      tries: integer(),
      /** Real time; null if it is not tried again. */
      due_at: time().nullable(),
      claim: text().nullable(),
      claimed_until: time().nullable(),
      /** Why it was not sent, in the mail server's words or ours. Never an address. */
      problem: text().nullable(),
      created_at: time(),
      sent_at: time().nullable(),
    },
    since,
  )
    .index('due', ['due_at', 'id'], { where: sql`due_at is not null` })
    .index('ended', ['created_at'], { where: sql`due_at is null` })
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('payment', ['payment_id'])
    .index('customer', ['customer_id'], { where: sql`customer_id is not null` })
    .index('person', ['person_id', 'kind', 'created_at']),

  /** The messages that a merchant has sent to its payers. Without a row, none. */
  mail_choices: table(
    { ...own, wiped: { kept: 'a setting' } },
    {
      merchant_id: text().references('merchants.id'),
      mode: text<Mode>(),
      kinds: json(z.readonly(z.array(z.enum(kinds)))),
      language: text(),
      /** The address for answers; null for the address that they come from. */
      reply_to: text().nullable(),
      updated_at: time(),
    },
    since,
  ).primaryKey('merchant_id', 'mode'),

  /** The messages that somebody of a team wants. Without a row, none. */
  mail_staff_choices: table(
    { ...own, wiped: { kept: 'a setting' } },
    {
      person_id: text(),
      merchant_id: text().references('merchants.id'),
      mode: text<Mode>(),
      kinds: json(z.readonly(z.array(z.enum(staffMailKinds)))),
      language: text(),
      updated_at: time(),
    },
    since,
  )
    .primaryKey('person_id', 'mode')
    .index('merchant', ['merchant_id', 'mode']),

  /** Customers who want no more of them. */
  mail_refusals: table(
    ofOwn({ customer_id: 'customers' }),
    {
      customer_id: text().primaryKey().references('customers.id', 'cascade'),
      created_at: time(),
    },
    since,
  ),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof mailTables> {}
}

export type MailRow = Values<(typeof mailTables)['mails']>;
export type MailTable = Rows<typeof mailTables>['mails'];

export const sealedMails = sealedColumns('mails', 'link', 'token');
