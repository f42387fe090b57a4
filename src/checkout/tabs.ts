/** Keeps the tabs of one browser on the same payment. */

/** Tells the other tabs with the same order which payment it has, and hears it from them. */
export class TabChannel {
  readonly #channel: BroadcastChannel | undefined;

  /** @param name what identifies the order */
  constructor(name: string, onPayment: (paymentId: string) => void) {
    if (typeof BroadcastChannel === 'undefined') return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') onPayment(data);
    };
  }

  publish(paymentId: string): void {
    this.#channel?.postMessage(paymentId);
  }

  close(): void {
    this.#channel?.close();
  }
}
