/** The commands of `crypto-checkout-server`: accounts, keys and the ledger's check, on the server's database. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { isoTime, type Clock } from './clock.js';
import { ConfigError, readConfig } from './config.js';
import { openDatabase, type Database } from './db/database.js';
import { newId } from './ids.js';
import { createKeys, type KeyRecord, type Keys } from './keys/keys.js';
import { checkLedger } from './ledger/check.js';
import {
  createMerchants,
  type Merchant,
  type MerchantChange,
  type Merchants,
} from './merchants/merchants.js';
import { Problem } from './problems.js';
import { reasonOf } from './reason.js';

/** What a command leaves behind: 0 done, 1 failed, 2 not understood. */
export interface Outcome {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

interface Tools {
  readonly database: Database;
  readonly merchants: Merchants;
  readonly keys: Keys;
}

/** What was given by name: text, or true for a flag. */
type Options = Readonly<Record<string, unknown>>;

interface Answer {
  readonly json: unknown;
  readonly text: string;
  readonly hasFailed?: boolean;
}

interface Command {
  /** After the program's name. */
  readonly usage: string;
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** Names of what follows the command. */
  readonly positionals: readonly string[];
  run(tools: Tools, options: Options, positionals: readonly string[]): Promise<Answer>;
}

/** The command line was not understood. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const program = 'crypto-checkout-server';
const systemClock: Clock = { now: () => Date.now() };
const text = { type: 'string' } as const;
const accountOptions = { name: text, 'business-name': text, logo: text, 'fee-basis-points': text };
const accountHelp = `  --name NAME               of the account
  --business-name NAME      what payers see (default: the name)
  --logo URL                https, shown to payers
  --fee-basis-points N      service fee, 100 is 1 % (default 100)`;

const commands: Readonly<Record<string, Command>> = {
  'merchants create': {
    usage: 'merchants create --name NAME [--business-name NAME] [--logo URL] [--fee-basis-points N]',
    help: `Makes a merchant account.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: [],
    async run({ database, merchants }, options) {
      const name = required(options, 'name');
      const account = await database.write((transaction) =>
        merchants.create(transaction, { ...accountChange(options), name }),
      );
      return showMerchant(account);
    },
  },
  'merchants update': {
    usage: 'merchants update ID [--name NAME] [--business-name NAME] [--logo URL] [--fee-basis-points N]',
    help: `Changes what is given. A new fee counts for new payments.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: ['ID'],
    async run({ database, merchants }, options, [id = '']) {
      const change = accountChange(options);
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change is given');
      return showMerchant(await database.write((transaction) => merchants.update(transaction, id, change)));
    },
  },
  'merchants list': {
    usage: 'merchants list',
    help: 'Lists the merchant accounts, oldest first.',
    options: {},
    positionals: [],
    async run({ database, merchants }) {
      const accounts = await merchants.list(database.reader);
      const lines = accounts.map(({ id, name, feeBasisPoints }) => `${id}  ${feeBasisPoints} bp  ${name}`);
      return { json: accounts.map(merchantJson), text: lines.join('\n') || 'There are no accounts' };
    },
  },
  'keys create': {
    usage: 'keys create --merchant ID --kind secret|public --mode test|live',
    help: 'Makes an API key and shows it this once: of secret keys only a digest is kept.',
    options: { merchant: text, kind: text, mode: text },
    positionals: [],
    async run({ database, merchants, keys }, options) {
      const merchantId = required(options, 'merchant');
      const kind = oneOf(options, 'kind', ['secret', 'public']);
      const mode = oneOf(options, 'mode', ['test', 'live']);
      const made = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        return keys.create(transaction, { merchantId, kind, mode });
      });
      return { json: made, text: `id   ${made.id}\nkey  ${made.key}` };
    },
  },
  'keys list': {
    usage: 'keys list',
    help: 'Lists the API keys, oldest first; of secret keys the last 4 characters.',
    options: {},
    positionals: [],
    async run({ keys }) {
      const all = await keys.list();
      return { json: all.map(keyJson), text: all.map(keyLine).join('\n') || 'There are no keys' };
    },
  },
  'keys revoke': {
    usage: 'keys revoke ID',
    help: 'Revokes an API key. Servers that run take it for at most 5 seconds more.',
    options: {},
    positionals: ['ID'],
    async run({ keys }, _options, [id = '']) {
      await keys.revoke(id);
      return { json: { id, revoked: true }, text: `Revoked ${id}` };
    },
  },
  'ledger check': {
    usage: 'ledger check',
    help: "Checks the ledger's invariants; exits 1 where one does not hold.",
    options: {},
    positionals: [],
    async run({ database }) {
      const checks = await database.write((transaction) => checkLedger(transaction));
      const lines = checks.flatMap(({ invariant, violations }) => [
        `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant}`,
        ...violations.map((violation) => `      ${violation}`),
      ]);
      const hasFailed = checks.some(({ violations }) => violations.length > 0);
      return { json: checks, text: lines.join('\n'), hasFailed };
    },
  },
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
  const database = await openDatabase(readConfig(environment).databaseUrl);
  try {
    return await work({
      database,
      merchants: createMerchants(systemClock, newId),
      keys: createKeys(database, systemClock, newId),
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

function required(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string') throw new UsageError(`--${name} is missing`);
  return value;
}

function oneOf<const T extends string>(options: Options, name: string, allowed: readonly T[]): T {
  const value = required(options, name);
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new UsageError(`--${name} must be ${allowed.join(' or ')}, not "${value}"`);
  return found;
}

function accountChange(options: Options): MerchantChange {
  const { name, 'business-name': businessName, logo, 'fee-basis-points': fee } = options;
  if (typeof fee === 'string' && !/^\d{1,6}$/.test(fee)) {
    throw new UsageError(`--fee-basis-points must be an integer, not "${fee}"`);
  }
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof businessName === 'string' && { businessName }),
    ...(typeof logo === 'string' && { logo }),
    ...(typeof fee === 'string' && { feeBasisPoints: Number(fee) }),
  };
}

function showMerchant(merchant: Merchant): Answer {
  const json = merchantJson(merchant);
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(15)} ${value}`);
  return { json, text: lines.join('\n') };
}

function merchantJson({ createdAt, updatedAt, ...merchant }: Merchant) {
  return { ...merchant, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}

function keyJson({ createdAt, revokedAt, ...key }: KeyRecord) {
  return { ...key, createdAt: isoTime(createdAt), revokedAt: revokedAt === null ? null : isoTime(revokedAt) };
}

function keyLine({ id, merchantId, key, revokedAt }: KeyRecord): string {
  return `${id}  ${merchantId}  ${key}${revokedAt === null ? '' : '  revoked'}`;
}
