#!/usr/bin/env node
/** The executable `crypto-checkout-server`: starts the server, or runs one command and prints its output. */
import { isNodeTooOld } from './node-version.js';

async function main(): Promise<void> {
  const { argv } = process;
  if (argv[2] === 'help' && argv[3] === 'start') argv.splice(2, 2, 'start', '--help');
  const { run } = await import('./bundle.js');
  if (argv[2] === 'start' && !argv.includes('--version')) {
    await run('server', () => import('./run-server.js'));
  } else {
    await run('commands', () => import('./command-line/main.js'));
  }
}

if (!isNodeTooOld()) void main();
