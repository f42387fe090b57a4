/** Lists the deposit addresses of a merchant, with the keys that they come from and what each received. */
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import { inScope } from '../db/rows.js';
import type { AddressTable, PaymentTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Family } from '../chains/networks.js';
import type { DepositKeys } from './deposit-keys.js';

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

const rowsAtOnce = 1000;

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
  const rows: AddressTable[] = [];
  const received = createSums();
  for await (const page of paymentPages(reader, scope)) {
    const ids = page.map(({ id }) => id);
    rows.push(
      ...(await inChunks(ids, (chunk) =>
        reader.selectFrom('addresses').selectAll().where('payment_id', 'in', chunk).execute(),
      )),
    );
    const receipts = await inChunks(ids, (chunk) =>
      reader
        .selectFrom('receipts')
        .select(['address', 'currency', 'amount'])
        .where('payment_id', 'in', chunk)
        .where('status', '=', 'confirmed')
        .execute(),
    );
    for (const receipt of receipts) received.add(receipt);
  }
  rows.push(...(await walletAddresses(reader, scope)));
  const addresses = rows.flatMap((row) => {
    const found = keyBySource.get(row.source_id);
    if (!found) return [];
    const { key, source } = found;
    return {
      keyId: key.id,
      index: row.derivation_index,
      /** Below the account that the key is of; empty for a treasury. */
      path: source.forwarder ? '' : `0/${row.derivation_index}`,
      /** With which the forwarder factory makes the address; undefined if it comes from an extended key. */
      salt: source.forwarder?.salt(row.derivation_index),
      address: row.address,
      currency: row.currency,
      network: row.network,
      paymentId: row.payment_id,
      walletId: row.wallet_id,
      /** Confirmed, in the smallest unit of each currency. */
      received: received.at(row.address),
      createdAt: row.created_at,
    };
  });
  addresses.sort((a, b) => (a.keyId === b.keyId ? a.index - b.index : a.keyId < b.keyId ? -1 : 1));
  return {
    keys: [...keyBySource.values()].map(({ key, source }) => ({
      key,
      /** What a Bitcoin or Litecoin wallet imports; undefined for EVM and Tron. */
      descriptor: source.descriptor,
      /** The first and the last index that were given out. */
      range: [0, key.used - 1] as const,
    })),
    addresses,
  };
}

/** The merchant's payments, deposits to wallets included. */
function paymentPages(reader: Reader, scope: Scope) {
  return everyPage<Pick<PaymentTable, 'id' | 'created_at'>>(rowsAtOnce, (last) =>
    reader
      .selectFrom('payments')
      .select(['id', 'created_at'])
      .$call(inScope(scope))
      .where((e) =>
        last ? e(e.refTuple('created_at', 'id'), '>', e.tuple(last.created_at, last.id)) : e.lit(true),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute(),
  );
}

function walletAddresses(reader: Reader, { merchantId, mode }: Scope): Promise<AddressTable[]> {
  return reader
    .selectFrom('addresses')
    .innerJoin('wallets', 'wallets.id', 'addresses.wallet_id')
    .selectAll('addresses')
    .where((e) => e.and({ 'wallets.merchant_id': merchantId, 'wallets.mode': mode }))
    .execute();
}

/** Adds up receipts by address and currency. */
function createSums() {
  const sums = new Map<string, Map<string, bigint>>();
  return {
    add({ address, currency, amount }: { address: string; currency: string; amount: string }): void {
      const sum = sums.get(address) ?? new Map<string, bigint>();
      sum.set(currency, (sum.get(currency) ?? 0n) + BigInt(amount));
      sums.set(address, sum);
    },
    at: (address: string) =>
      [...(sums.get(address) ?? [])].map(([currency, amount]) => ({ currency, amount })),
  };
}
