/** Keeps the tabs of one browser on the same payment. */
import { openChannel } from '../platform.js';

/** Each message costs a request, and any script of the page's origin can send thousands: only the newest of this time counts. */
const pauseMs = 200;

/** Sends this tab's payment to the other tabs with the same order, and receives theirs. */
export class TabChannel {
  readonly #channel: BroadcastChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param name a text that identifies the order */
  constructor(name: string, onPayment: (paymentId: string) => void) {
    this.#channel = openChannel(name);
    if (!this.#channel) return;
    let newest = '';
    this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data !== 'string') return;
      newest = data;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        onPayment(newest);
      }, pauseMs);
    };
  }

  publish(paymentId: string): void {
    this.#channel?.postMessage(paymentId);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#channel?.close();
  }
}
