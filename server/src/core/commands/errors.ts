/** The errors of commands, which explain the remedy to the operator, and suggest the name that was probably meant. */
import { changesBetween } from '../shared/edit-distance.js';

/** A command cannot do its work. The message says why and what to do; the program exits with 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The command line is invalid. The usage is printed below the message; the program exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** ` Did you mean "keys list"?`, or nothing if all names are too different. */
export function didYouMean(given: string, names: readonly string[]): string {
  const [best] = names
    .map((name) => ({ name, changes: changesBetween(given, name) }))
    .filter(({ name, changes }) => changes <= name.length / 2)
    .sort((a, b) => a.changes - b.changes);
  return best ? ` Did you mean "${best.name}"?` : '';
}
