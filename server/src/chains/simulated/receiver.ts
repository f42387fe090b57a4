/** Finds whose deposit address a simulated transfer goes to. */
import type { Reader } from '../../db/engine.js';

/** The merchant that an address of test mode was given to; undefined if it is nobody's. */
export async function findReceiver(reader: Reader, address: string): Promise<string | undefined> {
  const row = await reader
    .selectFrom('addresses')
    .leftJoin('payments', 'payments.id', 'addresses.payment_id')
    .leftJoin('wallets', 'wallets.id', 'addresses.wallet_id')
    .select((e) => e.fn.coalesce('payments.merchant_id', 'wallets.merchant_id').as('merchant'))
    .where((e) => e.and({ 'addresses.address': address, 'addresses.mode': 'test' }))
    .executeTakeFirst();
  return row?.merchant ?? undefined;
}
