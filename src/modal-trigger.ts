/** The trigger of the modal: the page's own, or a default button. It loads the modal on demand. */
import { html, nothing, type TemplateResult } from 'lit';
import { fetchCode } from './fetch-code.js';
import type { Modal, ModalHost } from './modal.js';
import type { PaymentStart } from './payment-start.js';
import type { FirstContext } from './views/view.js';

export class ModalTrigger {
  readonly #host: ModalHost;
  readonly #onClosed: () => void;
  #modal: Modal | undefined;
  /** Undefined until the modal is needed, and while a press retries. */
  #loading: Promise<Modal> | undefined;

  /** @param onClosed called each time the modal was closed, in any way */
  constructor(host: ModalHost, onClosed: () => void) {
    this.#host = host;
    this.#onClosed = onClosed;
  }

  get isOpen(): boolean {
    return this.#modal?.isOpen === true;
  }

  /** Rejects if the code could not be loaded; the next press tries again. @returns false if the element has left the page */
  async open(): Promise<boolean> {
    this.#loading = undefined;
    const modal = await this.#load();
    if (!this.#host.isConnected) return false;
    modal.open();
    return true;
  }

  /** Each update may call this: it loads once. */
  #load(): Promise<Modal> {
    return (this.#loading ??= fetchCode(() => import('./modal.js')).then(({ Modal }) => {
      this.#host.requestUpdate();
      return (this.#modal ??= new Modal(this.#host, this.#onClosed));
    }));
  }

  close(): void {
    this.#modal?.close();
  }

  /** @param open starts the checkout */
  render(
    card: TemplateResult,
    context: FirstContext,
    { flow, preload }: PaymentStart,
    open: () => void,
  ): TemplateResult {
    const onClick = (event: Event) => {
      // The page's own trigger can be a link, or a button that would submit a form.
      event.preventDefault();
      open();
    };
    const load = () => void this.#load().catch(() => undefined);
    const onApproach = () => {
      preload();
      load();
    };
    const running = flow?.controller;
    // A payment that was resumed: its trigger says so before the modal is opened.
    if (running) load();
    // eslint-disable-next-line lit-a11y/click-events-have-key-events -- buttons and links turn keys into clicks
    return html`<slot name="trigger" @click=${onClick} @pointerenter=${onApproach} @focusin=${onApproach}
        ><span class="trigger"
          ><button part="trigger" class="action" type="button" aria-haspopup="dialog">
            ${this.#modal?.label(running, context) ?? context.text('openCheckout')}
          </button></span
        ></slot
      >${this.#modal?.render(card, context) ?? nothing}`;
  }
}
