/**
 * Writes bookings as files: with every column, or in the import formats of accounting programs. For the command and the
 * console.
 */
import type { Booking } from './books.js';
import { csvLine, withoutFormula } from './csv.js';

export const bookProfiles = ['xero', 'quickbooks', 'datev', 'koinly'] as const;
export type BookProfile = (typeof bookProfiles)[number];

/** The reason that a booking is not in a file: nothing moved, no value is known, or its value rounds to zero. */
export type LeftOut = 'nothing' | 'unvalued' | 'tiny';

export interface BookFile {
  readonly extension: 'csv';
  /**
   * The requirements of the importing programs. All text meets them already: characters that an encoding lacks are `?`.
   */
  readonly encoding: 'utf-8' | 'windows-1252';
  /** The lines before the first booking. */
  readonly head: string;
  line(booking: Booking): { readonly text: string } | { readonly leftOut: LeftOut };
}

/** The period in its zone: days, and the currency of the values. */
export interface BookPeriod {
  readonly firstDay: string;
  readonly lastDay: string;
  readonly currency: string;
}

/** Header that DATEV requires before the bookings. */
export interface DatevSettings {
  readonly consultant: number;
  readonly client: number;
  /** The account of the balances, and the contra account of all bookings. */
  readonly account: string;
  readonly contraAccount: string;
  /** The first day of the fiscal year. */
  readonly fiscalYear: string;
}

const columns = {
  booking_id: (one: Booking) => one.id,
  time: (one) => one.time,
  local_date: (one) => one.localDate,
  local_time: (one) => one.localTime,
  kind: (one) => one.kind,
  asset: (one) => one.asset,
  amount: (one) => one.amount,
  available_change: (one) => one.available,
  reserved_change: (one) => one.reserved,
  unallocated_change: (one) => one.unallocated,
  balance: (one) => one.balance,
  unit_value: (one) => one.unitValue,
  value: (one) => one.value,
  value_currency: (one) => one.currency,
  rate_source: (one) => one.rateSource,
  rate_time: (one) => one.rateTime,
  counterparty: (one) => one.counterparty,
  reference: (one) => one.reference,
  payment_id: (one) => one.payment,
  transaction: (one) => one.txHash,
  network: (one) => one.network,
  note: (one) => one.note,
} as const satisfies Readonly<Record<string, (one: Booking) => string | undefined>>;

/** Every booking with every column. */
export const wholeBookFile: BookFile = {
  extension: 'csv',
  encoding: 'utf-8',
  head: csvLine(Object.keys(columns)),
  line: (one) => ({ text: csvLine(Object.values(columns).map((column) => column(one) ?? '')) }),
};

/** @param datev needed only for its profile */
export function bookFile(profile: BookProfile, period: BookPeriod, datev?: DatevSettings): BookFile {
  switch (profile) {
    case 'xero':
      return xero;
    case 'quickbooks':
      return quickBooks;
    case 'koinly':
      return koinly;
    case 'datev':
      if (!datev) throw new Error('DATEV needs the numbers of the consultant and the client');
      return datevFile(period, datev);
    default:
      return profile satisfies never;
  }
}

const isZero = (decimal: string) => /^-?0(\.0*)?$/.test(decimal);
const absolute = (decimal: string) => decimal.replace('-', '');

/** A line for each booking that moved value. */
const valued = (write: (one: Booking, value: string) => string) => (one: Booking) => {
  if (isZero(one.amount)) return { leftOut: 'nothing' as const };
  if (one.value === undefined) return { leftOut: 'unvalued' as const };
  return isZero(one.value) ? { leftOut: 'tiny' as const } : { text: write(one, one.value) };
};

/** `Refund -5 USDT: Refunded`. */
const words = ({ kind, amount, asset, note }: Booking) =>
  `${kind.charAt(0).toUpperCase()}${kind.slice(1).replace('_', ' ')} ${amount} ${asset}: ${note}`;

const [yearAt, monthAt, dayAt] = [slice(0, 4), slice(5, 7), slice(8, 10)];
function slice(from: number, to: number) {
  return (date: string) => date.slice(from, to);
}

/** The template of "Import a statement": https://central.xero.com/s/article/Import-a-CSV-bank-statement */
const xero: BookFile = {
  extension: 'csv',
  encoding: 'utf-8',
  head: csvLine(['*Date', '*Amount', 'Payee', 'Description', 'Reference', 'Check Number']),
  line: valued((one, value) =>
    csvLine([
      `${dayAt(one.localDate)}/${monthAt(one.localDate)}/${yearAt(one.localDate)}`,
      ...[value, one.counterparty ?? '', words(one), one.reference ?? one.id, ''],
    ]),
  ),
};

/** Three columns: https://quickbooks.intuit.com/learn-support/en-us/help-article/bank-transactions/L4BjLWckq_US_en_US */
const quickBooks: BookFile = {
  extension: 'csv',
  encoding: 'utf-8',
  head: csvLine(['Date', 'Description', 'Amount']),
  line: valued((one, value) =>
    csvLine([
      `${monthAt(one.localDate)}/${dayAt(one.localDate)}/${yearAt(one.localDate)}`,
      [words(one), ...(one.reference === undefined ? [] : [one.reference])].join(', '),
      value,
    ]),
  ),
};

/** The universal template, whose times are in UTC: https://support.koinly.io/en/articles/9489976 */
const koinly: BookFile = {
  extension: 'csv',
  encoding: 'utf-8',
  head: csvLine([
    ...['Date', 'Sent Amount', 'Sent Currency', 'Received Amount', 'Received Currency', 'Fee Amount'],
    ...['Fee Currency', 'Net Worth Amount', 'Net Worth Currency', 'Label', 'Description', 'TxHash'],
  ]),
  line(one) {
    if (isZero(one.amount)) return { leftOut: 'nothing' };
    const moved = [absolute(one.amount), one.asset];
    const isCost = one.kind === 'fee' || one.kind === 'network_fee';
    const isSent = one.amount.startsWith('-');
    return {
      text: csvLine([
        `${one.time.slice(0, 10)} ${one.time.slice(11, 19)} UTC`,
        ...(isSent ? [...moved, '', ''] : ['', '', ...moved]),
        ...['', ''],
        ...(one.value === undefined ? ['', ''] : [absolute(one.value), one.currency]),
        isCost && isSent ? 'cost' : '',
        [words(one), ...(one.reference === undefined ? [] : [one.reference])].join(', '),
        one.txHash ?? '',
      ]),
    };
  },
};

/** "Buchungsstapel" of the DATEV format, header 700, version 13: https://developer.datev.de/de/file-format/details/datev-format */
function datevFile({ firstDay, lastDay, currency }: BookPeriod, settings: DatevSettings): BookFile {
  const compact = (date: string) => date.replaceAll('-', '');
  const { consultant, client, account, contraAccount, fiscalYear } = settings;
  const head = [
    ...[datevText('EXTF'), '700', '21', datevText('Buchungsstapel'), '13'],
    // The file's time: the end of the period, so that the same period always produces the same file.
    `${compact(lastDay)}235959999`,
    ...['', datevText(''), datevText(''), datevText(''), String(consultant), String(client)],
    ...[compact(fiscalYear), String(account.length), compact(firstDay), compact(lastDay)],
    ...[datevText('Crypto'), datevText(''), '1', '0', '0', datevText(currency), '', datevText(''), '', ''],
    ...[datevText(''), '', '', datevText(''), datevText('')],
  ];
  return {
    extension: 'csv',
    encoding: 'windows-1252',
    head: `${head.join(';')}\r\n${datevColumns.join(';')}\r\n`,
    line: valued((one, value) => {
      const cells = Array.from(datevColumns, () => '');
      const set: Readonly<Record<number, string>> = {
        0: absolute(value).replace('.', ','),
        1: datevText(value.startsWith('-') ? 'H' : 'S'),
        2: datevText(one.currency),
        6: account,
        7: contraAccount,
        9: dayAt(one.localDate) + monthAt(one.localDate),
        // Only these characters are allowed.
        10: datevText((one.reference ?? one.id).replaceAll(/[^A-Za-z0-9$&%*+\-/]/g, '').slice(0, 36)),
        13: datevText(words(one).slice(0, 60)),
        113: '0',
      };
      for (const [index, cell] of Object.entries(set)) cells[Number(index)] = cell;
      return `${cells.join(';')}\r\n`;
    }),
  };
}

/** Windows-1252 contains Latin-1, except for control characters, which no text may have. */
function datevText(text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?');
  return `"${withoutFormula(plain).replaceAll('"', '""')}"`;
}

const numbered = (count: number, ...names: readonly ((number: number) => string)[]) =>
  Array.from({ length: count }, (_, index) => names.map((name) => name(index + 1))).flat();

const datevColumns = [
  ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Kurs', 'Basis-Umsatz'],
  ...['WKZ Basis-Umsatz', 'Konto', 'Gegenkonto (ohne BU-Schlüssel)', 'BU-Schlüssel', 'Belegdatum'],
  ...['Belegfeld 1', 'Belegfeld 2', 'Skonto', 'Buchungstext', 'Postensperre', 'Diverse Adressnummer'],
  ...['Geschäftspartnerbank', 'Sachverhalt', 'Zinssperre', 'Beleglink'],
  ...numbered(
    8,
    (number) => `Beleginfo - Art ${number}`,
    (number) => `Beleginfo - Inhalt ${number}`,
  ),
  ...['KOST1 - Kostenstelle', 'KOST2 - Kostenstelle', 'Kost-Menge', 'EU-Land u. UStID (Bestimmung)'],
  ...['EU-Steuersatz (Bestimmung)', 'Abw. Versteuerungsart', 'Sachverhalt L+L', 'Funktionsergänzung L+L'],
  ...['BU 49 Hauptfunktionstyp', 'BU 49 Hauptfunktionsnummer', 'BU 49 Funktionsergänzung'],
  ...numbered(
    20,
    (number) => `Zusatzinformation - Art ${number}`,
    (number) => `Zusatzinformation- Inhalt ${number}`,
  ),
  ...['Stück', 'Gewicht', 'Zahlweise', 'Forderungsart', 'Veranlagungsjahr', 'Zugeordnete Fälligkeit'],
  ...['Skontotyp', 'Auftragsnummer', 'Buchungstyp', 'USt-Schlüssel (Anzahlungen)', 'EU-Land (Anzahlungen)'],
  ...['Sachverhalt L+L (Anzahlungen)', 'EU-Steuersatz (Anzahlungen)', 'Erlöskonto (Anzahlungen)'],
  ...['Herkunft-Kz', 'Buchungs GUID', 'KOST-Datum', 'SEPA-Mandatsreferenz', 'Skontosperre'],
  ...['Gesellschaftername', 'Beteiligtennummer', 'Identifikationsnummer', 'Zeichnernummer'],
  ...['Postensperre bis', 'Bezeichnung SoBil-Sachverhalt', 'Kennzeichen SoBil-Buchung', 'Festschreibung'],
  ...['Leistungsdatum', 'Datum Zuord. Steuerperiode', 'Fälligkeit', 'Generalumkehr (GU)', 'Steuersatz'],
  ...['Land', 'Abrechnungsreferenz', 'BVV-Position', 'EU-Land u. UStID (Ursprung)'],
  ...['EU-Steuersatz (Ursprung)', 'Abw. Skontokonto'],
];
