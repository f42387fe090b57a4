/** Keeps a cache from growing without end. */

/** Sets an entry of a cache as its newest. If it has more than `most`, the oldest goes. */
export function remember<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value, most: number): void {
  cache.delete(key);
  cache.set(key, value);
  for (const oldest of cache.keys()) {
    if (cache.size <= most) return;
    cache.delete(oldest);
  }
}
