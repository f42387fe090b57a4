/** Starts the server from the environment, and stops it on SIGTERM and SIGINT. */
import type { Logger } from 'pino';
import { ConfigError, describeVariables, readConfig } from './config.js';
import { createLog } from './log.js';
import type { Bootstrapped } from './merchants/bootstrap.js';
import { startServer, type RunningServer } from './server.js';
import { StartError } from './shared/start-error.js';
import { errorMessage } from './shared/error-message.js';

const usage = `Usage: node main.js [--help]

Serves the API, the hosted payment pages, the widget's script and the demo shop. The environment configures it:

${describeVariables()}
`;

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return;
  }
  if (args.length > 0) {
    process.stderr.write(`Unknown argument: ${args.join(' ')}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  try {
    const config = readConfig(process.env);
    const log = createLog(config.logLevel);
    logUncaught(log);
    const server = await startServer(config, log);
    process.stdout.write(
      `${describeNewKeys(server.bootstrapped)}crypto-checkout-server listens on ${server.url}\n`,
    );
    stopOnSignal(server);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** Nobody can be told the secret key again, so it must not be missed. */
function describeNewKeys({ made }: Bootstrapped): string {
  const lines = [
    ...(made.publicKey === undefined ? [] : [`  Public key  ${made.publicKey}`]),
    ...(made.secretKey === undefined ? [] : [`  Secret key  ${made.secretKey}`]),
  ];
  if (lines.length === 0) return '';
  const rule = '-'.repeat(72);
  return `${rule}
The account "Example Shop" was made. Keep its test keys: the secret key is
shown this once.

${lines.join('\n')}
${rule}
`;
}

/** What nobody caught ends the process, and is said without what Node would print of it: rows and parameters. */
function logUncaught(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Nobody caught this: the process ends');
    process.exit(1);
  });
}

/** Who has connected already is served, and a balancer sees at /readyz that it must look elsewhere. */
const lingerMs = 500;
/** Longer than requests, jobs and deliveries may take together. */
const stopMs = 25_000;

function stopOnSignal(server: RunningServer): void {
  const stop = () => {
    // A second signal finds no listener and ends the process at once.
    process.removeListener('SIGTERM', stop);
    process.removeListener('SIGINT', stop);
    setTimeout(() => {
      process.stderr.write('The server did not stop in time\n');
      process.exit(1);
    }, stopMs).unref();
    server.stop(lingerMs).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`The server did not stop in order: ${errorMessage(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

await main(process.argv.slice(2));
