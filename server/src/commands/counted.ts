/** Counts things in a sentence. */

/** `1 payment`, `2 payments`. @param plural if it is not the singular with an s */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
