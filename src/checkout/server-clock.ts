/** Estimates the server's time, so that a wrong device clock does not matter. */

/** Three clocks at one moment, in milliseconds. */
interface Reading {
  readonly server: number;
  readonly monotonic: number;
  readonly device: number;
}

/** Further back than the whole seconds of the header explain. */
const stepMs = 3_000;

export class ServerClock {
  readonly #monotonic: () => number;
  readonly #device: () => number;
  #last: Reading;

  constructor(monotonic = () => performance.now(), device = () => Date.now()) {
    this.#monotonic = monotonic;
    this.#device = device;
    this.#last = this.#read(device());
  }

  /**
   * @param serverTime a response's `Date` header, in epoch milliseconds
   * @param sentAt this clock's time when the request was sent
   */
  synchronize(serverTime: number | undefined, sentAt: number): void {
    if (serverTime === undefined) return;
    // The header is cut to whole seconds and arrives late, so an estimate is never ahead of the server: the latest is the
    // best. It is set back only if it was ahead before the request was sent: then the server's clock has changed.
    const isBetter = serverTime > this.now() || sentAt - serverTime > stepMs;
    if (isBetter) this.#last = this.#read(serverTime);
  }

  /** Epoch milliseconds. */
  now(): number {
    const { server, monotonic, device } = this.#last;
    // While the device sleeps, only its own clock keeps running. If somebody changes that clock, the next reply corrects
    // it.
    return server + Math.max(this.#monotonic() - monotonic, this.#device() - device);
  }

  #read(server: number): Reading {
    return { server, monotonic: this.#monotonic(), device: this.#device() };
  }
}
