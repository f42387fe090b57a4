/** Merchant accounts: names, logo, service fee, and limits on redirects and transfers. */
import { countDecimals, parseDecimal } from 'crypto-checkout/contract';
import { currencies as builtIn, type Currency } from '../money/currency-list.js';
import type { Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import { localHosts } from '../shared/local-hosts.js';
import { timeZoneOf, unknownZone } from './time-zone.js';
import { afterCommit } from '../db/transaction-context.js';
import { invalidField, orNotFound } from '../shared/problem.js';
import * as store from './store.js';
import type { Transaction, Reader } from '../db/engine.js';
import { tables, type MerchantTable } from '../db/schema.js';

/** Times are epoch milliseconds. */
export type Merchant = Readonly<ReturnType<typeof view>>;

type Limits = Readonly<Record<string, string | null>>;

type Settings = Pick<
  Merchant,
  | 'businessName'
  | 'logo'
  | 'feeBasisPoints'
  | 'supportUrl'
  | 'redirectOrigins'
  | 'transfers'
  | 'booksCurrency'
  | 'timeZone'
>;

/** The name that payers see defaults to `name`. */
export type NewMerchant = { readonly [Name in keyof Settings]?: Settings[Name] | undefined } & {
  readonly name: string;
  /** Changes the given currencies only; null removes a limit. */
  readonly dailyLimits?: Limits | undefined;
  readonly dailyRefunds?: Limits | undefined;
  readonly autoRefund?: Limits | undefined;
};

export type MerchantChange = Partial<NewMerchant>;

export type Merchants = ReturnType<typeof createMerchants>;

const { columns } = tables.merchants;
const cachedMs = 5000;

/** The fee of a new account, which nobody may have decided on. */
export const firstFeeBasisPoints = 100;

/** @param currencies those that settings may name */
export function createMerchants(clock: Clock, newId: NewId, currencies: readonly Currency[] = builtIn) {
  const cache = new Map<string, { readonly row: MerchantTable; readonly until: number }>();

  async function row(reader: Reader, id: string): Promise<MerchantTable> {
    return orNotFound(await store.findMerchant(reader, id), 'merchant');
  }

  async function write(
    transaction: Transaction,
    { id, daily_limits, daily_refunds, auto_refund }: MerchantTable,
    change: MerchantChange,
    now: number,
  ): Promise<Merchant> {
    check(change, currencies);
    const { redirectOrigins: origins, dailyLimits, dailyRefunds, autoRefund } = change;
    await store.updateMerchant(transaction, id, {
      name: change.name,
      business_name: change.businessName,
      logo: change.logo,
      fee_basis_points: change.feeBasisPoints,
      support_url: change.supportUrl,
      redirect_origins:
        origins &&
        columns.redirect_origins.write(origins.flatMap((origin) => redirectOriginOf(origin) ?? [])),
      transfers: change.transfers,
      daily_limits: dailyLimits && changedLimits(columns.daily_limits, daily_limits, dailyLimits),
      daily_refunds: dailyRefunds && changedLimits(columns.daily_refunds, daily_refunds, dailyRefunds),
      auto_refund: autoRefund && changedLimits(columns.auto_refund, auto_refund, autoRefund),
      books_currency: change.booksCurrency,
      time_zone: change.timeZone && timeZoneOf(change.timeZone),
      updated_at: now,
    });
    cache.delete(id);
    afterCommit(transaction, () => cache.delete(id));
    return view(await row(transaction, id));
  }

  return {
    /**
     * A merchant's settings, from memory. A change by this process takes effect at once, one by another within 5 s.
     * Problem: `not_found`.
     */
    async settings(reader: Reader, id: string): Promise<MerchantTable> {
      const cached = cache.get(id);
      if (cached && performance.now() < cached.until) return cached.row;
      const found = await row(reader, id);
      cache.set(id, { row: found, until: performance.now() + cachedMs });
      return found;
    },

    /** Problem: `validation_error`. */
    async create(transaction: Transaction, input: NewMerchant): Promise<Merchant> {
      const now = clock.real();
      const created: MerchantTable = {
        id: newId(),
        name: input.name,
        business_name: input.name,
        logo: '',
        fee_basis_points: firstFeeBasisPoints,
        support_url: '',
        redirect_origins: null,
        transfers: 'any',
        daily_limits: '{}',
        daily_refunds: '{}',
        auto_refund: '{}',
        books_currency: null,
        time_zone: null,
        created_at: now,
        updated_at: now,
      };
      await store.insertMerchant(transaction, created);
      return write(transaction, created, input, now);
    },

    /** Changes only the given fields. Problems: `validation_error`, `not_found`. */
    async update(transaction: Transaction, id: string, change: MerchantChange): Promise<Merchant> {
      return write(transaction, await row(transaction, id), change, clock.real());
    },

    /** Oldest first. */
    async list(reader: Reader): Promise<Merchant[]> {
      return (await store.listMerchants(reader)).map(view);
    },

    /** Problem: `not_found`. */
    async retrieve(reader: Reader, id: string): Promise<Merchant> {
      return view(await row(reader, id));
    },
  };
}

function check(change: MerchantChange, currencies: readonly Currency[]): void {
  const { name, businessName, logo, feeBasisPoints, supportUrl, redirectOrigins, booksCurrency } = change;
  const { timeZone } = change;
  if (name !== undefined) checkName('name', name);
  if (businessName !== undefined) checkName('businessName', businessName);
  if (logo !== undefined && logo !== '' && !isHttpsUrl(logo)) {
    throw invalidField(
      'logo',
      'Must be empty, or an https URL of at most 2048 characters without a user name or password',
    );
  }
  const isFee =
    feeBasisPoints === undefined ||
    (Number.isInteger(feeBasisPoints) && feeBasisPoints >= 0 && feeBasisPoints <= 10_000);
  if (!isFee) throw invalidField('feeBasisPoints', 'Must be an integer from 0 to 10000');
  if (supportUrl !== undefined && supportUrl !== '' && !isHttpsUrl(supportUrl) && !isMailto(supportUrl)) {
    throw invalidField(
      'supportUrl',
      'Must be empty, an https URL of at most 2048 characters, or mailto: and an email',
    );
  }
  if (booksCurrency !== undefined && !currencies.some(({ code }) => code === booksCurrency)) {
    throw invalidField('booksCurrency', `"${booksCurrency}" is not a currency of this server`);
  }
  if (timeZone !== undefined && timeZoneOf(timeZone) === undefined) {
    throw invalidField('timeZone', unknownZone(timeZone));
  }
  for (const origin of redirectOrigins ?? []) {
    if (redirectOriginOf(origin) === undefined) {
      throw invalidField(
        'redirectOrigins',
        `"${origin}" is not an origin: write it as https://shop.example, without a path. http is for localhost only`,
      );
    }
  }
  for (const field of ['dailyLimits', 'dailyRefunds', 'autoRefund'] as const) {
    for (const [code, limit] of Object.entries(change[field] ?? {}))
      checkLimit(field, code, limit, currencies);
  }
}

function checkLimit(
  field: string,
  code: string,
  limit: string | null,
  currencies: readonly Currency[],
): void {
  const currency = currencies.find((known) => known.code === code);
  if (!currency) throw invalidField(field, `"${code}" is not a currency of this server`);
  if (field === 'dailyLimits' && currency.type !== 'crypto') {
    throw invalidField(
      field,
      `"${code}" is money, and transfers are limited coin by coin: name each coin, as in USDT=1000`,
    );
  }
  const decimal = limit === null ? '0' : parseDecimal(limit);
  if (decimal === undefined || countDecimals(decimal) > currency.decimals) {
    throw invalidField(
      field,
      `"${limit ?? ''}" is not an amount in ${code}: write a number with at most ${currency.decimals} decimals`,
    );
  }
}

function changedLimits(column: typeof columns.daily_limits, stored: string, changes: Limits): string {
  const limits = Object.entries({ ...column.read(stored), ...changes });
  return column.write(
    Object.fromEntries(limits.flatMap(([code, limit]) => (limit === null ? [] : [[code, limit]]))),
  );
}

function checkName(field: string, value: string): void {
  if (value.trim() === '' || value.length > 255) throw invalidField(field, 'Must be 1 to 255 characters');
}

function isHttpsUrl(text: string): boolean {
  if (text.length > 2048 || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '';
}

function isMailto(text: string): boolean {
  return text.length <= 261 && /^mailto:[^\s@?&]+@[^\s@?&]+$/.test(text);
}

/** An origin as browsers write it: the host in lower case and in Punycode. Undefined if it is none that pages may lead to. */
function redirectOriginOf(text: string): string | undefined {
  const { protocol, hostname, origin } = URL.parse(/^https?:\/\/[^/?#@\\\s]+$/i.test(text) ? text : '') ?? {};
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && localHosts.has(hostname ?? ''));
  return isAllowed ? origin : undefined;
}

function view(row: MerchantTable) {
  const origins = columns.redirect_origins.read(row.redirect_origins);
  return {
    id: row.id,
    name: row.name,
    /** The name that payers see. */
    businessName: row.business_name,
    /** An https URL, or empty. */
    logo: row.logo,
    /** The service fee: 100 is 1 %. */
    feeBasisPoints: row.fee_basis_points,
    /** The place where payers get help: an https or mailto URL, or empty. */
    supportUrl: row.support_url,
    /** The origins that payments created with a public key may redirect to; null if not set. */
    redirectOrigins: origins && [...origins],
    /** The destinations of transfers: any address, or only addresses saved more than 24 hours ago. */
    transfers: row.transfers,
    /** The most that may be transferred in 24 hours, by currency code, as decimals. */
    dailyLimits: columns.daily_limits.read(row.daily_limits),
    /** The most that may be refunded in 24 hours, by currency code, as decimals. */
    dailyRefunds: columns.daily_refunds.read(row.daily_refunds),
    /** Up to which amounts refunds of an excess and of unaccepted money need no approval, by currency code, as decimals. */
    autoRefund: columns.auto_refund.read(row.auto_refund),
    /** The currency in which the books state the worth of bookings. */
    booksCurrency: row.books_currency ?? 'USD',
    /** The zone in which the shop's people read times: an IANA name. */
    timeZone: row.time_zone ?? 'UTC',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
