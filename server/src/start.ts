/** Starts the server, configured by the environment, and stops it on SIGTERM and SIGINT. */
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { ConfigError, describeVariables, readConfig } from './core/config.js';
import { createLog } from './core/log.js';
import type { Bootstrapped } from './core/merchants/bootstrap.js';
import { settings } from './modules.js';
import { checkStart, startServer, type RunningServer } from './server.js';
import { envFiles, FileExposed, refuseExposedFile } from './core/private-file.js';
import { StartError } from './core/shared/start-error.js';
import { errorMessage } from './core/shared/error-message.js';

const usage = `Usage: crypto-checkout-server start [--check] [--help]

Serves the API, the hosted payment pages and its other pages, and the widget's script. With --check it only says whether it
could: it reads the settings and their files, and looks for the database and the port. Environment variables configure it:

${describeVariables(settings)}
`;

/** V8 reads these at each collection, so they can be set after the start of the process. */
const heapFlags = [
  // V8's default lets the heap of a busy server grow to four times its live data before a collection. At 50, it collected
  // so often that a create cost a tenth more.
  '--heap-growing-percent=75',
  // Few objects outlive a request: threads that help to copy them take more processor time to wake than they save.
  '--no-parallel-scavenge',
];

/** Runs the program. @param args of the command line */
export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return;
  }
  const isCheck = args.join(' ') === '--check';
  if (args.length > 0 && !isCheck) {
    process.stderr.write(
      `Unknown argument: ${args.join(' ')}. The server takes only --check: environment variables configure it, see start --help\n`,
    );
    process.exitCode = 2;
    return;
  }
  try {
    for (const flag of heapFlags) setFlagsFromString(flag);
    for (const path of envFiles(process.execArgv)) refuseExposedFile(path);
    const config = readConfig(process.env, settings);
    if (isCheck) {
      process.stdout.write(`${(await checkStart(config)).join('\n')}\n`);
      return;
    }
    const format = config.logFormat ?? (process.stderr.isTTY ? 'text' : 'json');
    const log = createLog(config.logLevel, undefined, format);
    logUncaught(log);
    for (const sentence of config.misspelt) log.warn(sentence);
    const server = await startServer(config, log);
    process.stdout.write(
      `${describeNewKeys(server.bootstrapped)}crypto-checkout-server listens on ${server.url}\n${describePages(server)}`,
    );
    stopOnSignal(server);
  } catch (error) {
    const isExplained = [ConfigError, StartError, FileExposed].some((type) => error instanceof type);
    if (!isExplained) throw error;
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

/** Announces new keys prominently, because the secret key cannot be shown again. */
function describeNewKeys({ made }: Bootstrapped): string {
  const lines = [
    ...(made.publicKey === undefined ? [] : [`  Public key  ${made.publicKey}`]),
    ...(made.secretKey === undefined ? [] : [`  Secret key  ${made.secretKey}`]),
  ];
  if (lines.length === 0) return '';
  const rule = '-'.repeat(72);
  return `${rule}
Created the account "Nightjar Lanterns". Save its test keys: the secret key is
never shown again.

${lines.join('\n')}
${rule}
`;
}

/** The pages to open, and the way to stop: the last that a newcomer reads in the terminal. */
function describePages({ pages }: RunningServer): string {
  const lines = Object.entries(pages).map(([name, url]) => `  ${name.padEnd(12)}${url}`);
  return `\n${lines.join('\n')}\n\nPress Ctrl+C to stop.\n`;
}

/** Logs uncaught errors with our redaction before exiting: Node would print all their properties, including rows. */
function logUncaught(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught error: the process exits');
    process.exit(1);
  });
}

/** Time for a load balancer to see at `/readyz` that it must send requests elsewhere. */
const lingerMs = 500;
/** Longer than requests, jobs and deliveries together take to stop. */
const stopMs = 25_000;

function stopOnSignal(server: RunningServer): void {
  const stop = () => {
    // Without these listeners, a second signal ends the process at once.
    process.removeListener('SIGTERM', stop);
    process.removeListener('SIGINT', stop);
    setTimeout(() => {
      process.stderr.write('The server did not stop in time\n');
      process.exit(1);
    }, stopMs).unref();
    server.stop(lingerMs).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`The server failed to stop cleanly: ${errorMessage(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
