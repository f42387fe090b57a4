/** The context of a command, for tests that run one in the process of a server. */
import type { App } from '../../src/app.js';
import type { Output } from '../../src/core/commands/command.js';
import type { CommandContext } from '../../src/core/commands/context.js';
import { findCommand } from '../../src/command-line/registry.js';
import type { Database } from '../../src/core/db/database.js';

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
    signal: new AbortController().signal,
  };
}

/**
 * Runs a command line in this process.
 * @param line split at its spaces
 * @param words that follow it, as they are
 */
export async function runWith(context: CommandContext, line: string, ...words: string[]): Promise<Output> {
  const found = findCommand([...line.split(' '), ...words]);
  if (!found) throw new Error(`There is no command ${line}`);
  return found.command.parse(found.rest).run((work) => work(context));
}
