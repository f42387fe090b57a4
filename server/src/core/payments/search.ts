/**
 * Finds payments by the beginning of a text that people read out: a reference, an e-mail address, a name, an address, a
 * transfer; or by a sum. Payers' data may be encrypted, so that no index has its beginnings: the newest payments are
 * read and compared. Whole values are found among all payments by the filters of the list.
 */
import { setImmediate } from 'node:timers/promises';
import { fromUnits } from 'crypto-checkout/contract';
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import type { PersonalData } from '../db/personal-data.js';
import { tables, type PaymentRow } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import type { Currencies } from '../money/currencies.js';
import type { Scope } from '../shared/scope.js';

/** The newest payments that are compared; and the most that are found. */
const mostRead = 10_000;
const mostFound = 200;
const pageSize = 500;

const payments = valuesOf(tables.payments);

/** `1,234.50 USD` as `1234.5`; undefined if it is no sum. */
function sumOf(text: string): string | undefined {
  const [, digits = '', fraction = ''] =
    /^(\d[\d,]{0,30})(?:\.(\d{1,18}))?(?: [a-z]{2,10})?$/.exec(text) ?? [];
  const whole = digits.replaceAll(',', '').replace(/^0+(?=\d)/, '');
  if (whole === '') return undefined;
  const decimals = fraction.replace(/0{1,18}$/, '');
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

const isHashLike = (text: string) => /^(0x)?[0-9a-f]{6,64}$/.test(text);

export function createPaymentSearch(currencies: Pick<Currencies, 'known'>, personalData: PersonalData) {
  /** The ids of the payments of a scope that match, newest first. */
  return async function search(reader: Reader, scope: Scope, given: string): Promise<string[]> {
    const text = given.trim().toLowerCase();
    const sum = sumOf(text);
    const begins = (value: string | null | undefined) => value?.toLowerCase().startsWith(text) ?? false;
    const isSum = (units: bigint | null, code: string | null) =>
      sum !== undefined &&
      units !== null &&
      code !== null &&
      sumOf(fromUnits(units, currencies.known(code).decimals)) === sum;
    const found: string[] = [];
    let read = 0;
    for await (const page of pages(reader, scope)) {
      const paidBy = isHashLike(text)
        ? await paidWith(
            reader,
            page.map(({ id }) => id),
            text,
          )
        : undefined;
      for (const row of page) {
        const { email, fullName = '' } = personalData.payer(row);
        const isFound =
          begins(row.tx_ref) ||
          begins(row.id) ||
          begins(row.address) ||
          begins(email) ||
          begins(fullName) ||
          fullName.split(' ').some(begins) ||
          isSum(row.base_amount, row.base_currency) ||
          isSum(row.amount, row.currency) ||
          paidBy?.has(row.id) === true;
        if (isFound) found.push(row.id);
      }
      read += page.length;
      if (read >= mostRead || found.length >= mostFound) break;
      // Other requests are answered in between.
      await setImmediate();
    }
    return found.slice(0, mostFound);
  };
}

type Read = Pick<
  PaymentRow,
  | 'id'
  | 'tx_ref'
  | 'payer'
  | 'base_amount'
  | 'base_currency'
  | 'amount'
  | 'currency'
  | 'address'
  | 'created_at'
>;

/** Newest first, by keyset. */
const pages = (reader: Reader, { merchantId, mode }: Scope) =>
  everyPage<Read>(pageSize, async (after) => {
    const rows = await reader
      .selectFrom('payments')
      .select(['id', 'tx_ref', 'payer', 'base_amount', 'base_currency', 'amount', 'currency'])
      .select(['address', 'created_at'])
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where((e) =>
        after ? e(e.refTuple('created_at', 'id'), '<', e.tuple(after.created_at, after.id)) : e.lit(true),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(pageSize)
      .execute();
    return rows.map(payments.decode);
  });

/** Finds which of the payments have a transfer whose hash begins with a text. */
async function paidWith(reader: Reader, ids: readonly string[], text: string): Promise<ReadonlySet<string>> {
  const digits = text.replace(/^0x/, '');
  const rows = await inChunks(ids, (chunk) =>
    reader
      .selectFrom('receipts')
      .select(['payment_id', 'tx_hash'])
      .where('payment_id', 'in', chunk)
      .execute(),
  );
  const matching = rows.filter(({ tx_hash: hash }) =>
    hash.toLowerCase().replace(/^0x/, '').startsWith(digits),
  );
  return new Set(matching.map(({ payment_id: id }) => id));
}
