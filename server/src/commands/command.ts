/** What a command is: its help, its options and what it does with the server's rules. */
import type { ParseArgsConfig } from 'node:util';
import type { App } from '../app.js';
import type { Database } from '../db/database.js';
import type { Mode } from '../shared/scope.js';

/** What commands work with: the rules of the server, on its database. */
export interface CommandContext extends App {
  readonly database: Database;
}

/** What was given by name: text, or true for a flag. */
export type Options = Readonly<Record<string, unknown>>;

/** What a command says, for machines and for people. */
export interface Answer {
  readonly json: unknown;
  readonly text: string;
  readonly hasFailed?: boolean;
}

export interface Command {
  /** After the program's name. */
  readonly usage: string;
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** Names of what follows the command. */
  readonly positionals: readonly string[];
  run(context: CommandContext, options: Options, positionals: readonly string[]): Promise<Answer>;
}

/** The command line was not understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option that takes a value. */
export const text = { type: 'string' } as const;

export function required(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string') throw new UsageError(`--${name} is missing`);
  return value;
}

export function oneOf<const T extends string>(options: Options, name: string, allowed: readonly T[]): T {
  const value = required(options, name);
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new UsageError(`--${name} must be ${allowed.join(' or ')}, not "${value}"`);
  return found;
}

/** `--mode`; live where it is not given. */
export function modeOf(options: Options): Mode {
  return options['mode'] === undefined ? 'live' : oneOf(options, 'mode', ['test', 'live']);
}
