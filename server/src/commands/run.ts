/** The command line `crypto-checkout-server`: parses it, runs the command on the server's database and returns the output. */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { UsageError, type Command, type Options, type CommandContext } from './command.js';
import { addressCommands } from './addresses.js';
import { balanceCommands } from './balances.js';
import { databaseCommands } from './database.js';
import { depositKeyCommands } from './deposit-keys.js';
import { keyCommands } from './keys.js';
import { ledgerCommands } from './ledger.js';
import { merchantCommands } from './merchants.js';
import { networkCommands } from './networks.js';
import { payoutCommands } from './payouts.js';
import { rateCommands } from './rates.js';
import { rescanCommands } from './rescan.js';
import { transferCommands } from './transfers.js';
import { webhookCommands } from './webhooks.js';
import { ConfigError, readConfig } from '../config.js';
import { createApp } from '../app.js';
import { Problem } from '../shared/problem.js';
import { errorMessage } from '../shared/error-message.js';
import { openDatabase } from '../db/open.js';

export interface Outcome {
  /** 0: succeeded, 1: failed, 2: invalid usage. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

const program = 'crypto-checkout-server';

const commands: Readonly<Record<string, Command>> = {
  ...merchantCommands,
  ...keyCommands,
  ...ledgerCommands,
  ...databaseCommands,
  ...balanceCommands,
  ...transferCommands,
  ...payoutCommands,
  ...webhookCommands,
  ...networkCommands,
  ...rescanCommands,
  ...depositKeyCommands,
  ...addressCommands,
  ...rateCommands,
};

/** Runs one command line. It prints nothing: the caller does. */
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
    const output = await withContext(environment, (context) => command.run(context, values, positionals));
    const stdout = values.json === true ? JSON.stringify(output.json, null, 2) : output.text;
    return { exitCode: output.hasFailed ? 1 : 0, stdout: `${stdout}\n`, stderr: '' };
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
      const expected = command.positionals.join(' ') || 'no arguments';
      const given = positionals.length === 0 ? 'none' : `"${positionals.join(' ')}"`;
      throw new UsageError(`Expected ${expected} after the command, got ${given}`);
    }
    return { values, positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(errorMessage(error), { cause: error });
  }
}

async function withContext<T>(
  environment: Readonly<Record<string, string | undefined>>,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment);
  const database = await openDatabase(config.databaseUrl, config);
  try {
    const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
    const app = await createApp({
      config,
      database,
      log: pino({ level: 'silent' }),
      publicUrl,
      checkoutUrl: config.checkoutUrl ?? `${publicUrl}/pay`,
      stopping: new AbortController().signal,
    });
    return await work({ ...app, database, progress: (text) => void process.stderr.write(`${text}\n`) });
  } finally {
    await database.close();
  }
}

/** Prints the help if it was asked for. Otherwise the command is missing or unknown, which is a usage error. */
function explain(args: readonly string[]): Outcome {
  const words = args.filter((word) => !word.startsWith('-'));
  const [group = ''] = words;
  const inGroup = Object.entries(commands).filter(([name]) => name.startsWith(`${group} `));
  const help = inGroup.length > 0 && group !== '' ? groupHelp(inGroup) : groupHelp(Object.entries(commands));
  const isHelp = args.includes('--help') || args.includes('-h');
  const isKnown = words.length === 0 || (words.length === 1 && inGroup.length > 0);
  if (isHelp && isKnown) return done(help);
  const reason = words.length === 0 ? 'No command given' : `Unknown command "${words.slice(0, 2).join(' ')}"`;
  return { exitCode: 2, stdout: '', stderr: `${reason}\n\n${help}\n` };
}

function groupHelp(listed: readonly (readonly [string, Command])[]): string {
  const lines = listed.map(([, { usage, help }]) => `  ${usage}\n      ${help.split('\n', 1).join('')}`);
  return `Usage: ${program} COMMAND [--json] [--help]

${lines.join('\n')}

Commands work on the database in DATABASE_URL, also while the server is running.
--json prints the result as one JSON value.`;
}

function commandHelp({ usage, help }: Command): string {
  return `Usage: ${program} ${usage} [--json]\n\n${help}`;
}

function done(text: string): Outcome {
  return { exitCode: 0, stdout: `${text}\n`, stderr: '' };
}

function explainFailure(error: unknown): string {
  if (error instanceof Problem || error instanceof ConfigError) return error.message;
  return `The command failed: ${errorMessage(error)}`;
}
