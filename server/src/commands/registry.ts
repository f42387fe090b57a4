/** All commands, by room. */
import { modules } from '../modules.js';
import { psbtCommands } from '../psbt-payouts/commands.js';
import { sweepCommands } from '../treasury/commands/sweeps.js';
import { transferExportCommands } from '../treasury/commands/transfer-export.js';
import { addressCommands } from './addresses.js';
import { auditCommands } from './audit.js';
import { balanceCommands } from './balances.js';
import { chainCommands } from './chains.js';
import type { Command, Group } from './command.js';
import { databaseCommands } from './database.js';
import { depositKeyCommands } from './deposit-keys.js';
import { keyCommands } from './keys.js';
import { ledgerCommands } from './ledger.js';
import { merchantCommands } from './merchants.js';
import { networkCommands } from './networks.js';
import { paymentCommands } from './payments.js';
import { payoutCommands } from './payouts.js';
import { rateCommands } from './rates.js';
import { sandboxCommands } from './sandbox.js';
import { transferCommands } from './transfers.js';
import { userCommands } from './users.js';
import { webhookCommands } from './webhooks.js';

/** In the order of the help. */
export const groups: readonly Group[] = [
  merchantCommands,
  keyCommands,
  userCommands,
  auditCommands,
  chainCommands,
  paymentCommands,
  balanceCommands,
  transferCommands,
  psbtCommands,
  transferExportCommands,
  sweepCommands,
  payoutCommands,
  webhookCommands,
  sandboxCommands,
  ledgerCommands,
  databaseCommands,
  networkCommands,
  depositKeyCommands,
  addressCommands,
  rateCommands,
  ...modules.flatMap((module) => module.commands),
];

/** By all words of their names: `keys create`. */
export const commands: ReadonlyMap<string, Command> = new Map(
  groups.flatMap((group) =>
    Object.entries(group.commands).map(([verb, command]) => [`${group.name} ${verb}`, command] as const),
  ),
);

/** Finds the command that a command line begins with. @returns undefined if there is none */
export function findCommand(
  words: readonly string[],
): { readonly name: string; readonly command: Command; readonly rest: readonly string[] } | undefined {
  // Most names have two words, some three.
  for (const length of [3, 2]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.get(name);
    if (command) return { name, command, rest: words.slice(length) };
  }
  return undefined;
}
