/** The process behind `command-line.ts`: says that it is ready, then runs each command that it is sent. */
/** @type {{ runCommand: typeof import('../../src/command-line/run.js').runCommand }} */
const { runCommand } = await import(new URL('../../dist/command-line/run.js', import.meta.url).href);

process.on('message', async (/** @type {import('./command-line.js').CommandRequest} */ { id, args, env }) => {
  process.send?.({ id, outcome: await runCommand(args, env) });
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
