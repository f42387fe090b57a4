/** Makes bookings, as the contract has them, of a page of postings: with their records, values and running balances. */
import { fromUnits, type Booking } from 'crypto-checkout/contract';
import type { Reader } from '../../core/db/engine.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import { kindOfPosting } from '../../core/ledger/posting-kinds.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { Currency } from '../../core/money/currency-list.js';
import { parseFraction } from '../../core/money/fractions.js';
import { isoTime } from '../../core/shared/clock.js';
import { groupBy } from '../../core/shared/group-by.js';
import * as store from './books-store.js';
import { inBooks } from './kinds.js';
import { linesOf, totalOf } from './lines.js';
import { localTimes } from './period.js';
import { ratesNear, unitText, valuationOf, valueOf, valueText, type Valuation } from './values.js';

interface BookingsDeps {
  readonly currencies: Pick<Currencies, 'known'>;
  readonly personalData: Pick<PersonalData, 'payer'>;
}

/** The record that a posting is about: the id in its key. */
function recordOf({
  key,
}: store.PostingRow): { readonly of: keyof typeof store.readRecords; readonly id: string } | undefined {
  const own = inBooks[kindOfPosting(key)];
  const [, id = ''] = key.split(':');
  return own ? { of: own.of, id } : undefined;
}

async function readAbout(reader: Reader, postings: readonly store.PostingRow[]) {
  const read = async <K extends keyof typeof store.readRecords>(of: K, more: readonly string[] = []) => {
    const ids = postings.flatMap((posting) => {
      const record = recordOf(posting);
      return record?.of === of ? [record.id] : [];
    });
    type Row = Awaited<ReturnType<(typeof store.readRecords)[K]>>[number];
    const rows = (await store.readRecords[of](reader, [...new Set([...ids, ...more])])) as Row[];
    return new Map(rows.map((row) => [row.id, row]));
  };
  const [receipts, transfers, payouts] = await Promise.all([
    read('receipt'),
    read('transfer'),
    read('payout'),
  ]);
  const refunds = await read(
    'refund',
    [...transfers.values()].flatMap(({ refund_id: id }) => id ?? []),
  );
  const payments = await read('payment', [
    ...[...receipts.values(), ...refunds.values()].map((row) => row.payment_id),
    ...postings.flatMap((posting) => posting.payment_id ?? []),
  ]);
  return { receipts, transfers, payouts, refunds, payments };
}

type About = Awaited<ReturnType<typeof readAbout>>;

/** The records' description of a posting. It uses only their unchanging fields, and the posting's own. */
function describe(posting: store.PostingRow, about: About, { personalData }: BookingsDeps) {
  const { of, id = '' } = recordOf(posting) ?? {};
  const receipt = of === 'receipt' ? about.receipts.get(id) : undefined;
  const transfer = of === 'transfer' ? about.transfers.get(id) : undefined;
  const payout = of === 'payout' ? about.payouts.get(id) : undefined;
  const refund = about.refunds.get(of === 'refund' ? id : (transfer?.refund_id ?? ''));
  const paymentId = posting.payment_id ?? receipt?.payment_id ?? refund?.payment_id;
  const payment = about.payments.get(paymentId ?? '');
  // Before this column was there, the hash of a transfer that was never undone.
  const isSure = transfer?.reversals === 0 && posting.key.startsWith('post:');
  return {
    payment,
    receipt,
    isOfRefund: refund !== undefined,
    network: receipt?.network ?? transfer?.network ?? refund?.network ?? payment?.network ?? undefined,
    // A receipt that was found by a balance names a block.
    txHash:
      posting.tx_hash ??
      (receipt?.found_above === null ? receipt.tx_hash : undefined) ??
      (isSure ? transfer.tx_hash : undefined) ??
      undefined,
    reference: refund?.id ?? transfer?.id ?? (payout ? (payout.reference ?? payout.id) : payment?.tx_ref),
    counterparty:
      (refund === undefined ? transfer?.address : undefined) ??
      payout?.destination ??
      (payment && personalData.payer(payment).email),
  };
}

export interface BookingsRequest {
  readonly postings: readonly store.PostingRow[];
  readonly zone: string;
  /** The currency of the values. */
  readonly currency: Currency;
  /** By asset, the balances before the first posting, in units. They are brought up to date. */
  readonly totals: Map<string, bigint>;
}

export async function makeBookings(
  deps: BookingsDeps,
  reader: Reader,
  { postings, zone, currency, totals }: BookingsRequest,
): Promise<Booking[]> {
  const { currencies } = deps;
  const entries = groupBy(
    await store.readEntries(
      reader,
      postings.map(({ id }) => id),
    ),
    (entry) => entry.posting_id,
  );
  const about = await readAbout(reader, postings);
  const valuation = await ratesNear(
    reader,
    currency,
    [...new Set(postings.map((posting) => posting.currency))],
    postings.map((posting) => posting.created_at),
  );
  const local = localTimes(zone);

  return postings.flatMap((posting) => {
    const { currency: code, created_at: time } = posting;
    const asset = currencies.known(code);
    const text = (units: bigint) => fromUnits(units, asset.decimals);
    const { payment, receipt, isOfRefund, ...described } = describe(posting, about, deps);
    const rate = valuation(code, time) ?? ownRate(receipt, payment, asset, currency);
    return linesOf(posting.key, entries.get(posting.id) ?? [], isOfRefund).map((line): Booking => {
      const amount = totalOf(line);
      const total = (totals.get(code) ?? 0n) + amount;
      totals.set(code, total);
      return {
        id: line.isFee ? `${posting.id}-fee` : posting.id,
        time: isoTime(time),
        ...local(time),
        kind: line.kind,
        asset: code,
        amount: text(amount),
        available: text(line.available),
        reserved: text(line.reserved),
        unallocated: text(line.unallocated),
        balance: text(total),
        currency: currency.code,
        ...(rate && {
          unitValue: unitText(rate),
          value: valueText(valueOf(amount, rate, asset, currency), currency),
          rateSource: rate.source,
          rateTime: isoTime(rate.at),
        }),
        ...described,
        payment: payment?.id,
        note: line.note,
      };
    });
  });
}

/** The rate at which a receipt was first seen, for bookings from before rates were kept. */
function ownRate(
  receipt: { readonly base_rate: string | null; readonly first_seen_at: number } | undefined,
  payment: { readonly base_currency: string } | undefined,
  asset: Currency,
  currency: Currency,
): Valuation | undefined {
  const rate = parseFraction(receipt?.base_rate ?? null);
  if (!receipt || !rate || payment?.base_currency !== currency.code) return undefined;
  return valuationOf(rate, asset, currency, receipt.first_seen_at);
}
