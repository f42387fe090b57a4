/** Makes the checkout a form control: its value is the payment's id, and a required one is valid once the payment is a success. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { memoryFor, type Order } from './checkout/order.js';
import type { Payment } from './contract/checkout.js';

export interface FormHost extends ReactiveControllerHost, HTMLElement {
  readonly order: Order;
  readonly payment: Payment | undefined;
  readonly status: string;
  readonly required: boolean;
}

export class FormValue implements ReactiveController {
  readonly #host: FormHost;
  /** Without methods in test environments that have no forms. */
  readonly #internals: Partial<ElementInternals>;
  readonly #orderKey: () => string;
  readonly #message: () => string;
  #shown: string | undefined;

  /**
   * @param orderKey identifies the order, so that a browser restores a payment only for it; empty if nothing does
   * @param message the browser's message if the form is submitted too early
   */
  constructor(
    host: FormHost,
    internals: Partial<ElementInternals>,
    orderKey: () => string,
    message: () => string,
  ) {
    this.#host = host;
    this.#internals = internals;
    this.#orderKey = orderKey;
    this.#message = message;
    host.addController(this);
  }

  hostUpdated(): void {
    const { payment, required, status } = this.#host;
    const id = payment?.id ?? null;
    const isMissing = required && status !== 'success';
    // The browser refuses an empty message.
    const message = isMissing ? this.#message() || '…' : '';
    // The browser focuses the anchor, and shows the message there. Each view has its own.
    const anchor = isMissing ? this.#anchor() : undefined;
    this.#internals.setValidity?.({ valueMissing: isMissing }, message, anchor);
    const isDisabled = this.#host.matches(':disabled');
    // A payment in progress stays usable, because money may be on its way.
    for (const element of this.#host.shadowRoot?.children ?? []) {
      element.toggleAttribute('inert', isDisabled && !payment);
    }
    const orderKey = this.#orderKey();
    const state = id !== null && orderKey !== '' ? JSON.stringify([orderKey, id]) : null;
    if (`${id} ${state}` === this.#shown) return;
    this.#shown = `${id} ${state}`;
    this.#internals.setFormValue?.(id, state);
  }

  /**
   * Remembers the payment that the browser restores after a reload or a return.
   *
   * @returns false if it belongs to another order, or the order has a payment already
   */
  restore(state: unknown): boolean {
    const id = this.#restoredId(state);
    const memory = memoryFor(this.#host.order);
    const { attempt, paymentId, idempotencyKey } = memory.read();
    if (id === undefined || (paymentId ?? idempotencyKey) !== undefined) return false;
    memory.write({ attempt, paymentId: id });
    return true;
  }

  #restoredId(state: unknown): string | undefined {
    try {
      const [orderKey, id] = JSON.parse(String(state)) as unknown[];
      return typeof id === 'string' && orderKey === this.#orderKey() && orderKey !== '' ? id : undefined;
    } catch {
      return undefined;
    }
  }

  /** The main button, the heading of a view without one, or the modal's trigger. */
  #anchor(): HTMLElement | undefined {
    const root = this.#host.shadowRoot;
    const slot = root?.querySelector<HTMLSlotElement>('slot[name=trigger]');
    if (slot && !root?.querySelector('dialog[open]')) {
      const [trigger = slot.querySelector('button')] = slot.assignedElements();
      return trigger instanceof HTMLElement ? trigger : undefined;
    }
    const button = root?.querySelector<HTMLElement>('[part~=action]') ?? root?.getElementById('heading');
    return button ?? undefined;
  }
}
