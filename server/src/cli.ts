#!/usr/bin/env node
/** The executable `crypto-checkout-server`: starts the server, or runs one command and prints its output. */
import { isNodeTooOld } from './node-version.js';

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args[0] === 'help' && args[1] === 'start') args.splice(0, 2, 'start', '--help');
  if (args[0] === 'start' && !args.includes('--version')) {
    return (await import('./start.js')).main(args.slice(1));
  }
  // Readers of the output may stop early, as `head` does.
  process.stdout.on('error', () => process.exit(1));
  const { runCommandTo } = await import('./command-line/run.js');
  process.exitCode = await runCommandTo(args, process.env, {
    async stdout(text) {
      // A long export waits for its reader instead of filling the memory.
      if (process.stdout.write(text)) return;
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    },
    stderr: (text) => void process.stderr.write(text),
  });
}

if (!isNodeTooOld()) void main();
