/** Lists that are longer than a statement may have parameters. */

/** Far below what either engine takes in one statement, and large enough that more would not be faster. */
const chunkSize = 500;

/** Splits values into lists that fit into one statement. */
export function chunksOf<T>(values: readonly T[], size = chunkSize): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}

/** Reads the rows of any number of values, chunk by chunk. */
export async function inChunks<V, T>(
  values: readonly V[],
  select: (chunk: readonly V[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (const chunk of chunksOf(values)) found.push(...(await select(chunk)));
  return found;
}
