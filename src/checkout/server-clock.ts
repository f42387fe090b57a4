/** Estimates the server's time from a monotonic clock, so that a wrong device clock does not matter. */

export class ServerClock {
  readonly #monotonic: () => number;
  /** The epoch time, in milliseconds, at which the monotonic clock read 0. */
  #origin: number;
  #isSynchronized = false;

  constructor(monotonic = () => performance.now(), device = () => Date.now()) {
    this.#monotonic = monotonic;
    this.#origin = device() - monotonic();
  }

  /** @param serverTime a response's `Date` header, in epoch milliseconds */
  synchronize(serverTime: number | undefined): void {
    if (serverTime === undefined) return;
    const origin = serverTime - this.#monotonic();
    // The header is cut to whole seconds and arrives late, so an estimate is never ahead of the server: the largest
    // is the best. A large step back means that the server's clock was changed.
    const isBetter = origin > this.#origin || this.#origin - origin > 3000;
    if (!this.#isSynchronized || isBetter) this.#origin = origin;
    this.#isSynchronized = true;
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.#origin + this.#monotonic();
  }
}
