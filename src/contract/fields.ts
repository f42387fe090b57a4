/**
 * The field types of requests. They accept JSON values and query strings, and parse both to the same type. The
 * timestamp of replies is here too.
 */
import * as z from 'zod/mini';
import { longestNumber, parseDecimal } from './decimal.js';
import { secretIn, secretWarning } from './secret-text.js';

/** Adds a description, which `/v1/meta`, OpenAPI and the API reference show. */
export function described<Field extends z.ZodMiniType>(field: Field, description: string): Field {
  const own = field.clone();
  z.globalRegistry.add(own, { description });
  return own;
}

/** ISO 8601 in UTC with milliseconds. The widget only shows times, so its schemas do not check them. */
export const timestamp = /* @__PURE__ */ z
  .string()
  .check(/* @__PURE__ */ z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));

/** Trimmed text of at most `maximum` characters. */
export const text = (maximum = 255) => z.string().check(z.trim(), z.maxLength(maximum));

/** Trimmed, non-empty text of at most `maximum` characters. */
export const requiredText = (maximum = 255) =>
  z.string().check(z.trim(), z.minLength(1), z.maxLength(maximum));

/** @param use 64 hexadecimal digits are a private key, unless a hash was asked for */
const withoutSecret = (use: 'key' | 'hash') =>
  z.superRefine<string>((value, { issues }) => {
    const secret = secretIn(value, use);
    if (secret) issues.push({ code: 'custom', message: secretWarning(secret), input: '' });
  });

/**
 * An address on a network, whose rules are checked later. Text that looks like a wallet's secret is refused, and never
 * repeated.
 */
export const addressText = () =>
  z.string().check(withoutSecret('key'), z.trim(), z.minLength(1), z.maxLength(255));

/** The hash of a transaction. */
export const hashText = () =>
  z.string().check(withoutSecret('hash'), z.trim(), z.minLength(1), z.maxLength(255));

/** An id in a path. Any text is valid: unknown ids answer 404, not 400. */
export const id = z.string();

export const email = z.string().check(z.trim(), z.maxLength(254), z.email());

/**
 * A number or its text. The parser after it checks more than a schema can express; `number` and `pattern` describe as
 * much as JSON Schema can, for the API's description.
 */
function numberOrText(error: string, number: object, pattern: string) {
  const union = z.union([z.number(), z.string()], { error });
  z.globalRegistry.add(union, { anyOf: [number, { type: 'string', maxLength: longestNumber, pattern }] });
  return union;
}

const decimalFrom = (number: object, pattern: string) =>
  z.pipe(
    numberOrText('Must be a number', { type: 'number', ...number }, pattern),
    z.transform((value, context) => {
      const parsed = parseDecimal(value);
      if (parsed === undefined) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: `Must be a number of at most 15 digits and ${longestNumber} characters, not negative. Round it, or send text such as "0.30"`,
        });
        return z.NEVER;
      }
      return parsed;
    }),
  );

/**
 * Runs before a record's schema: counts its keys before any is parsed, since each of thousands of invalid keys would
 * become its own error. zod does the same for lists with a `maxLength`.
 */
export const fewKeys = <Value>() =>
  z.transform((given: Record<string, Value>, context): Record<string, Value> => {
    // Not parsed yet: may be anything.
    const isObject = typeof given === 'object' && (given as object | null) !== null;
    if (!isObject || Object.keys(given).length <= 20) return given;
    context.issues.push({ code: 'custom', input: given, message: 'Must have at most 20 keys' });
    return z.NEVER;
  });

/** The merchant's own keys and values. */
export const metadata = z.pipe(
  fewKeys<string>(),
  z.record(z.string().check(z.minLength(1), z.maxLength(40)), z.string().check(z.maxLength(500))),
);
z.globalRegistry.add(metadata, { maxProperties: 20 });

/** A decimal amount ≥ 0, as a JSON number or numeric string. Parsed to a plain decimal string. */
export const decimal = decimalFrom({ minimum: 0 }, String.raw`^\s*\d+(\.\d+)?\s*$`);

/** A decimal amount > 0. */
export const positiveDecimal = z.pipe(
  decimalFrom({ exclusiveMinimum: 0 }, String.raw`^\s*(?=.*[1-9])\d+(\.\d+)?\s*$`),
  z.string().check(z.refine((value) => value !== '0', { error: 'Must be more than 0' })),
);

function integerPattern(minimum: number): string {
  if (minimum > 0) return String.raw`^\s*0*[1-9]\d{0,14}\s*$`;
  return minimum === 0 ? String.raw`^\s*\d{1,15}\s*$` : String.raw`^\s*-?\d{1,15}\s*$`;
}

/** An integer from `minimum` to `maximum`, as a JSON number or numeric string. */
export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.pipe(
    numberOrText('Must be an integer', { type: 'integer', minimum, maximum }, integerPattern(minimum)),
    z.transform((value, context) => {
      const isNumeric =
        typeof value === 'string' && value.length <= longestNumber && /^-?\d{1,15}$/.test(value.trim());
      const number = isNumeric ? Number(value) : value;
      if (
        typeof number !== 'number' ||
        !Number.isSafeInteger(number) ||
        number < minimum ||
        number > maximum
      ) {
        const range = maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`;
        context.issues.push({ code: 'custom', input: value, message: `Must be an integer, ${range}` });
        return z.NEVER;
      }
      return number;
    }),
  );

/** A boolean, or the string "true" or "false". */
export const boolean = z.pipe(
  z.union([z.boolean(), z.literal('true'), z.literal('false')], { error: 'Must be true or false' }),
  z.transform((value) => value === true || value === 'true'),
);

/** False for days that do not exist: Date.parse would turn 2026-02-30 into a day in March. */
const isCalendarDay = (day: string) => new Date(Date.parse(day)).toISOString().startsWith(day);

const dateOrTimePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const dateOrTimeText = z.string();
z.globalRegistry.add(dateOrTimeText, { pattern: dateOrTimePattern.source });

/** A date (`2026-01-31`) or a time, parsed to epoch milliseconds. A date means the start or the end of that day. */
const dateOrTime = (edge: 'start' | 'end') =>
  z.pipe(
    dateOrTimeText,
    z.transform((value, context) => {
      const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
      const instant = dateOrTimePattern.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(instant) || !isCalendarDay(value.slice(0, 10))) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: 'Must be a date (2026-01-31) or a time (2026-01-31T12:00:00Z)',
        });
        return z.NEVER;
      }
      return isDay && edge === 'end' ? instant + 86_399_999 : instant;
    }),
  );

/** When something ends: a date means the end of that day. Epoch milliseconds. */
export const deadline = dateOrTime('end');

/** The parameters of every list of records. */
const listParams = {
  page: described(z._default(integer(1), 1), 'Page number, starting at 1. Defaults to 1.'),
  skip: described(
    z._default(
      z.pipe(
        integer(1),
        z.transform((rows) => Math.min(rows, 100)),
      ),
      25,
    ),
    'Rows per page. Defaults to 25; at most 100.',
  ),
  from: described(
    z.optional(dateOrTime('start')),
    'Start: only records created at this time or later. A date (2026-01-31) or a time (2026-01-31T12:00:00Z), in UTC.',
  ),
  to: described(
    z.optional(dateOrTime('end')),
    'End: only records created at this time or earlier. A date includes the whole day.',
  ),
};

const fromBeforeTo = z.refine<{ from?: unknown; to?: unknown }>(
  ({ from, to }) => typeof from !== 'number' || typeof to !== 'number' || from <= to,
  { path: ['from'], error: 'Must not be after "to"' },
);

/** The kind of money in a record: of simulated networks and test networks, or real money. */
export const mode = z.enum(['test', 'live']);

/** The kinds of chains: nodes of one kind are asked in the same way, and their addresses have one form. */
export const addressKinds = ['bitcoin', 'evm', 'tron'] as const;
export type AddressKind = (typeof addressKinds)[number];

/** The query of a list of records: page, rows per page, dates, and the list's own filters. */
export const listQuery = <Filters extends z.core.$ZodLooseShape>(filters: Filters) =>
  z.object({ ...listParams, ...filters }).check(fromBeforeTo);
