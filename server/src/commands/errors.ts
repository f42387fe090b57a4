/** The errors of commands, which tell the operator what to do. */

/** A command cannot do what it was asked to. The message says why and what to do; the program exits with 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The command line is invalid. The usage is printed below the message; the program exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
