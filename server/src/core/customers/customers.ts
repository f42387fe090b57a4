/** Customers: the people who pay a merchant. Within a merchant and mode, emails are unique, whatever their case. */
import type { CoreApi, Data, Input } from 'crypto-checkout/contract';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import { isUniqueViolation } from '../db/errors.js';
import { lockName } from '../db/locks.js';
import { sealed, type PersonalData } from '../db/personal-data.js';
import type { NewId } from '../shared/ids.js';
import { orNotFound, Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import * as store from './store.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page } from '../shared/pagination.js';
import type { CustomerRow } from './store.js';

export type Customer = Data<CoreApi['customers']['retrieve']>;

/** An empty string counts as absent. */
type NewCustomer = Input<CoreApi['customers']['create']>['body'];
/** A payer, or a subscriber of a plan. */
type Payer = Omit<NewCustomer, 'isBlacklisted'>;
/** Changes only the given fields. An empty string removes a name or a phone number. */
type CustomerChange = Input<CoreApi['customers']['update']>['body'];
type CustomerFilter = Input<CoreApi['customers']['list']>['query'];

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(
  database: Pick<Database, 'reader'>,
  clock: Clock,
  newId: NewId,
  personalData: PersonalData,
) {
  const columns = (
    row: Pick<CustomerRow, 'id' | 'merchant_id'>,
    { email, fullName, phoneNumber, isBlacklisted }: NewCustomer,
  ) => ({
    ...personalData.personColumns(row, {
      email,
      fullName: fullName || undefined,
      phoneNumber: phoneNumber || undefined,
    }),
    is_blacklisted: isBlacklisted,
  });

  function newRow(scope: Scope, customer: NewCustomer): CustomerRow {
    const row = { id: newId(), merchant_id: scope.merchantId, mode: scope.mode };
    return { ...row, ...columns(row, customer), created_at: clock.now(scope) };
  }

  const findByEmail = (reader: Reader, scope: Scope, email: string) =>
    store.findCustomerByEmail(reader, scope, personalData.emailIndexes(scope.merchantId, email));

  /** The unique index does not compare index values of different keys. */
  async function lockEmail(transaction: Transaction, { merchantId, mode }: Scope, email: string) {
    if (!personalData.isRotating) return;
    await lockName(transaction, `customer ${merchantId}/${mode}/${email.toLowerCase()}`);
  }

  async function findOrAdd(transaction: Transaction, scope: Scope, customer: NewCustomer) {
    await lockEmail(transaction, scope, customer.email);
    const existing = await findByEmail(transaction, scope, customer.email);
    if (existing) return { row: existing, isNew: false };
    const row = newRow(scope, customer);
    // If two transactions add an email at once, the second waits here, then finds the customer of the first.
    if (await store.insertCustomer(transaction, row)) return { row, isNew: true };
    const other = await findByEmail(transaction, scope, customer.email);
    if (!other) throw new Error('The customer disappeared while it was being added');
    return { row: other, isNew: false };
  }

  /** Keeps the address that a customer is about to lose, for as long as there is something under it. */
  async function keepEmail(transaction: Transaction, scope: Scope, { id }: CustomerRow, email: string) {
    const row = {
      id: newId(),
      merchant_id: scope.merchantId,
      mode: scope.mode,
      customer_id: id,
      email,
      email_index: personalData.emailIndex(scope.merchantId, email),
      left_at: clock.now(scope),
    };
    const indexes = personalData.emailIndexes(scope.merchantId, email);
    await store.keepEarlierEmail(transaction, personalData.sealRow(sealed.earlierEmails, row), indexes);
  }

  const view = (row: CustomerRow): Customer => ({
    id: row.id,
    mode: row.mode,
    ...personalData.person(row),
    isBlacklisted: row.is_blacklisted,
    createdAt: isoTime(row.created_at),
  });

  return {
    /** Problem: `customer_exists`. */
    async create(transaction: Transaction, scope: Scope, input: NewCustomer): Promise<Customer> {
      const { row, isNew } = await findOrAdd(transaction, scope, input);
      if (!isNew) throw emailTaken();
      return view(row);
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Customer> {
      const row = orNotFound(await store.findCustomer(database.reader, scope, id), 'customer');
      return view(row);
    },

    /** Problems: `not_found`, `customer_exists`. */
    async update(transaction: Transaction, scope: Scope, id: string, change: CustomerChange) {
      const row = orNotFound(await store.lockCustomer(transaction, scope, id), 'customer');
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      const before = view(row);
      const changes = columns(row, { ...before, ...Object.fromEntries(given) });
      if (change.email !== undefined) await lockEmail(transaction, scope, change.email);
      const holder = change.email === undefined ? row : await findByEmail(transaction, scope, change.email);
      if (holder && holder.id !== id) throw emailTaken();
      try {
        await store.updateCustomer(transaction, id, changes);
        if (change.email !== undefined && change.email.toLowerCase() !== before.email.toLowerCase())
          await keepEmail(transaction, scope, row, before.email);
        return view({ ...row, ...changes });
      } catch (error) {
        if (isUniqueViolation(error)) throw emailTaken();
        throw error;
      }
    },

    async list(
      scope: Scope,
      { email, phoneNumber, isBlackListed, ...page }: CustomerFilter,
    ): Promise<Page<Customer>> {
      const { merchantId } = scope;
      const { rows, total } = await store.listCustomers(database.reader, scope, {
        ...page,
        isBlacklisted: isBlackListed,
        emailIndexes: email === undefined ? undefined : personalData.emailIndexes(merchantId, email),
        phoneIndexes:
          phoneNumber === undefined ? undefined : personalData.phoneIndexes(merchantId, phoneNumber),
      });
      return { rows: rows.map(view), total };
    },

    /** The id of the customer with this email; undefined if there is none. */
    findByEmail: async (
      reader: Reader,
      scope: Scope,
      email: string,
    ): Promise<Pick<CustomerRow, 'id'> | undefined> => findByEmail(reader, scope, email),

    /** The id of the customer with this email, or of the last one who had it if nobody has it now. */
    findByAnyEmail: async (
      reader: Reader,
      scope: Scope,
      email: string,
    ): Promise<Pick<CustomerRow, 'id'> | undefined> =>
      (await findByEmail(reader, scope, email)) ??
      store.findCustomerByEarlierEmail(reader, scope, personalData.emailIndexes(scope.merchantId, email)),

    /**
     * Finds the customer with the payer's email, or creates one. An existing record is neither changed nor revealed,
     * because nothing proves that the payer is that customer.
     * Problem: `customer_not_allowed` if the customer is blacklisted.
     */
    async link(transaction: Transaction, scope: Scope, payer: Payer): Promise<{ id: string }> {
      const { row } = await findOrAdd(transaction, scope, { ...payer, isBlacklisted: false });
      if (row.is_blacklisted) {
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

    /** The payer of a subscription, from the customer's current record. */
    async payer(reader: Reader, id: string): Promise<{ email: string; isBlacklisted: boolean }> {
      const { email, isBlacklisted } = view(await store.readCustomer(reader, id));
      return { email, isBlacklisted };
    },
  };
}

function emailTaken(): Problem {
  return new Problem('customer_exists', 'A customer with this email already exists', { param: 'email' });
}
