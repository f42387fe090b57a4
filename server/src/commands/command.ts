/** The type of a command, and helpers to read its options. */
import type { ParseArgsConfig } from 'node:util';
import { api } from 'crypto-checkout/contract';
import type { App } from '../app.js';
import type { Database } from '../db/database.js';
import type { Mode } from '../shared/scope.js';

/** What a command runs with: the server's rules and its database. */
export interface CommandContext extends App {
  readonly database: Database;
  /** Who runs the command, for the audit log. */
  readonly actor: string;
  /** Prints a part of a long output at once. Resolves when more can be written. */
  print(text: string): Promise<void>;
  /** Says on stderr how far a long command is. */
  progress(text: string): void;
}

/** The given options by name: text, or true for a flag. */
export type Options = Readonly<Record<string, unknown>>;

/** The output of a command, for programs (`--json`) and for people. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** Makes the program exit with 1. */
  readonly hasFailed?: boolean;
  /** The command has printed its output itself. */
  readonly isPrinted?: boolean;
}

export interface CommandText {
  /** The usage line, without the name of the program. */
  readonly usage: string;
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** The names of the arguments that follow the command. */
  readonly positionals: readonly string[];
}

export interface Command extends CommandText {
  run(context: CommandContext, options: Options, positionals: readonly string[]): Promise<Output>;
}

/** Needs neither the database nor the configuration. */
export interface StandaloneCommand extends CommandText {
  runAlone(options: Options): Promise<Output>;
}

/** A command cannot do what it was asked to; the message says why and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option that takes a value. */
export const text = { type: 'string' } as const;

export function required(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string') throw new UsageError(`--${name} is required`);
  return value;
}

/** The value of a required option that has a fixed list of values. */
export function oneOf<const T extends string>(options: Options, name: string, allowed: readonly T[]): T {
  const value = optional(options, name);
  if (value === undefined) throw new UsageError(`--${name} is required: ${alternatives(allowed)}`);
  const found = allowed.find((option) => option === value);
  if (found === undefined) throw new UsageError(`--${name} must be ${alternatives(allowed)}, not "${value}"`);
  return found;
}

/**
 * The value of `--mode`. Where records are read or money is moved, no mode is assumed: a wrong guess would change, or show, the
 * other one's.
 * @param fallback the documented default of a setting
 */
export function modeOf(options: Options, fallback?: Mode): Mode {
  return options['mode'] === undefined && fallback ? fallback : oneOf(options, 'mode', ['test', 'live']);
}

/** The value of `--format`. @param isFile whether the output goes to a file, so that stdout can still be JSON */
export function formatOf(options: Options, isFile = false): 'csv' | 'json' {
  const format = oneOf(options, 'format', ['csv', 'json']);
  if (format === 'csv' && options['json'] === true && !isFile) {
    throw new UsageError('--format csv prints CSV, and --json asks for JSON: leave one of them out');
  }
  return format;
}

/** `full, read or verify`. */
function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** The value of an option; undefined if it is not given. */
export function optional(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/**
 * The range of `--from` and `--to`, in epoch milliseconds. They are written as in the API.
 * @param name of the option in errors, if the range comes from another one
 */
export function rangeOf(
  { from, to }: Options,
  name?: string,
): { from: number | undefined; to: number | undefined } {
  const given = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const parsed = api.transactions.list.query.safeParse(given);
  if (parsed.success) return { from: parsed.data.from, to: parsed.data.to };
  const [issue] = parsed.error.issues;
  throw new UsageError(`--${name ?? issue?.path.join('.') ?? 'from'}: ${issue?.message ?? 'Is invalid'}`);
}

/** The lines of `--from` and `--to` in a help text. */
export const rangeHelp = `  --from DATE     only from this time on: 2026-01-31 or 2026-01-31T12:00:00Z, in UTC
  --to DATE       only up to this time; a date includes the whole day`;
