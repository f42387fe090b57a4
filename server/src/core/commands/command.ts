/** Declares commands. Usage, help, parsing and the types of `run`'s arguments come from one declaration. */
import { parseArgs } from 'node:util';
import { secretIn, secretWarning } from 'crypto-checkout/contract';
import type { CommandContext } from './context.js';
import { didYouMean, UsageError } from './errors.js';
import { flag, person, type Option } from './options.js';

/** The output of a command, for programs (`--json`) and for people. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** Makes the program exit with 1. */
  readonly hasFailed?: boolean;
  /** Makes it exit with this if it has not failed. */
  readonly exitCode?: 0 | 3 | 4;
  /** The command has printed its output itself. */
  readonly isPrinted?: boolean;
}

type Options = Readonly<Record<string, Option<unknown>>>;
type None = { readonly [Name in never]: Option<Name> };
type ValueOf<O> = O extends Option<infer T> ? T : never;
/** Arguments are always given. */
type Values<A, O> = { readonly [Name in keyof A]: NonNullable<ValueOf<A[Name]>> } & {
  readonly [Name in keyof O]: ValueOf<O[Name]>;
};

interface CommandText<A = Options, O = Options> {
  /** One sentence, for lists of commands. */
  readonly summary: string;
  /** More paragraphs for its own help. */
  readonly details?: string;
  /** The arguments after the command's name, in this order. */
  readonly args?: A;
  /** The options by name: `feeRate` is written `--fee-rate`. */
  readonly options?: O;
}

interface Declaration<A extends Options, O extends Options> extends CommandText<A, O> {
  run(context: CommandContext, values: Values<A, O>): Promise<Output>;
}

interface StandaloneDeclaration<A extends Options, O extends Options> extends CommandText<A, O> {
  /** Needs neither the database nor the configuration. */
  runAlone(values: Values<A, O>): Promise<Output>;
}

/** Opens the server's rules and its database for a command. */
export type WithContext = (work: (context: CommandContext) => Promise<Output>) => Promise<Output>;

/** A command line that was parsed. */
export interface Invocation {
  readonly isJson: boolean;
  /** The person who runs it, if the command line names one. */
  readonly person: string | undefined;
  run(withContext: WithContext): Promise<Output>;
}

export interface Command extends CommandText {
  /** @throws UsageError */
  parse(words: readonly string[]): Invocation;
}

/** Commands that begin with the same words. A room can add commands to the group of another one. */
export interface Group {
  /** `keys`, `transfers psbt`. */
  readonly name: string;
  readonly summary: string;
  /** Keyed by the last word of their names: `create` for `keys create`. */
  readonly commands: Readonly<Record<string, Command>>;
}

/** The options of all commands. */
export const commonOptions = {
  json: flag('prints the result as one JSON value'),
  as: person('who runs it, for the audit log (default: only the user of the operating system)'),
  help: flag('prints this text'),
};

export function command<A extends Options = None, O extends Options = None>(
  declaration: Declaration<A, O> | StandaloneDeclaration<A, O>,
): Command {
  const { args = {}, options = {} }: CommandText = declaration;
  return {
    ...declaration,
    parse(words) {
      const { given, positionals } = readWords(words, { ...options, ...commonOptions });
      const expected = Object.entries(args);
      if (positionals.length !== expected.length) {
        const wanted = expected.map(([, { value }]) => value).join(' ') || 'no arguments';
        // Words of a wallet without quotation marks are arguments.
        const given = positionals.join(' ');
        const secret = secretIn(given, 'key');
        if (secret) throw new UsageError(`${secretWarning(secret)}. Clear it from the history of your shell`);
        const got = given === '' ? 'none' : `"${given}"`;
        throw new UsageError(`Expected ${wanted} after the command, got ${got}`);
      }
      const values = Object.fromEntries([
        ...expected.map(([name, arg], index) => [name, arg.read(positionals.slice(index, index + 1), name)]),
        ...Object.entries(options).map(([name, option]) => {
          return [name, option.read(given.get(optionName(name)) ?? [], optionName(name))];
        }),
      ]) as Values<A, O>;
      const isJson = given.has('--json');
      if (isJson) refuseOtherFormat(options, values);
      return {
        isJson,
        person: commonOptions.as.read(given.get('--as') ?? [], '--as'),
        run(withContext) {
          if ('runAlone' in declaration) return declaration.runAlone(values);
          return withContext(async (context) => {
            for (const [name, option] of Object.entries({ ...args, ...options })) {
              const value: unknown = Reflect.get(values, name);
              if (value !== undefined) await option.check?.(context, value);
            }
            return declaration.run(context, values);
          });
        },
      };
    },
  };
}

/** `--fee-rate` for `feeRate`. */
export function optionName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Collects all values that were given, by the written name of their option. A flag has empty ones. */
function readWords(words: readonly string[], options: Options) {
  const known = new Map(Object.entries(options).map(([name, option]) => [optionName(name), option]));
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      [...known].map(([name, { value }]) => [
        name.slice(2),
        { type: value === undefined ? 'boolean' : 'string' },
      ]),
    ),
    allowPositionals: true,
    tokens: true,
    // The messages are ours.
    strict: false,
  });
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { rawName, value, inlineValue } = token;
    const option = known.get(rawName);
    if (!option) {
      throw new UsageError(`Unknown option "${rawName}".${didYouMean(rawName, [...known.keys()])}`);
    }
    if (option.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    if (option.value !== undefined && (value === undefined || (!inlineValue && /^-./.test(value)))) {
      const dashed =
        value === undefined ? '' : `. One that begins with a dash is written ${rawName}=${value}`;
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}${dashed}`);
    }
    given.set(rawName, [...(given.get(rawName) ?? []), value ?? '']);
  }
  return { given, positionals: tokens.flatMap((token) => (token.kind === 'positional' ? token.value : [])) };
}

/** With `--output`, the command prints only a summary. */
function refuseOtherFormat(options: Options, values: object): void {
  if (Reflect.get(values, 'output') !== undefined) return;
  for (const [name, option] of Object.entries(options)) {
    const value: unknown = Reflect.get(values, name);
    if (!option.isNotJson?.(value)) continue;
    throw new UsageError(
      `${optionName(name)} ${String(value)} does not print JSON, and --json asks for it: leave one of them out`,
    );
  }
}
