/** Shows records: as JSON, and as text for a terminal. */
import { fromUnits } from 'crypto-checkout/contract';
import { currencies, fiatCurrency } from '../money/currency-list.js';
import { isoTime } from '../shared/clock.js';
import type { Output } from './command.js';

type Json = Readonly<Record<string, unknown>>;

/** A row or a record for JSON: names in camel case, times in ISO 8601. @param names of its fields; all by default */
export function recordJson<R extends object>(record: R, ...names: readonly (keyof R & string)[]): Json {
  const fields = (names.length === 0 ? Object.keys(record) : names).map((name) => {
    const value: unknown = Reflect.get(record, name);
    const isTime = /_at$|At$/.test(name) && typeof value === 'number';
    return [camelCase(name), isTime ? isoTime(value) : value] as const;
  });
  return Object.fromEntries(fields);
}

/** `merchantId` for `merchant_id`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

/** Lists records: as JSON, and one line of text for each. */
export function listRecords<Row>(
  rows: readonly Row[],
  json: (row: Row) => unknown,
  line: (row: Row) => string,
  none: string,
): Output {
  return { json: rows.map((row) => json(row)), text: rows.map((row) => line(row)).join('\n') || none };
}

/** Headings, each with a function that writes a record's cell. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Lists records as JSON, and as a table of text. */
export function listInColumns<Row>(
  rows: readonly Row[],
  json: (row: Row) => unknown,
  columns: Columns<Row>,
  none: string,
): Output {
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return { json: rows.map((row) => json(row)), text: table(Object.keys(columns), cells, none) };
}

/** A record with one field on each line. */
export function showRecord(json: Json): Output {
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(15)} ${String(value)}`);
  return { json, text: lines.join('\n') };
}

/** Aligns columns under their headings. @param none the text if there are no rows */
function table(headings: readonly string[], rows: readonly (readonly string[])[], none: string) {
  if (rows.length === 0) return none;
  const lines = [headings, ...rows];
  const widths = headings.map((_heading, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const aligned = lines.map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '),
  );
  return aligned.map((line) => line.trimEnd()).join('\n');
}

/** `1 payment`, `2 payments`. @param plural if it is not the singular with an s */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Formats units as a decimal with every digit: an amount that is paid by hand must be exact. */
export function amountOf(units: string | bigint, code: string): string {
  const currency = currencies.find((known) => known.code === code) ?? fiatCurrency(code);
  if (!currency) throw new Error(`Unknown currency ${code}`);
  return fromUnits(BigInt(units), currency.decimals);
}

/** `12.5 USDT`. */
export function amountText(units: string | bigint, code: string): string {
  return `${amountOf(units, code)} ${code}`;
}
