/** Reads and writes customers. */
import { tables } from '../db/schema.js';
import { forUpdate } from '../db/locks.js';
import { prepared } from '../db/prepared.js';
import { isListed, readCheckpointedPage, readPage } from '../db/pages.js';
import { valuesOf, type Values } from '../db/values.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';
import { having, inScope, rowById, updateRow } from '../db/rows.js';

export interface CustomerQuery extends PageRequest {
  readonly isBlacklisted?: boolean | undefined;
  /** The indexes that find the email and the phone number. */
  readonly emailIndexes?: readonly string[] | undefined;
  readonly phoneIndexes?: readonly string[] | undefined;
}

const customers = valuesOf(tables.customers);
export type CustomerRow = Values<typeof tables.customers>;

type EarlierEmailRow = Values<typeof tables.customer_earlier_emails>;

const updateStored = updateRow('customers');

/** @returns false if a customer with this email exists */
export async function insertCustomer(transaction: Transaction, row: CustomerRow): Promise<boolean> {
  const result = await transaction
    .insertInto('customers')
    .values(customers.encode(row))
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'email_index']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

const customerOf = (reader: Reader, scope: Scope, id: string) =>
  rowById(reader, 'customers', id).$call(inScope(scope));

export async function findCustomer(
  reader: Reader,
  scope: Scope,
  id: string,
): Promise<CustomerRow | undefined> {
  return customers.decode(await customerOf(reader, scope, id).executeTakeFirst());
}

/** Like `findCustomer`, and locks the row until the transaction ends. */
export async function lockCustomer(transaction: Transaction, scope: Scope, id: string) {
  return customers.decode(
    await customerOf(transaction, scope, id).$call(forUpdate(transaction)).executeTakeFirst(),
  );
}

/** A customer of any merchant and mode, by an id from the database. */
export async function readCustomer(reader: Reader, id: string): Promise<CustomerRow> {
  return customers.decode(await rowById(reader, 'customers', id).executeTakeFirstOrThrow());
}

const findByEmail = prepared(
  (reader, { merchantId, mode, ...indexes }: Scope & Readonly<Record<`${number}`, string>>) =>
    reader
      .selectFrom('customers')
      .selectAll()
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where('email_index', 'in', Object.values(indexes)),
);

export async function findCustomerByEmail(
  reader: Reader,
  { merchantId, mode }: Scope,
  emailIndexes: readonly string[],
): Promise<CustomerRow | undefined> {
  const [row] = await findByEmail(reader, {
    merchantId,
    mode,
    ...Object.fromEntries(emailIndexes.entries()),
  });
  return customers.decode(row);
}

/** The last customer who had an email before. */
export async function findCustomerByEarlierEmail(
  reader: Reader,
  { merchantId, mode }: Scope,
  emailIndexes: readonly string[],
): Promise<CustomerRow | undefined> {
  return customers.decode(
    await reader
      .selectFrom('customer_earlier_emails as earlier')
      .innerJoin('customers', 'customers.id', 'earlier.customer_id')
      .selectAll('customers')
      .where((e) => e.and({ 'earlier.merchant_id': merchantId, 'earlier.mode': mode }))
      .where('earlier.email_index', 'in', emailIndexes)
      .orderBy('earlier.left_at', 'desc')
      .executeTakeFirst(),
  );
}

export async function keepEarlierEmail(
  transaction: Transaction,
  row: EarlierEmailRow,
  indexes: readonly string[],
): Promise<void> {
  // Under the previous data key, too: with both, rotating the key would find the same index twice.
  await transaction
    .deleteFrom('customer_earlier_emails')
    .where('customer_id', '=', row.customer_id)
    .where('email_index', 'in', indexes)
    .execute();
  await transaction.insertInto('customer_earlier_emails').values(row).execute();
}

/** @throws an error that `isUniqueViolation` recognises, if another customer has the email */
export const updateCustomer = (transaction: Transaction, id: string, changes: Partial<CustomerRow>) =>
  updateStored(transaction, id, customers.encode(changes));

export async function listCustomers(reader: Reader, scope: Scope, query: CustomerQuery) {
  const { isBlacklisted, emailIndexes, phoneIndexes } = query;
  const flag = isBlacklisted === undefined ? undefined : isBlacklisted ? 1 : 0;
  let listed = reader
    .selectFrom('customers')
    .selectAll()
    .where(isListed('customers', scope, query))
    .$call(having({ is_blacklisted: flag }));
  if (emailIndexes) listed = listed.where('email_index', 'in', emailIndexes);
  if (phoneIndexes) listed = listed.where('phone_index', 'in', phoneIndexes);
  // Few customers share an email or a phone number. The other lists can be very long.
  const { rows, total } =
    emailIndexes || phoneIndexes
      ? await readPage(listed, 'customers', query)
      : await readCheckpointedPage(reader, listed, 'customers', scope, query, { is_blacklisted: flag });
  return { rows: rows.map(customers.decode), total };
}
