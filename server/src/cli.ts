#!/usr/bin/env node
/** The executable `crypto-checkout-server`: runs one command and prints its output. */
import { runCommand } from './commands/run.js';

const { exitCode, stdout, stderr } = await runCommand(process.argv.slice(2), process.env);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
