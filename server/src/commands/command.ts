/** What a command is: its help, its options and what it does with the server's rules. */
import type { ParseArgsConfig } from 'node:util';
import type { Database } from '../db/database.js';
import type { Mode } from '../db/schema.js';
import type { Keys } from '../keys/keys.js';
import type { Merchants } from '../merchants/merchants.js';
import type { MoneyOut } from '../money-out.js';
import type { Endpoints } from '../webhooks/endpoints.js';
import type { Webhooks } from '../webhooks/webhooks.js';

/** What commands work with. */
export interface Tools {
  readonly database: Database;
  readonly merchants: Merchants;
  readonly keys: Keys;
  /** Balances, transfers and payouts, by the clocks of both modes. */
  moneyOut(): Promise<MoneyOut>;
  readonly endpoints: Endpoints;
  readonly webhooks: Webhooks;
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
  run(tools: Tools, options: Options, positionals: readonly string[]): Promise<Answer>;
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
