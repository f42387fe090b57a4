/** Joins records; a later one wins. */
export const inOne = <T>(records: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> =>
  Object.fromEntries(records.flatMap((one) => Object.entries(one)));
