/** The type of a command, and helpers to read its options. */
import type { ParseArgsConfig } from 'node:util';
import type { App } from '../app.js';
import type { Database } from '../db/database.js';
import type { Mode } from '../shared/scope.js';

/** What a command runs with: the server's rules and its database. */
export interface CommandContext extends App {
  readonly database: Database;
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
}

export interface Command {
  /** The usage line, without the name of the program. */
  readonly usage: string;
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** The names of the arguments that follow the command. */
  readonly positionals: readonly string[];
  run(context: CommandContext, options: Options, positionals: readonly string[]): Promise<Output>;
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

export function oneOf<const T extends string>(options: Options, name: string, allowed: readonly T[]): T {
  const value = required(options, name);
  const found = allowed.find((option) => option === value);
  if (found === undefined) throw new UsageError(`--${name} must be ${allowed.join(' or ')}, not "${value}"`);
  return found;
}

/** The value of `--mode`; live by default. */
export function modeOf(options: Options): Mode {
  return options['mode'] === undefined ? 'live' : oneOf(options, 'mode', ['test', 'live']);
}
