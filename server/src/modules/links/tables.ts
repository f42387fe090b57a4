/** Payment links, and which payments were started from them. */
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { stringRecord, unitsInJson } from '../../core/db/codecs.js';
import { ofOwn, own } from '../../core/db/data-policy.js';
import type { Rows } from '../../core/db/schema.js';
import { flag, integer, json, record, table, text, time, units } from '../../core/db/table.js';
import type { Values } from '../../core/db/values.js';

const since = '0007-links.additive';

const askedFields = z.readonly(
  z.array(z.object({ name: z.string(), label: z.string(), isRequired: z.boolean() })),
);

const invoiceLines = z.readonly(
  z.array(z.object({ name: z.string(), quantity: z.number(), amount: unitsInJson })),
);

export const linkTables = {
  links: table(
    own,
    {
      ...record,
      /** The end of its address. Nobody can guess it. */
      slug: text().unique(),
      title: text(),
      text: text(),
      base_currency: text(),
      /** The price of one; null if the payer chooses it, within the bounds. */
      amount: units().nullable(),
      min_amount: units().nullable(),
      max_amount: units().nullable(),
      presets: json(z.readonly(z.array(unitsInJson))),
      max_quantity: integer(),
      /** The whole quantity, sold ones included; null without a limit. */
      stock: integer().nullable(),
      /** 1 if only one of its payments can be locked and paid. */
      is_single: flag(),
      fields: json(askedFields),
      /** Those of an invoice: the price is their sum. */
      lines: json(invoiceLines),
      due_at: time().nullable(),
      /** The customer of an invoice, if the shop gave an e-mail address. */
      customer_id: text().references('customers.id').nullable(),
      /** The values of `due_at` for which its customer was reminded, before it and after it. */
      due_told: time().nullable(),
      overdue_told: time().nullable(),
      expires_at: time().nullable(),
      success_text: text(),
      redirect_url: text(),
      metadata: json(stringRecord),
      is_active: flag(),
      /** The number of its payments so far: the next one's reference has the next number. */
      presses: integer(),
      created_at: time(),
      updated_at: time(),
    },
    since,
  )
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('customer', ['customer_id'], { where: sql`customer_id is not null` })
    .index('due', ['merchant_id', 'mode', 'due_at'], {
      where: sql`customer_id is not null and due_at is not null`,
    }),

  link_payments: table(
    ofOwn({ payment_id: 'payments' }),
    {
      // No foreign key: a row is written in the transaction that stores its payment, and before it.
      payment_id: text().primaryKey(),
      link_id: text().references('links.id'),
      /** Its reference is `link_<link id>_<number>`, and with a repeat above 0 `…:<repeat>`: the payer chose another coin. */
      number: integer(),
      repeat: integer(),
      quantity: integer(),
      /** `reserved` from the lock on, `sold` once it succeeds, and `freed` when it ends in another way. */
      hold: text<'none' | 'reserved' | 'sold' | 'freed'>(),
      /** Digest of the form: one that is sent twice makes one payment. */
      press: text().nullable(),
      /** Keyed digest of the payer's network address, for a day: one address must not hold the whole stock. */
      visitor: text().nullable(),
      /** Real time. */
      pressed_at: time(),
    },
    since,
  )
    .unique('reference', ['link_id', 'number', 'repeat'])
    .index('press', ['link_id', 'press'], { where: sql`press is not null` })
    // Held quantities are added up in the index.
    .index('held', ['link_id', 'hold', 'quantity'], { where: sql`hold in ('reserved', 'sold')` })
    .index('visitor', ['link_id', 'visitor', 'hold'], { where: sql`visitor is not null` })
    .index('visited', ['pressed_at'], { where: sql`visitor is not null` }),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof linkTables> {}
}

export type LinkRow = Values<(typeof linkTables)['links']>;
export type LinkPaymentRow = Rows<typeof linkTables>['link_payments'];
