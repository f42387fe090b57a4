/** The distance between two words, to find the word that was probably meant. */

/** Levenshtein distance: how many characters must be added, removed or replaced. */
export function changesBetween(a: string, b: string): number {
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
