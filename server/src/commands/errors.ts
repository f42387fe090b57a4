/** The errors of commands, which tell the operator what to do, and suggest the name that was probably meant. */

/** A command cannot do what it was asked to. The message says why and what to do; the program exits with 1. */
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

/** Levenshtein distance: how many characters must be added, removed or replaced. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_value, column) => column);
  for (const [index, character] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (b[column - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
