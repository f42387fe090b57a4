/** Waiting with a limit, whose timer ends with it. */

/** @returns the value of `work`. Rejects, with nothing, if that takes longer than `limitMs`. */
export function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, limitMs);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
