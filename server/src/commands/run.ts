/** The command line `crypto-checkout-server`: parses it, runs the command on the server's database and returns the output. */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import {
  CommandError,
  UsageError,
  type Command,
  type CommandContext,
  type CommandText,
  type Options,
  type StandaloneCommand,
} from './command.js';
import { addressCommands } from './addresses.js';
import { auditCommands } from './audit.js';
import { balanceCommands } from './balances.js';
import { chainCommands } from './chains.js';
import { customerCommands } from './customers.js';
import { databaseCommands } from './database.js';
import { depositKeyCommands } from './deposit-keys.js';
import { gasKeyCommands } from '../treasury/commands/gas-key.js';
import { commandHelp, groupHelp, program, usageText } from './help.js';
import { keyCommands } from './keys.js';
import { ledgerCommands } from './ledger.js';
import { merchantCommands } from './merchants.js';
import { networkCommands } from './networks.js';
import { paymentCommands } from './payments.js';
import { payoutCommands } from './payouts.js';
import { psbtCommands } from '../psbt-payouts/commands.js';
import { rateCommands } from './rates.js';
import { rescanCommands } from './rescan.js';
import { sandboxCommands } from './sandbox.js';
import { sweepCommands } from '../treasury/commands/sweeps.js';
import { transferExportCommands } from '../treasury/commands/transfer-export.js';
import { transferCommands } from './transfers.js';
import { unknownCommand } from './unknown-command.js';
import { webhookCommands } from './webhooks.js';
import { ConfigError, readConfig } from '../config.js';
import { createApp } from '../app.js';
import { Problem } from '../shared/problem.js';
import { errorMessage } from '../shared/error-message.js';
import { StartError } from '../shared/start-error.js';
import { MissingDatabase } from '../db/migrate.js';
import { describeDatabase, openDatabase } from '../db/open.js';

export interface Outcome {
  /** 0: succeeded, 1: failed, 2: invalid usage. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command's output goes. */
export interface Streams {
  /** Resolves when more can be written. */
  stdout(text: string): Promise<void>;
  stderr(text: string): void;
}

export const commands: Readonly<Record<string, Command | StandaloneCommand>> = {
  ...merchantCommands,
  ...keyCommands,
  ...auditCommands,
  ...chainCommands,
  ...paymentCommands,
  ...customerCommands,
  ...balanceCommands,
  ...transferCommands,
  ...psbtCommands,
  ...transferExportCommands,
  ...sweepCommands,
  ...gasKeyCommands,
  ...payoutCommands,
  ...webhookCommands,
  ...sandboxCommands,
  ...ledgerCommands,
  ...databaseCommands,
  ...networkCommands,
  ...rescanCommands,
  ...depositKeyCommands,
  ...addressCommands,
  ...rateCommands,
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs one command line and collects its output. */
export async function runCommand(args: readonly string[], environment: Environment): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  const exitCode = await runCommandTo(args, environment, {
    stdout(text) {
      output.stdout += text;
      return Promise.resolve();
    },
    stderr: (text) => void (output.stderr += text),
  });
  return { exitCode, ...output };
}

/** Runs one command line and writes its output while it is made. @returns the exit code */
export async function runCommandTo(
  args: readonly string[],
  environment: Environment,
  streams: Streams,
): Promise<Outcome['exitCode']> {
  // `help keys create` is `keys create --help`.
  if (args[0] === 'help') return runCommandTo([...args.slice(1), '--help'], environment, streams);
  // Most names have two words.
  const length = commands[args.slice(0, 3).join(' ')] ? 3 : 2;
  const command = commands[args.slice(0, length).join(' ')];
  if (!command) return explain(args, streams);
  try {
    const { values, positionals } = parseCommand(command, args.slice(length));
    if (values.help === true) {
      await streams.stdout(`${commandHelp(command)}\n`);
      return 0;
    }
    const isJson = values.json === true;
    const output =
      'runAlone' in command
        ? await command.runAlone(values)
        : await withContext(environment, streams, (context) => command.run(context, values, positionals));
    if (!output.isPrinted) {
      await streams.stdout(`${isJson ? JSON.stringify(output.json, null, 2) : output.text}\n`);
    }
    return output.hasFailed ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      streams.stderr(`${error.message}\n\n${usageText(command)}\n`);
      return 2;
    }
    streams.stderr(`${explainFailure(error)}\n`);
    return 1;
  }
}

function parseCommand(command: CommandText, args: readonly string[]) {
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
  environment: Environment,
  streams: Streams,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment);
  const place = describeDatabase(config.databaseUrl);
  const database = await openDatabase(config.databaseUrl, { ...config, mustExist: true }).catch(
    (error: unknown) => {
      if (error instanceof MissingDatabase) {
        throw new StartError(
          `There is no database at ${place}; start the server first, or use its folder or its DATABASE_URL`,
        );
      }
      throw new StartError('DATABASE_URL: the database cannot be opened', { cause: error });
    },
  );
  try {
    // On stderr, so that with --json the output is still one JSON value.
    streams.stderr(`Database: ${place}\n`);
    const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
    const app = await createApp({
      config,
      database,
      log: pino({ level: 'silent' }),
      publicUrl,
      checkoutUrl: config.checkoutUrl ?? `${publicUrl}/pay`,
      stopping: new AbortController().signal,
    });
    const result = await work({
      ...app,
      database,
      actor: `command line, user ${osUser()}`,
      print: (text) => streams.stdout(text),
      progress: (text) => streams.stderr(`${text}\n`),
    });
    await app.dispatcher.stop();
    return result;
  } finally {
    await database.close();
  }
}

/** The user of the operating system. In a container it may have only a number. */
function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Prints the help or the version if asked for. Otherwise the command is missing or unknown, which is a usage error. */
async function explain(args: readonly string[], streams: Streams): Promise<Outcome['exitCode']> {
  const words = args.filter((word) => !word.startsWith('-'));
  // A group can have two words: `transfers psbt`.
  const group = words.join(' ');
  const inGroup = Object.entries(commands).filter(([name]) => name.startsWith(`${group} `));
  const isWhole = inGroup.length === 0 || group === '';
  const listed = isWhole ? Object.entries(commands) : inGroup;
  const help = groupHelp(
    listed.map(([, command]) => command),
    isWhole,
  );
  const isHelp = args.includes('--help') || args.includes('-h');
  const isKnown = words.length === 0 || inGroup.length > 0;
  if (isHelp && isKnown) {
    await streams.stdout(`${help}\n`);
    return 0;
  }
  if (words.length === 0 && args.includes('--version')) {
    await streams.stdout(`${version()}\n`);
    return 0;
  }
  streams.stderr(`${unknownCommand(words.slice(0, 2), Object.keys(commands), program)}\n`);
  return 2;
}

/** The release of this package. */
function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}

function explainFailure(error: unknown): string {
  const isExplained = [CommandError, Problem, ConfigError, StartError].some((type) => error instanceof type);
  if (isExplained) return errorMessage(error);
  return `The command failed: ${errorMessage(error)}`;
}
