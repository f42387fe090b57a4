#!/usr/bin/env node
/** The executable `crypto-checkout-server`: starts the server, or runs one command and prints its output. */
import { isNodeTooOld } from './node-version.js';

/** The command line in one file, which `scripts/commands.mjs` makes: finding and reading hundreds takes longer than most commands. */
const bundle = new URL('bundle/commands.js', import.meta.url);

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args[0] === 'help' && args[1] === 'start') args.splice(0, 2, 'start', '--help');
  if (args[0] === 'start' && !args.includes('--version')) {
    return (await import('./start.js')).main(args.slice(1));
  }
  if (await isUpToDate()) await import(bundle.href);
  else await import('./command-line/main.js');
}

/** False where it was not made, or the compiler has run since, which only happens in a clone. */
async function isUpToDate(): Promise<boolean> {
  const { statSync } = await import('node:fs');
  const changedAt = (file: URL) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const madeAt = changedAt(bundle);
  const compilations = ['.tsbuildinfo', '../../dist/.tsbuildinfo'];
  return compilations.every((name) => changedAt(new URL(name, import.meta.url)) < madeAt);
}

if (!isNodeTooOld()) void main();
