/** Runs the command that the process was started with, and prints its output. */
import { runCommandTo } from './run.js';

// Readers of the output may stop early, as `head` does.
process.stdout.on('error', () => process.exit(1));
process.exitCode = await runCommandTo(process.argv.slice(2), process.env, {
  async stdout(text) {
    // A long export waits for its reader instead of filling the memory.
    if (process.stdout.write(text)) return;
    await new Promise((resolve) => process.stdout.once('drain', resolve));
  },
  stderr: (text) => void process.stderr.write(text),
});
