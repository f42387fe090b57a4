/** Derives the addresses that come next between requests, so that a transaction finds its own ready. */

/** How many are kept ready: more than there are transactions at once. */
const readyAtOnce = 64;

/**
 * The same function, faster: an answer is always `derive(index)`, derived now or ahead.
 * @param derive pure, and asked for rising indexes
 */
export function deriveAhead(derive: (index: number) => string): (index: number) => string {
  const ready = new Map<number, string>();
  /** The next index to derive ahead, and the one to stop before. */
  let next = 0;
  let end = 0;
  let takenSinceFill = 0;
  let isFilling = false;

  /** As many at a time as were taken meanwhile: that keeps up with any load, and holds nothing else up for long. */
  function fill(): void {
    const until = Math.min(end, next + Math.max(1, takenSinceFill));
    takenSinceFill = 0;
    try {
      for (; next < until; next += 1) ready.set(next, derive(next));
    } catch {
      // Whoever needs this index asks for it, and is told.
      end = next;
    }
    isFilling = next < end;
    if (isFilling) setImmediate(fill);
  }

  return (index) => {
    const address = ready.get(index) ?? derive(index);
    for (const passed of ready.keys()) if (passed <= index) ready.delete(passed);
    next = Math.max(next, index + 1);
    end = index + 1 + readyAtOnce;
    takenSinceFill += 1;
    if (!isFilling) {
      isFilling = true;
      setImmediate(fill);
    }
    return address;
  };
}
