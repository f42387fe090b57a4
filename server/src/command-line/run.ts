/** Runs one command line: finds the command, opens the database for it, and writes its output. */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { pino } from 'pino';
import type { CommandContext } from '../core/commands/context.js';
import { CommandError, didYouMean, UsageError } from '../core/commands/errors.js';
import { commandHelp, groupHelp, program, programHelp, usageText } from '../core/commands/help.js';
import { withoutControls } from '../core/commands/printable.js';
import { commands, findCommand, groups } from './registry.js';
import { ConfigError, readConfig } from '../core/config.js';
import { createApp } from '../app.js';
import { settings } from '../modules.js';
import { Problem } from '../core/shared/problem.js';
import { errorMessage } from '../core/shared/error-message.js';
import { StartError } from '../core/shared/start-error.js';
import { MissingDatabase } from '../core/db/migrate.js';
import { openDatabase } from '../database.js';
import { describeDatabase } from '../core/db/open.js';
import { publicUrlSetting, readSetting } from '../core/db/settings.js';

export interface Outcome {
  /** 0: succeeded, 1: failed, 2: invalid usage, 3: less is held than the books say, 4: more is held. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4;
  readonly stdout: string;
  readonly stderr: string;
}

/** The streams that a command writes to. */
export interface Streams {
  /** Resolves when more can be written. */
  stdout(text: string): Promise<void>;
  stderr(text: string): void;
}

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
  given: Streams,
): Promise<Outcome['exitCode']> {
  const streams: Streams = {
    stdout: (text) => given.stdout(withoutControls(text)),
    stderr: (text) => given.stderr(withoutControls(text)),
  };
  if (args.includes('--version')) {
    await streams.stdout(`${version()}\n`);
    return 0;
  }
  // `help keys create` is `keys create --help`, and `--json keys list` is `keys list --json`.
  const [first = '', ...others] = args;
  if (first === 'help') return runCommandTo([...others, '--help'], environment, streams);
  if (['--json', '--help', '-h'].includes(first) && others.some((word) => !word.startsWith('-'))) {
    return runCommandTo([...others, first], environment, streams);
  }
  const isHelp = args.includes('--help') || args.includes('-h');
  const found = findCommand(args);
  if (!found) {
    const help = isHelp ? helpOf(args) : undefined;
    if (help === undefined) streams.stderr(`${unknownCommand(args)}\n`);
    else await streams.stdout(`${help}\n`);
    return help === undefined ? 2 : 0;
  }
  const { name, command, rest } = found;
  if (isHelp) {
    await streams.stdout(`${commandHelp(name, command)}\n`);
    return 0;
  }
  try {
    const invocation = command.parse(rest);
    const output = await invocation.run((work) => withContext(environment, streams, invocation.person, work));
    if (!output.isPrinted) {
      await streams.stdout(`${invocation.isJson ? JSON.stringify(output.json, null, 2) : output.text}\n`);
    }
    return output.hasFailed ? 1 : (output.exitCode ?? 0);
  } catch (error) {
    if (error instanceof UsageError) {
      streams.stderr(`${error.message}\n\n${usageText(name, command)}\n`);
      return 2;
    }
    streams.stderr(`${explainFailure(error)}\n`);
    return 1;
  }
}

/** The help of the whole program or of a group; undefined if there is no such group. */
function helpOf(args: readonly string[]): string | undefined {
  const name = args.filter((word) => !word.startsWith('-')).join(' ');
  if (name === '') return programHelp(groups);
  const inGroup = groups.filter((group) => `${group.name} `.startsWith(`${name} `));
  return inGroup.length === 0 ? undefined : groupHelp(name, inGroup);
}

/** Says in one sentence why there is no such command, and which one was probably meant. */
function unknownCommand(args: readonly string[]): string {
  const [first = ''] = args;
  if (first.startsWith('-'))
    return `"${first}" is before the command: write the command first, then its options`;
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 3);
  if (words.length === 0) return `No command given. Run ${program} --help for the list`;
  const names = [...commands.keys()];
  const whole = words.join(' ');
  const verbs = names.flatMap((name) => (name.startsWith(`${whole} `) ? name.slice(whole.length + 1) : []));
  if (verbs.length > 0) {
    return `"${whole}" needs a command: ${verbs.join(', ')}. Run ${program} ${whole} --help for what they do`;
  }
  const isGroup = groups.some(({ name }) => name === words.slice(0, 2).join(' '));
  const given = words.slice(0, isGroup ? 3 : 2).join(' ');
  const meant = words.length > 1 ? names : ['start', 'help', ...groups.map((group) => group.name)];
  return `Unknown command "${given}".${didYouMean(given, meant)} Run ${program} --help for the list`;
}

async function withContext<T>(
  environment: Environment,
  streams: Streams,
  person: string | undefined,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment, settings);
  for (const sentence of config.misspelt) streams.stderr(`${sentence}\n`);
  const place = describeDatabase(config.databaseUrl);
  const database = await openDatabase(config.databaseUrl, { ...config, mustExist: 'at this release' }).catch(
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
    // The shell that runs a command often lacks PUBLIC_URL. The running server has stored its own.
    const publicUrl =
      config.publicUrl ??
      (await readSetting(database.reader, publicUrlSetting)) ??
      `http://${config.host}:${config.port}`;
    const { signal } = new AbortController();
    const app = await createApp({
      config,
      database,
      log: pino({ level: 'silent' }),
      publicUrl,
      checkoutUrl: config.checkoutUrl ?? `${publicUrl}/pay`,
      stopping: signal,
    });
    const result = await work({
      ...app,
      database,
      signal,
      actor: `command line, ${person === undefined ? '' : `${person} as `}user ${osUser()}`,
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
