/** Keeps the tabs of one browser on the same payment. */
import { openChannel } from '../platform.js';

/** Each message costs a request, and any script of the page's origin can send thousands. */
const maxPerSecond = 5;

/** Sends this tab's payment to the other tabs with the same order, and receives theirs. */
export class TabChannel {
  readonly #channel: BroadcastChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heard = 0;
  /** The newest of the messages that came too fast. */
  #waiting: string | undefined;

  /** @param name what identifies the order */
  constructor(name: string, onPayment: (paymentId: string) => void) {
    this.#channel = openChannel(name);
    if (!this.#channel) return;
    this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') this.#hear(data, onPayment);
    };
  }

  #hear(paymentId: string, onPayment: (paymentId: string) => void): void {
    if (this.#heard === maxPerSecond) {
      this.#waiting = paymentId;
      return;
    }
    this.#heard += 1;
    this.#timer ??= setTimeout(() => {
      const waiting = this.#waiting;
      this.#heard = 0;
      this.#timer = this.#waiting = undefined;
      if (waiting !== undefined) this.#hear(waiting, onPayment);
    }, 1000);
    onPayment(paymentId);
  }

  publish(paymentId: string): void {
    this.#channel?.postMessage(paymentId);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#channel?.close();
  }
}
