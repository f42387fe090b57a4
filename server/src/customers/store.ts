/** Customers as they are kept. */
import type { Reader, Transaction } from '../db/database.js';
import { isListed, readMarkedPage, readPage, type PageRequest } from '../db/pages.js';
import type { CustomerTable } from '../db/schema.js';
import type { Scope } from '../scope.js';

export type CustomerRow = CustomerTable;

export interface CustomerQuery extends PageRequest {
  readonly isBlacklisted?: boolean | undefined;
  readonly emailLower?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

/** @returns false when there is a customer of this email */
export async function insertCustomer(transaction: Transaction, row: CustomerRow): Promise<boolean> {
  const result = await transaction
    .insertInto('customers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'email_lower']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findCustomer(reader: Reader, scope: Scope, id: string): Promise<CustomerRow | undefined> {
  return reader
    .selectFrom('customers')
    .selectAll()
    .where('id', '=', id)
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .executeTakeFirst();
}

export function findCustomerByEmail(
  reader: Reader,
  scope: Scope,
  emailLower: string,
): Promise<CustomerRow | undefined> {
  return reader
    .selectFrom('customers')
    .selectAll()
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .where('email_lower', '=', emailLower)
    .executeTakeFirst();
}

/** @throws what `isUniqueViolation` knows, when another customer has the email */
export function updateCustomer(
  transaction: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<CustomerRow>,
): Promise<CustomerRow | undefined> {
  return transaction
    .updateTable('customers')
    .set(changes)
    .where('id', '=', id)
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .returningAll()
    .executeTakeFirst();
}

export function listCustomers(
  reader: Reader,
  scope: Scope,
  query: CustomerQuery,
): Promise<{ rows: CustomerRow[]; total: number }> {
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
  // One email address or phone number has few customers; the others may have very many.
  if (emailLower !== undefined || phoneNumber !== undefined) return readPage(rows, 'customers', query);
  const list =
    isBlacklisted === undefined ? 'customers' : isBlacklisted ? 'customers.blacklisted' : 'customers.allowed';
  return readMarkedPage(reader, rows, 'customers', list, scope, query);
}
