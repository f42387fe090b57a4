/** Says in one sentence what is wrong with the name of a command, and which one was probably meant. */

/** @param names of all commands, such as `keys list` */
export function unknownCommand(words: readonly string[], names: readonly string[], program: string): string {
  const [group = '', verb] = words;
  if (group === '') return `No command given. Run ${program} --help for the list`;
  const verbs = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1]);
  if (verb === undefined && verbs.length > 0) {
    return `"${group}" needs a command: ${verbs.join(', ')}. Run ${program} ${group} --help for what they do`;
  }
  const given = [group, verb].filter((word) => word !== undefined).join(' ');
  const near = nearest(given, names);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return `Unknown command "${given}".${hint} Run ${program} --help for the list`;
}

/** The name with the fewest changes to the given text; undefined if all are too different to be meant. */
function nearest(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, changes: changesBetween(given, name) }))
    .filter(({ name, changes }) => changes <= name.length / 2)
    .sort((a, b) => a.changes - b.changes);
  return best?.name;
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
