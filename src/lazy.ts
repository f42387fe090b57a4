/** A part of the code that loads when it is first needed, and only once. */

type Loading<T> = 'idle' | 'loading' | 'failed' | { readonly value: T };

export interface Lazy<T> {
  /** Undefined unless it is loaded. */
  readonly value: T | undefined;
  readonly hasFailed: boolean;
  /**
   * Loads it, unless loading has started already: each update may call this. A failed load stays failed until `retry`.
   */
  start(): Promise<T>;
  /** Allows the next `start` to retry a failed load. */
  retry(): void;
  /** Loads it for a press, and retries a failed load. */
  get(): Promise<T>;
}

/**
 * @param host updated each time that the part was loaded, or could not be
 * @param load may not update the host itself: such an update asks for the part again, and if all but one of its files
 *   are loaded already, the updates repeat forever. In WebKit nothing else on the page runs then, not even the request
 *   for the missing file (web-platform-tests/wpt#35949).
 */
export function lazy<T>(host: { requestUpdate(): void }, load: () => Promise<T>): Lazy<T> {
  let state: Loading<T> = 'idle';
  let loading: Promise<T>;
  const settle = (next: Loading<T>) => {
    state = next;
    host.requestUpdate();
  };
  const part: Lazy<T> = {
    get value() {
      return typeof state === 'object' ? state.value : undefined;
    },
    get hasFailed() {
      return state === 'failed';
    },
    start() {
      if (state === 'idle') {
        state = 'loading';
        loading = load();
        loading.then(
          (value) => settle({ value }),
          () => settle('failed'),
        );
      }
      return loading;
    },
    retry() {
      if (state === 'failed') state = 'idle';
    },
    get() {
      part.retry();
      return part.start();
    },
  };
  return part;
}
