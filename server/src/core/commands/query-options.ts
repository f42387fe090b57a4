/** Options that an endpoint's query describes: their words, their values and their checks are the contract's. */
import * as z from 'zod/mini';
import { optionName } from './command.js';
import { UsageError } from './errors.js';
import * as option from './options.js';
import type { Option } from './options.js';

/** Option names that differ from their query fields, keyed by field, such as `email` for `customer`. */
export type Spelling = Readonly<Record<string, string>>;

const fieldsOf = (query: z.ZodMiniObject): string[] => Object.keys(query.def.shape);

/** The fields of a list's query that choose among its records. */
export const filtersOf = (query: z.ZodMiniObject): string[] =>
  fieldsOf(query).filter((field) => field !== 'page' && field !== 'skip');

/** @returns options with the texts that were given: `readQuery` parses them together */
export function queryOptions(
  query: z.ZodMiniObject,
  fields: readonly string[],
  spelling: Spelling = {},
): Readonly<Record<string, Option<string | undefined>>> {
  const known = fieldsOf(query);
  return Object.fromEntries(
    Object.entries(query.def.shape)
      .filter(([field]) => fields.includes(field))
      .map(([field, schema]) => {
        const name = spelling[field] ?? field;
        return [name, optionOf(name, schema, known)];
      }),
  );
}

/**
 * @param given the values of a command's options
 * @throws UsageError
 */
export function readQuery<Q extends z.ZodMiniObject>(
  query: Q,
  given: object,
  spelling: Spelling = {},
): z.output<Q> {
  const nameOf = (field: string) => spelling[field] ?? field;
  const texts = fieldsOf(query).map((field) => {
    const text: unknown = Reflect.get(given, nameOf(field));
    return [field, text] as const;
  });
  const parsed = z.safeParse(query, Object.fromEntries(texts));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = optionName(nameOf(String(issue?.path[0])));
  // The contract puts the names of other fields in quotation marks.
  const problem = issue?.message.replaceAll(/"(\w+)"/g, (_, other: string) => optionName(nameOf(other)));
  throw new UsageError(`${name}: ${problem ?? 'is not valid'}`);
}

/** A longer list of values is in the description. */
const longestValue = 40;

function optionOf(
  name: string,
  schema: z.core.$ZodType,
  fields: readonly string[],
): Option<string | undefined> {
  const describe = describeOption(schema, fields);
  const inner = innermost(schema);
  if (inner instanceof z.ZodMiniEnum) {
    const allowed = inner.options.map(String);
    const value = allowed.map(inShell).join('|');
    if (value.length <= longestValue) return option.oneOf(allowed, describe, { value });
    return option.oneOf(allowed, `${describe}: ${allowed.join(', ')}`, { value: placeholderOf(name) });
  }
  return option.checked(
    placeholderOf(name),
    describe,
    (given) => z.safeParse(schema, given).error?.issues[0]?.message,
  );
}

/** A value with a space as a shell takes it. */
const inShell = (value: string) => (value.includes(' ') ? `'${value}'` : value);

/** `Only refunds of this payment.` as options are described: `only refunds of this payment`. */
function describeOption(schema: z.core.$ZodType, fields: readonly string[]): string {
  const { description = '' } = z.globalRegistry.get(schema) ?? {};
  return description
    .replaceAll(/`([^`]+)`/g, (_, code: string) => (fields.includes(code) ? optionName(code) : code))
    .replace(/\.$/, '')
    .replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}

function innermost(schema: z.core.SomeType): z.core.SomeType {
  const isWrapped = schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault;
  return isWrapped ? innermost(schema.def.innerType) : schema;
}

const placeholders: Readonly<Record<string, string>> = {
  from: 'DATE',
  to: 'DATE',
  page: 'N',
  currency: 'CODE',
  network: 'CODE',
  zone: 'NAME',
  person: 'ID',
  isActive: 'true|false',
};

/** `ID` for `paymentId`, `SEARCH` for `search`. */
const placeholderOf = (name: string): string =>
  placeholders[name] ?? (name.endsWith('Id') ? 'ID' : name.toUpperCase());
