/** Reads text with a parser that throws at what it does not know. @returns undefined if it throws */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
