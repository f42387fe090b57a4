/** The merchant's own records: customers, bank accounts and wallet addresses. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { own, ownPersonal } from '../data-policy.js';
import { earlierEmails, flag, record, table, text, time, rowPart } from '../table.js';

export const recordTables = {
  /** Emails are unique within a merchant and mode, whatever their case. */
  customers: table(ownPersonal({ columns: { person: 'replaced' }, index: 'person' }), {
    ...record,
    /** Email in its original case, name and phone number as JSON, encrypted if there is a data key: db/personal-data.ts. */
    person: text(),
    /** The index that finds the email, in any case. */
    email_index: text(),
    /** The index that finds the phone number; null if there is none. */
    phone_index: text().nullable(),
    is_blacklisted: flag(),
    created_at: time(),
  })
    .longList({ filters: { is_blacklisted: rowPart('is_blacklisted') } })
    .unique('email', ['merchant_id', 'mode', 'email_index'])
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('blacklisted', ['merchant_id', 'mode', 'is_blacklisted', 'created_at', 'id'])
    .index('phone', ['merchant_id', 'mode', 'phone_index', 'created_at', 'id']),

  /** The addresses that customers had before: payments and messages from then have them, and no customer's id. */
  customer_earlier_emails: table(
    ownPersonal({ columns: { email: 'replaced' }, index: 'earlierEmail' }),
    {
      ...record,
      customer_id: text().references('customers.id', 'cascade'),
      /** Encrypted if there is a data key: db/personal-data.ts. */
      email: text(),
      /** The index that finds it, in any case: as in `customers`. */
      email_index: text(),
      /** The customer had it until then. */
      left_at: time(),
    },
    earlierEmails,
  )
    .unique('customer', ['customer_id', 'email_index'])
    .index('email', ['merchant_id', 'mode', 'email_index', 'left_at']),

  bank_accounts: table(
    ownPersonal({ columns: { account_number: 'kept', account_name: 'kept' }, index: 'account' }),
    {
      ...record,
      /** Encrypted if there is a data key, as the holder's name is: db/personal-data.ts. */
      account_number: text(),
      /** The index that finds the number. */
      number_index: text(),
      /** The bank's name, in countries whose banks are not listed. */
      bank_code: text(),
      bank_name: text(),
      /** ISO 3166-1 alpha-2 code. */
      country: text(),
      currency: text(),
      account_name: text(),
      archived_at: time().nullable(),
      created_at: time(),
      updated_at: time(),
    },
  )
    // Leaves out archived accounts, so that an account can be added again.
    .unique('number', ['merchant_id', 'mode', 'country', 'bank_code', 'number_index', 'currency'], {
      where: sql`archived_at is null`,
    })
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id']),

  /** The bank account that payouts go to by default. It has its own table, so that there cannot be two. */
  primary_bank_accounts: table(own, {
    merchant_id: text(),
    mode: text<Mode>(),
    bank_account_id: text().unique().references('bank_accounts.id'),
  }).primaryKey('merchant_id', 'mode'),

  /** A merchant's own address, saved as a destination for transfers. */
  wallet_addresses: table(own, {
    ...record,
    currency: text(),
    /** Empty if it was saved without a network. */
    network: text(),
    /** In canonical form. */
    address: text(),
    label: text().nullable(),
    created_at: time(),
  })
    .unique('address', ['merchant_id', 'mode', 'address', 'currency', 'network'])
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('currency', ['merchant_id', 'mode', 'currency', 'network', 'created_at', 'id']),

  primary_wallet_addresses: table(own, {
    merchant_id: text(),
    mode: text<Mode>(),
    currency: text(),
    network: text(),
    wallet_address_id: text().unique().references('wallet_addresses.id'),
  }).primaryKey('merchant_id', 'mode', 'currency', 'network'),
};
