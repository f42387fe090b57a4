/** Customers: the people who pay a merchant. Within a merchant and mode, emails are unique, whatever their case. */
import type { api, Data } from 'crypto-checkout/contract';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import { isUniqueViolation } from '../db/errors.js';
import type { NewId } from '../shared/ids.js';
import { notFound, orNotFound, Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import * as store from './store.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import type { CustomerTable } from '../db/schema.js';

export type Customer = Data<typeof api.customers.retrieve>;

/** Who pays, or subscribes to a plan. An empty string counts as absent. */
export interface Payer {
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

export interface NewCustomer extends Payer {
  readonly isBlacklisted: boolean;
}

/** Changes only the given fields. An empty string removes a name or a phone number. */
export type CustomerChange = { readonly [Field in keyof NewCustomer]?: NewCustomer[Field] | undefined };

export interface CustomerFilter extends PageRequest {
  readonly isBlacklisted?: boolean | undefined;
  /** In any case. */
  readonly email?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(database: Pick<Database, 'reader'>, clock: Clock, newId: NewId) {
  const newRow = (
    scope: Scope,
    { email, fullName, phoneNumber, isBlacklisted }: NewCustomer,
  ): CustomerTable => ({
    id: newId(),
    merchant_id: scope.merchantId,
    mode: scope.mode,
    email,
    email_lower: email.toLowerCase(),
    full_name: fullName || null,
    phone_number: phoneNumber || null,
    is_blacklisted: isBlacklisted ? 1 : 0,
    created_at: clock.now(scope),
  });

  const findByEmail = (reader: Reader, scope: Scope, email: string) =>
    store.findCustomerByEmail(reader, scope, email.toLowerCase());

  return {
    /** Problem: `customer_exists`. */
    async create(transaction: Transaction, scope: Scope, input: NewCustomer): Promise<Customer> {
      const row = newRow(scope, input);
      if (!(await store.insertCustomer(transaction, row))) throw emailTaken();
      return view(row);
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Customer> {
      const row = orNotFound(await store.findCustomer(database.reader, scope, id), 'customer');
      return view(row);
    },

    /** Problems: `not_found`, `customer_exists`. */
    async update(
      transaction: Transaction,
      scope: Scope,
      id: string,
      { email, fullName, phoneNumber, isBlacklisted }: CustomerChange,
    ): Promise<Customer> {
      const changes: Partial<CustomerTable> = {
        ...(email !== undefined && { email, email_lower: email.toLowerCase() }),
        ...(fullName !== undefined && { full_name: fullName || null }),
        ...(phoneNumber !== undefined && { phone_number: phoneNumber || null }),
        ...(isBlacklisted !== undefined && { is_blacklisted: isBlacklisted ? 1 : 0 }),
      };
      const isChange = Object.keys(changes).length > 0;
      try {
        const row = await (isChange
          ? store.updateCustomer(transaction, scope, id, changes)
          : store.findCustomer(transaction, scope, id));
        if (!row) throw notFound('customer');
        return view(row);
      } catch (error) {
        if (isUniqueViolation(error)) throw emailTaken();
        throw error;
      }
    },

    async list(scope: Scope, { email, ...filter }: CustomerFilter): Promise<Page<Customer>> {
      const { rows, total } = await store.listCustomers(database.reader, scope, {
        ...filter,
        emailLower: email?.toLowerCase(),
      });
      return { rows: rows.map(view), total };
    },

    /**
     * Finds the customer with the payer's email, or creates one. An existing record is neither changed nor revealed,
     * because nothing proves that the payer is that customer.
     * Problem: `customer_not_allowed` if the customer is blacklisted.
     */
    async link(transaction: Transaction, scope: Scope, payer: Payer): Promise<{ id: string }> {
      let row = await findByEmail(transaction, scope, payer.email);
      if (!row) {
        const added = newRow(scope, { ...payer, isBlacklisted: false });
        // If two transactions link a new email at once, the second waits here, then finds the customer of the first.
        const isNew = await store.insertCustomer(transaction, added);
        row = isNew ? added : await findByEmail(transaction, scope, payer.email);
      }
      if (!row) throw new Error('The customer disappeared while it was being linked');
      if (row.is_blacklisted === 1) {
        throw new Problem(
          'customer_not_allowed',
          'This customer is not allowed to start payments or subscriptions',
        );
      }
      return { id: row.id };
    },

    /** The id of the customer with an email, in any case. */
    findId: async (reader: Reader, scope: Scope, email: string): Promise<string | undefined> =>
      (await findByEmail(reader, scope, email))?.id,

    /** Who pays for a subscription, from the customer's current record. */
    async payer(reader: Reader, id: string): Promise<{ email: string; isBlacklisted: boolean }> {
      const { email, is_blacklisted: flag } = await store.readCustomer(reader, id);
      return { email, isBlacklisted: flag === 1 };
    },
  };
}

function emailTaken(): Problem {
  return new Problem('customer_exists', 'A customer with this email already exists', { param: 'email' });
}

function view(row: CustomerTable): Customer {
  return {
    id: row.id,
    mode: row.mode,
    email: row.email,
    ...(row.full_name !== null && { fullName: row.full_name }),
    ...(row.phone_number !== null && { phoneNumber: row.phone_number }),
    isBlacklisted: row.is_blacklisted === 1,
    createdAt: isoTime(row.created_at),
  };
}
