/** Splits lists that are too long for the parameters of one statement. */
import { pauseIfLong } from '../shared/pause.js';

/** Far below the parameter limit of either engine. Larger chunks are not faster. */
const chunkSize = 500;

export function chunksOf<T>(values: readonly T[], size = chunkSize): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}

/** For rows that take long to decode: other work runs between two chunks. */
export const smallChunk = 50;

/** Runs a query for any number of values, chunk by chunk, and joins the rows. */
export async function inChunks<V, T>(
  values: readonly V[],
  select: (chunk: readonly V[]) => Promise<readonly T[]>,
  size = chunkSize,
): Promise<T[]> {
  const found: T[] = [];
  for (const chunk of chunksOf(values, size)) {
    found.push(...(await select(chunk)));
    await pauseIfLong();
  }
  return found;
}
