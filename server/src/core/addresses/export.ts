/** Lists the deposit addresses of a merchant, with the keys that they come from and what each received. */
import type { Selectable } from 'kysely';
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import { filtersBy } from '../db/plans.js';
import { tables, type Schema } from '../db/schema.js';
import { sumUnits } from '../db/units.js';
import { valuesOf } from '../db/values.js';
import { groupBy } from '../shared/group-by.js';
import type { Scope } from '../shared/scope.js';
import type { Family } from '../chains/networks.js';
import type { DepositKeys } from './deposit-keys.js';
import { withOwners } from './owners.js';

const receiptRows = valuesOf(tables.receipts);

const rowsPerRead = 1000;

type Exported = Awaited<ReturnType<typeof exportAddresses>>;
export type ExportedKey = Exported['keys'][number];
export type ExportedAddress = Exported['addresses'][number];

interface ExportOptions {
  readonly reader: Reader;
  readonly depositKeys: Pick<DepositKeys, 'list' | 'preview'>;
  readonly scope: Scope;
  /** All families if it is undefined. */
  readonly family: Family | undefined;
}

/** Sorted by key, then by index. */
export async function exportAddresses({ reader, depositKeys, scope, family }: ExportOptions) {
  const keys = (await depositKeys.list(reader, scope.merchantId)).filter(
    (key) => key.mode === scope.mode && key.used > 0 && (family === undefined || key.family === family),
  );
  // A key that was set a second time has two records, and one count of indexes.
  const keyBySource = new Map(
    keys.map((key) => [
      key.sourceId,
      { key, source: depositKeys.preview(scope, key.family, key, undefined) },
    ]),
  );
  const { merchantId } = scope;
  const pages = everyPage<Selectable<Schema['addresses']>>(rowsPerRead, (last) =>
    withOwners(reader, scope.mode)
      .selectAll('addresses')
      .where((e) => e.or({ 'payments.merchant_id': merchantId, 'wallets.merchant_id': merchantId }))
      .where('addresses.sequence', '>', last?.sequence ?? 0)
      .orderBy('addresses.sequence')
      .limit(rowsPerRead)
      .execute(),
  );
  const rows: Selectable<Schema['addresses']>[] = [];
  const receipts: Awaited<ReturnType<typeof receivedBy>> = [];
  for await (const page of pages) {
    rows.push(...page);
    const given = page.map(({ address }) => address);
    receipts.push(...(await receivedBy(reader, scope, given)));
  }
  const received = groupBy(receipts, ({ address }) => address);
  const addresses = rows.flatMap((row) => {
    const found = keyBySource.get(row.source_id);
    if (!found) return [];
    const { key, source } = found;
    return {
      keyId: key.id,
      index: row.derivation_index,
      /** Below the account that the key is of; empty for a treasury. */
      path: source.forwarder ? '' : `0/${row.derivation_index}`,
      /** The forwarder factory makes the address from this; undefined if it comes from an extended key. */
      salt: source.forwarder?.salt(row.derivation_index),
      address: row.address,
      currency: row.currency,
      network: row.network,
      paymentId: row.payment_id,
      walletId: row.wallet_id,
      /** Confirmed, in the smallest unit of each currency. */
      received: (received.get(row.address) ?? []).map(({ currency, amount }) => ({
        currency,
        amount,
      })),
      createdAt: row.created_at,
    };
  });
  addresses.sort((a, b) => (a.keyId === b.keyId ? a.index - b.index : a.keyId < b.keyId ? -1 : 1));
  return {
    keys: [...keyBySource.values()].map(({ key, source }) => ({
      key,
      /** The descriptor that a Bitcoin or Litecoin wallet imports; undefined for EVM and Tron. */
      descriptor: source.descriptor,
      /** The first and the last index that were given out. */
      range: [0, key.used - 1] as const,
    })),
    addresses,
  };
}

/** The confirmed receipts of some addresses, by address and currency. */
async function receivedBy(reader: Reader, { merchantId, mode }: Scope, addresses: readonly string[]) {
  const rows = await inChunks(addresses, (chunk) =>
    reader
      .selectFrom('receipts')
      .select(['address', 'currency', sumUnits(reader, 'amount').as('amount')])
      .where('address', 'in', chunk)
      .where(filtersBy(reader, { merchant_id: merchantId, mode }))
      .where('status', '=', 'confirmed')
      .groupBy(['address', 'currency'])
      .orderBy('currency')
      .execute(),
  );
  return rows.map(receiptRows.decode);
}
