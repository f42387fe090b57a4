/** Checks that fields of a reply have the types that the interface specification gives them. */
import { expect } from 'vitest';

const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const kinds = {
  string: isText,
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  integer: (value: unknown) => Number.isInteger(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  timestamp: (value: unknown) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  array: (value: unknown) => Array.isArray(value),
  'array of string': (value: unknown) => Array.isArray(value) && value.every(isText),
  object: isObject,
  mode: (value: unknown) => value === 'test' || value === 'live',
  'time log': (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isLogEntry),
  'payment status': (value: unknown) =>
    isText(value) && ['in progress', 'error', 'cancelled', 'success'].includes(value),
} satisfies Record<string, (value: unknown) => boolean>;

export type Kind = keyof typeof kinds;

/** Field names with the types of their values. */
export type Fields = Readonly<Record<string, Kind>>;

function isLogEntry(value: unknown): boolean {
  return (
    isObject(value) &&
    kinds.timestamp(value['time']) &&
    isText(value['event']) &&
    isText(value['type']) &&
    ['event', 'success', 'error'].includes(value['type'])
  );
}

/** Expects each field to exist, under exactly this name and with a value of this type. */
export function expectFields(record: unknown, fields: Fields): void {
  if (!isObject(record)) throw new Error(`Expected a record, got ${JSON.stringify(record)}`);
  const wrong = Object.entries(fields).filter(([name, kind]) => !kinds[kind](record[name]));
  expect(
    wrong.map(([name, kind]) => `${name} is ${JSON.stringify(record[name])}, not a ${kind}`),
    JSON.stringify(record),
  ).toEqual([]);
}
