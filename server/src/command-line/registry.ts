/** All commands, by room. */
import { modules } from '../modules.js';
import { addressCommands } from '../core/commands/addresses.js';
import { auditCommands } from '../core/commands/audit.js';
import { balanceCommands } from '../core/commands/balances.js';
import { chainCommands } from '../core/commands/chains.js';
import type { Command, Group } from '../core/commands/command.js';
import { completionGroup } from './completion.js';
import { databaseCommands } from './database.js';
import { depositKeyCommands } from '../core/commands/deposit-keys.js';
import { keyCommands } from '../core/commands/keys.js';
import { ledgerCommands } from '../core/commands/ledger.js';
import { merchantCommands } from '../core/commands/merchants.js';
import { paymentCommands } from '../core/commands/payments.js';
import { payoutCommands } from '../core/commands/payouts.js';
import { rateCommands } from '../core/commands/rates.js';
import { sandboxCommands } from '../core/commands/sandbox.js';
import { transferCommands } from '../core/commands/transfers.js';
import { webhookCommands } from '../core/commands/webhooks.js';

const ofCore: readonly Group[] = [
  merchantCommands,
  keyCommands,
  auditCommands,
  chainCommands,
  paymentCommands,
  balanceCommands,
  transferCommands,
  payoutCommands,
  webhookCommands,
  sandboxCommands,
  ledgerCommands,
  databaseCommands,
  depositKeyCommands,
  addressCommands,
  rateCommands,
];
const ofModules = modules.flatMap((module) => module.commands);

/** `transfers` for `transfers psbt`. */
const topicOf = ({ name }: Group) => name.split(' ')[0];
const topics = new Set(ofCore.map(topicOf));

/** The core's, each with those of modules on the same topic, and then the other ones. */
const working: readonly Group[] = [
  ...ofCore.flatMap((group) => [group, ...ofModules.filter((one) => topicOf(one) === topicOf(group))]),
  ...ofModules.filter((one) => !topics.has(topicOf(one))),
];

/** In the order of the help. */
export const groups: readonly Group[] = [...working, completionGroup(working)];

/** By all words of their names: `keys create`. */
export const commands: ReadonlyMap<string, Command> = new Map(
  groups.flatMap((group) =>
    Object.entries(group.commands).map(
      ([verb, command]) => [`${group.name} ${verb}`.trim(), command] as const,
    ),
  ),
);

/** Finds the command that a command line begins with. @returns undefined if there is none */
export function findCommand(
  words: readonly string[],
): { readonly name: string; readonly command: Command; readonly rest: readonly string[] } | undefined {
  // Most names have two words, some three, and those that set up a shop one.
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.get(name);
    if (command) return { name, command, rest: words.slice(length) };
  }
  return undefined;
}
