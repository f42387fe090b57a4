/** The command line `crypto-checkout-server`: finds the command, opens the server's database and words the outcome. */
import { parseArgs } from 'node:util';
import type { Clock } from './clock.js';
import { UsageError, type Command, type Options, type Tools } from './commands/command.js';
import { balanceCommands } from './commands/balances.js';
import { databaseCommands } from './commands/database.js';
import { keyCommands } from './commands/keys.js';
import { ledgerCommands } from './commands/ledger.js';
import { merchantCommands } from './commands/merchants.js';
import { openMoneyOut } from './commands/money-out.js';
import { payoutCommands } from './commands/payouts.js';
import { transferCommands } from './commands/transfers.js';
import { webhookCommands } from './commands/webhooks.js';
import { ConfigError, readConfig } from './config.js';
import { openDatabase } from './db/database.js';
import { newId } from './ids.js';
import { createKeys } from './keys/keys.js';
import { createMerchants } from './merchants/merchants.js';
import { Problem } from './problems.js';
import { reasonOf } from './reason.js';
import { createEndpoints } from './webhooks/endpoints.js';
import { createWebhooks } from './webhooks/webhooks.js';

/** What a command leaves behind: 0 done, 1 failed, 2 not understood. */
export interface Outcome {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

const program = 'crypto-checkout-server';
const systemClock: Clock = { now: () => Date.now() };

const commands: Readonly<Record<string, Command>> = {
  ...merchantCommands,
  ...keyCommands,
  ...ledgerCommands,
  ...databaseCommands,
  ...balanceCommands,
  ...transferCommands,
  ...payoutCommands,
  ...webhookCommands,
};

/** Runs one command line; nothing is printed here. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Outcome> {
  const name = args.slice(0, 2).join(' ');
  const command = commands[name];
  if (!command) return explain(args);
  try {
    const { values, positionals } = parseCommand(command, args.slice(2));
    if (values.help === true) return done(commandHelp(command));
    const answer = await withTools(environment, (tools) => command.run(tools, values, positionals));
    const stdout = values.json === true ? JSON.stringify(answer.json, null, 2) : answer.text;
    return { exitCode: answer.hasFailed ? 1 : 0, stdout: `${stdout}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof UsageError) {
      return { exitCode: 2, stdout: '', stderr: `${error.message}\n\nUsage: ${program} ${command.usage}\n` };
    }
    return { exitCode: 1, stdout: '', stderr: `${explainFailure(error)}\n` };
  }
}

function parseCommand(command: Command, args: readonly string[]) {
  try {
    const { values, positionals }: { values: Options; positionals: string[] } = parseArgs({
      args: [...args],
      options: { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (!values.help && positionals.length !== command.positionals.length) {
      const wanted = command.positionals.join(' ') || 'nothing';
      throw new UsageError(`After the command comes ${wanted}, not "${positionals.join(' ')}"`);
    }
    return { values, positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(reasonOf(error), { cause: error });
  }
}

async function withTools<T>(
  environment: Readonly<Record<string, string | undefined>>,
  work: (tools: Tools) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment);
  const database = await openDatabase(config.databaseUrl);
  try {
    return await work({
      database,
      merchants: createMerchants(systemClock, newId),
      keys: createKeys(database, systemClock, newId),
      endpoints: createEndpoints(systemClock),
      webhooks: createWebhooks(systemClock),
      moneyOut: () => openMoneyOut(database, config),
    });
  } finally {
    await database.close();
  }
}

/** Help where it is asked for, and usage where the command is not known. */
function explain(args: readonly string[]): Outcome {
  const words = args.filter((word) => !word.startsWith('-'));
  const [group = ''] = words;
  const listed = Object.entries(commands).filter(([name]) => name.startsWith(`${group} `));
  const help = listed.length > 0 && group !== '' ? groupHelp(listed) : groupHelp(Object.entries(commands));
  const isAsked = args.includes('--help') || args.includes('-h');
  const isKnown = words.length === 0 || (words.length === 1 && listed.length > 0);
  if (isAsked && isKnown) return done(help);
  const what =
    words.length === 0 ? 'A command is missing' : `There is no command "${words.slice(0, 2).join(' ')}"`;
  return { exitCode: 2, stdout: '', stderr: `${what}\n\n${help}\n` };
}

function groupHelp(listed: readonly (readonly [string, Command])[]): string {
  const lines = listed.map(([, { usage, help }]) => `  ${usage}\n      ${help.split('\n', 1).join('')}`);
  return `Usage: ${program} COMMAND [--json] [--help]

${lines.join('\n')}

Every command works on the database of DATABASE_URL, also while the server runs.
--json prints one JSON value.`;
}

function commandHelp({ usage, help }: Command): string {
  return `Usage: ${program} ${usage} [--json]\n\n${help}`;
}

function done(text: string): Outcome {
  return { exitCode: 0, stdout: `${text}\n`, stderr: '' };
}

function explainFailure(error: unknown): string {
  if (error instanceof Problem || error instanceof ConfigError) return error.message;
  return `The command failed: ${reasonOf(error)}`;
}
