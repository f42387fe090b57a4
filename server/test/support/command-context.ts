/** What a command runs with, for tests that run one in the process of a server. */
import type { App } from '../../src/app.js';
import type { CommandContext } from '../../src/commands/command.js';
import type { Database } from '../../src/db/database.js';

/** @param progress collects what the command says while it works */
export function commandContext(
  { app, database }: { readonly app: App; readonly database: Database },
  progress: string[] = [],
): CommandContext {
  return {
    ...app,
    database,
    actor: 'a test',
    print: () => Promise.resolve(),
    progress: (text) => void progress.push(text),
  };
}
