/** The field types that requests are made of. Values arrive as JSON or as text, and leave as one type. */
import * as z from 'zod/mini';
import { parseDecimal } from './decimal.js';

/** A field with its meaning, which `/v1/meta`, OpenAPI and the reference page show. */
export function described<Field extends z.ZodMiniType>(field: Field, description: string): Field {
  const own = field.clone();
  z.globalRegistry.add(own, { description });
  return own;
}

/** Text of at most `maximum` characters, trimmed. */
export const text = (maximum = 255) => z.string().check(z.trim(), z.maxLength(maximum));

/** Text that must not be empty. */
export const requiredText = (maximum = 255) =>
  z.string().check(z.trim(), z.minLength(1), z.maxLength(maximum));

/** An id in a path: any text, since an unknown one is a 404 and never a 400. */
export const id = z.string();

export const email = z.string().check(z.trim(), z.maxLength(254), z.email());

/** A decimal amount ≥ 0, given as a JSON number or a numeric string; comes out as a plain decimal string. */
export const decimal = z.pipe(
  z.union([z.number(), z.string()], { error: 'Must be a number' }),
  z.transform((value, context) => {
    const parsed = parseDecimal(value);
    if (parsed === undefined) {
      context.issues.push({
        code: 'custom',
        input: value,
        message: 'Must be a number of at most 15 digits, not negative',
      });
      return z.NEVER;
    }
    return parsed;
  }),
);

/** A decimal amount > 0. */
export const positiveDecimal = z.pipe(
  decimal,
  z.string().check(z.refine((value) => value !== '0', { error: 'Must be more than 0' })),
);

/** An integer from `minimum` to `maximum`, given as a JSON number or a numeric string. */
export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.pipe(
    z.union([z.number(), z.string()], { error: 'Must be an integer' }),
    z.transform((value, context) => {
      const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim()) ? Number(value) : value;
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

/** A boolean, or "true" or "false". */
export const boolean = z.pipe(
  z.union([z.boolean(), z.literal('true'), z.literal('false')], { error: 'Must be true or false' }),
  z.transform((value) => value === true || value === 'true'),
);

/** Date.parse rolls 2026-02-30 over to March; a day that is not in the calendar is a mistake. */
const isCalendarDay = (day: string) => new Date(Date.parse(day)).toISOString().startsWith(day);

/** A day (`2026-01-31`) or an instant, as epoch milliseconds; a day stands for its first or its last one. */
const moment = (edge: 'first' | 'last') =>
  z.pipe(
    z.string(),
    z.transform((value, context) => {
      const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
      const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(value)
        ? Date.parse(value)
        : Number.NaN;
      if (Number.isNaN(instant) || !isCalendarDay(value.slice(0, 10))) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: 'Must be a date (2026-01-31) or a time (2026-01-31T12:00:00Z)',
        });
        return z.NEVER;
      }
      return isDay && edge === 'last' ? instant + 86_399_999 : instant;
    }),
  );

/** What every list of records takes: which page, how many rows, created from and to when. */
const listQuery = {
  page: described(z._default(integer(1), 1), 'Which page of the list, counted from 1; 1 if absent.'),
  skip: described(
    z._default(
      z.pipe(
        integer(1),
        z.transform((rows) => Math.min(rows, 100)),
      ),
      25,
    ),
    'Rows per page: 25 if absent, and 100 at most.',
  ),
  from: described(
    z.optional(moment('first')),
    'Start date: only what was created then or later, as 2026-01-31 or 2026-01-31T12:00:00Z, in UTC.',
  ),
  to: described(
    z.optional(moment('last')),
    'End date: only what was created then or earlier; a day counts to its end.',
  ),
};

const fromBeforeTo = z.refine<{ from?: unknown; to?: unknown }>(
  ({ from, to }) => typeof from !== 'number' || typeof to !== 'number' || from <= to,
  { path: ['from'], error: 'Must not be after "to"' },
);

/** The query of a list of records: page, rows and dates, and `filters` of its own. */
export const listOf = <Filters extends z.core.$ZodLooseShape>(filters: Filters) =>
  z.object({ ...listQuery, ...filters }).check(fromBeforeTo);
