#!/usr/bin/env node
/** The executable `crypto-checkout-server`: runs one command and prints its output. */
import { isNodeTooOld } from './node-version.js';

async function main(): Promise<void> {
  const { runCommand } = await import('./commands/run.js');
  const { exitCode, stdout, stderr } = await runCommand(process.argv.slice(2), process.env);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}

if (!isNodeTooOld()) void main();
