/** Refuses what two modules have and only one may have, by their names. */

/** @param what for the message, such as `the answer to "overview"` @throws if there are two */
export function theOnly<Given extends { readonly module: string }>(
  what: string,
  [first, second]: readonly Given[],
): Given | undefined {
  if (first && second) {
    throw new Error(
      `The modules ${first.module} and ${second.module} both have ${what}. Only one module can`,
    );
  }
  return first;
}
