/** The context of a command: the server's rules and its database. */
import type { Core } from '../core.js';
import type { Database } from '../db/database.js';

export interface CommandContext extends Core {
  readonly database: Database;
  /** The person who runs the command, for the audit log. */
  readonly actor: string;
  /** For calls of nodes. */
  readonly signal: AbortSignal;
  /** Prints a part of a long output at once. Resolves when more can be written. */
  print(text: string): Promise<void>;
  /** Says on stderr how far a long command is. */
  progress(text: string): void;
}
