/** The server's time, kept by a monotonic clock, so that a wrong device clock changes nothing. */

export class ServerClock {
  readonly #monotonic: () => number;
  /** Epoch milliseconds at the monotonic clock's zero. */
  #origin: number;
  #isSynchronized = false;

  constructor(monotonic = () => performance.now(), device = () => Date.now()) {
    this.#monotonic = monotonic;
    this.#origin = device() - monotonic();
  }

  /** Takes in a reply's `Date` header, in epoch milliseconds. */
  synchronize(serverTime: number | undefined): void {
    if (serverTime === undefined) return;
    const origin = serverTime - this.#monotonic();
    // The header is cut to whole seconds and late by the way back: of close samples the latest is the best.
    const isCloser = origin > this.#origin || this.#origin - origin > 3000;
    if (!this.#isSynchronized || isCloser) this.#origin = origin;
    this.#isSynchronized = true;
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.#origin + this.#monotonic();
  }
}
