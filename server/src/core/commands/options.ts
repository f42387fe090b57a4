/** The kinds of options and arguments: how each is written in usage and help, and how what was given is read. */
import { coreApi, parseDecimal, secretIn, secretWarning } from 'crypto-checkout/contract';
import type { Mode } from '../shared/scope.js';
import type { CommandContext } from './context.js';
import { UsageError } from './errors.js';

/** An option or an argument of a command, whose value is a T. */
export interface Option<T> {
  /** The placeholder of the value: `ID`, `test|live`. A flag has none. */
  readonly value: string | undefined;
  readonly describe: string;
  readonly isRequired: boolean;
  readonly isRepeated: boolean;
  /**
   * @param given all values that were given, in order
   * @param name as it is written, `--most`
   * @throws UsageError
   */
  read(given: readonly string[], name: string): T;
  /** Checks a value that was given against the database, before the command runs. */
  check?(context: CommandContext, value: T): Promise<unknown>;
  /** True if the command prints anything except JSON with this value, so that `--json` contradicts it. */
  isNotJson?(value: T): boolean;
}

/** An option that need not be given, unless it is made to. */
export interface FreeOption<T> extends Option<T | undefined> {
  required(): Option<T>;
  default(value: T): Option<T>;
  /** It can be given several times. */
  repeated(): Option<readonly T[]>;
}

function option<T>(
  value: string,
  describe: string,
  parse: (given: string, name: string) => T,
  more: Partial<Option<T>> & { readonly bounds?: string } = {},
): FreeOption<T> {
  const noted = (...notes: readonly string[]) => {
    const all = more.bounds === undefined ? notes : [...notes, more.bounds];
    return all.length === 0 ? describe : `${describe} (${all.join(', ')})`;
  };
  const free = { value, describe: noted(), isRequired: false, isRepeated: false, ...more };
  const read = (one: string, name: string) => {
    refuseSecret(one, name, value);
    return parse(one, name);
  };
  const last = (given: readonly string[], name: string) => given.slice(-1).map((one) => read(one, name));
  return {
    ...(free as object as Option<T | undefined>),
    read: (given, name) => last(given, name)[0],
    required: () => ({
      ...free,
      isRequired: true,
      read(given, name) {
        const [read] = last(given, name);
        if (read !== undefined) return read;
        const choices = value.includes('|') ? `: ${alternatives(value.split('|'))}` : '';
        throw new UsageError(`${name} is required${choices}`);
      },
    }),
    default: (fallback) => ({
      ...free,
      describe: noted(`default ${String(fallback)}`),
      read: (given, name) => last(given, name)[0] ?? fallback,
    }),
    repeated: () => ({
      value,
      describe: noted(),
      isRequired: false,
      isRepeated: true,
      read: (given, name) => given.map((one) => read(one, name)),
    }),
  };
}

/** Values that people write in words of their own. */
const ownWords: ReadonlySet<string> = new Set(['TEXT', 'NAME']);

/**
 * Whatever is in the place of another value would be stored, or repeated by the message that refuses it.
 * @param value as the usage calls it
 * @throws UsageError
 */
function refuseSecret(given: string, name: string, value: string): void {
  // The code that knows the forms of a key reads it, and refuses these too.
  if (value === 'KEY') return;
  const secret = secretIn(given, value === 'ADDRESS' ? 'key' : 'hash');
  if (!secret || (secret === 'seed_words' && ownWords.has(value))) return;
  throw new UsageError(`${name}: ${secretWarning(secret)}. Clear it from the history of your shell`);
}

export const text = (value: string, describe: string) => option(value, describe, (given) => given);

/** Text that is refused with a reason, unless that is undefined. */
export const checked = (value: string, describe: string, problemOf: (given: string) => string | undefined) =>
  option(value, describe, (given, name) => {
    const problem = problemOf(given);
    if (problem === undefined) return given;
    throw new UsageError(`${name}: ${problem}, not "${given}"`);
  });

/** A person's name or e-mail address. */
export const person = (describe: string) =>
  option('NAME', describe, (given, name) => {
    if (/^[\p{L}\p{N}][^\p{C}]{0,99}$/u.test(given)) return given;
    throw new UsageError(`${name} must be a name or an e-mail address of at most 100 characters`);
  });

export const id = (describe: string) => text('ID', describe);

/** The code of a network or of a currency. */
export const code = (describe: string) => text('CODE', describe);

/** A file that the command reads. */
export const file = (describe: string) => text('FILE', describe);

/** A file that the command creates: see `files.ts`. */
export const newFile = (describe: string) => file(`${describe}. An existing file is never overwritten`);

/** The id of a merchant that exists. */
export const merchant = (describe: string) =>
  option<string>('ID', describe, (given) => given, {
    check: ({ merchants, database }, given) => merchants.retrieve(database.reader, given),
  });

export const flag = (describe: string): Option<boolean> => ({
  value: undefined,
  describe,
  isRequired: false,
  isRepeated: false,
  read: (given) => given.length > 0,
});

export const integer = (value: string, describe: string, { min = 0, max }: { min?: number; max: number }) =>
  option(
    value,
    describe,
    (given, name) => {
      const number = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
      if (number >= min && number <= max) return number;
      throw new UsageError(`${name} must be an integer from ${min} to ${max}, not "${given}"`);
    },
    { bounds: `at most ${max}` },
  );

/** The height of a block. */
export const height = (describe: string) =>
  option('HEIGHT', describe, (given, name) => {
    if (/^\d{1,10}$/.test(given)) return Number(given);
    throw new UsageError(`${name} must be the height of a block, not "${given}"`);
  });

/** A decimal that is not negative, as text: an exact value stays exact. */
export const decimal = (describe: string) =>
  option('AMOUNT', describe, (given, name) => {
    const parsed = parseDecimal(given.trim());
    if (parsed !== undefined) return parsed;
    throw new UsageError(`${name} must be a decimal such as 12.5, not "${given}"`);
  });

export const oneOf = <const T extends string>(
  allowed: readonly T[],
  describe: string,
  more?: Partial<Option<T>>,
) =>
  option(
    allowed.join('|'),
    describe,
    (given, name): T => {
      const found = allowed.find((one) => one === given);
      if (found !== undefined) return found;
      throw new UsageError(`${name} must be ${alternatives(allowed)}, not "${given}"`);
    },
    more,
  );

/**
 * The mode whose records a command works on. One default for all commands: a forgotten option never touches real money.
 */
export const mode = (describe: string) => oneOf<Mode>(['test', 'live'], describe).default('test');

/** The format of a command's output. */
export const format = <const T extends string>(allowed: readonly T[], describe: string) =>
  oneOf(allowed, describe, { isNotJson: (given) => given !== 'json' && given !== 'safe' }).required();

/** A time in epoch milliseconds, written as in the API. @param edge the meaning of a date without a time: its first or last moment */
export const date = (edge: 'from' | 'to', describe: string) =>
  option('DATE', describe, (given, name) => {
    const parsed = coreApi.transactions.list.query.safeParse({ [edge]: given });
    const time = parsed.data?.[edge];
    if (time !== undefined) return time;
    throw new UsageError(`${name}: ${parsed.error?.issues[0]?.message ?? 'Must be a date'}, not "${given}"`);
  });

/** `USDT=1000`, several times: by code. Code that knows the currency checks the amounts; `none` is null. */
export const currencyAmounts = (
  describe: string,
): Option<Readonly<Record<string, string | null>> | undefined> => ({
  value: 'CODE=AMOUNT',
  describe,
  isRequired: false,
  isRepeated: true,
  read(given, name) {
    if (given.length === 0) return undefined;
    return Object.fromEntries(given.map((one) => currencyAmount(one, name)));
  },
});

function currencyAmount(given: string, name: string): readonly [string, string | null] {
  const [, currency, amount] = /^([A-Za-z0-9]{1,20})=(.+)$/.exec(given.trim()) ?? [];
  if (currency !== undefined && amount !== undefined) {
    return [currency.toUpperCase(), amount === 'none' ? null : amount];
  }
  throw new UsageError(`${name} must be like USDT=1000 or USDT=none, not "${given}"`);
}

/** `full, read or verify`. */
function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}
