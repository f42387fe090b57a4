/** Reads and writes customers. */
import { prepared } from '../db/prepared.js';
import { isListed, readCheckpointedPage, readPage } from '../db/pages.js';
import type { CustomerTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { inScope, rowById } from '../db/rows.js';

export interface CustomerQuery extends PageRequest {
  readonly isBlacklisted?: boolean | undefined;
  readonly emailLower?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

/** @returns false if a customer with this email exists */
export async function insertCustomer(transaction: Transaction, row: CustomerTable): Promise<boolean> {
  const result = await transaction
    .insertInto('customers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'email_lower']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findCustomer(reader: Reader, scope: Scope, id: string): Promise<CustomerTable | undefined> {
  return rowById(reader, 'customers', id).$call(inScope(scope)).executeTakeFirst();
}

/** A customer of any merchant and mode, by an id from the database. */
export function readCustomer(reader: Reader, id: string): Promise<CustomerTable> {
  return rowById(reader, 'customers', id).executeTakeFirstOrThrow();
}

const findByEmail = prepared(
  (reader, { merchantId, mode, emailLower }: Scope & { readonly emailLower: string }) =>
    reader
      .selectFrom('customers')
      .selectAll()
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where('email_lower', '=', emailLower),
);

export async function findCustomerByEmail(
  reader: Reader,
  { merchantId, mode }: Scope,
  emailLower: string,
): Promise<CustomerTable | undefined> {
  const [row] = await findByEmail(reader, { merchantId, mode, emailLower });
  return row;
}

/** @throws an error that `isUniqueViolation` recognises, if another customer has the email */
export function updateCustomer(
  transaction: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<CustomerTable>,
): Promise<CustomerTable | undefined> {
  return transaction
    .updateTable('customers')
    .set(changes)
    .where((e) => e.and({ id, merchant_id: scope.merchantId, mode: scope.mode }))
    .returningAll()
    .executeTakeFirst();
}

export function listCustomers(
  reader: Reader,
  scope: Scope,
  query: CustomerQuery,
): Promise<Page<CustomerTable>> {
  const { isBlacklisted, emailLower, phoneNumber } = query;
  const rows = reader
    .selectFrom('customers')
    .selectAll()
    .where(isListed('customers', scope, query))
    .where((e) =>
      e.and({
        ...(isBlacklisted !== undefined && { is_blacklisted: isBlacklisted ? 1 : 0 }),
        ...(emailLower !== undefined && { email_lower: emailLower }),
        ...(phoneNumber !== undefined && { phone_number: phoneNumber }),
      }),
    );
  // Few customers share an email or a phone number. The other lists can be very long.
  if (emailLower !== undefined || phoneNumber !== undefined) return readPage(rows, 'customers', query);
  const list =
    isBlacklisted === undefined ? 'customers' : isBlacklisted ? 'customers.blacklisted' : 'customers.allowed';
  return readCheckpointedPage(reader, rows, 'customers', list, scope, query);
}
