/** Where payers ask whether a transfer has arrived: folded away, and loaded when it is opened. */
import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import type { Order } from '../checkout/order.js';
import type { Payment } from '../contract/checkout.js';
import type { PageLanguage } from '../messages/load.js';
import { disclosure } from '../views/disclosure.js';
import type { ViewContext } from '../views/view.js';
import type { TransferPanel } from './panel.js';

export interface TransferCheckHost extends ReactiveControllerHost {
  readonly order: Order;
}

export interface TransferCheckTexts {
  readonly language: PageLanguage | undefined;
}

export class TransferCheck implements ReactiveController {
  readonly #host: TransferCheckHost;
  readonly #texts: TransferCheckTexts;
  #panel: TransferPanel | undefined | 'loading' | 'failed';

  constructor(host: TransferCheckHost, texts: TransferCheckTexts) {
    this.#host = host;
    this.#texts = texts;
    host.addController(this);
  }

  hostDisconnected(): void {
    if (typeof this.#panel === 'object') this.#panel.stop();
  }

  /** Nothing before the lock: there was no address to send to. */
  readonly render = (payment: Payment, context: ViewContext): TemplateResult | typeof nothing => {
    if (!payment.isCurrencyLocked || !payment.addressInformation) return nothing;
    const { text, setOpen } = context;
    const panel = this.#panel;
    const content =
      typeof panel === 'object'
        ? panel.render(payment, context)
        : html`<p aria-live="polite">${text(panel === 'failed' ? 'problemNetwork' : 'loading')}</p>`;
    return disclosure('transfer', 'transfer-check', text('transferCheck'), content, {
      ...context,
      setOpen: (name, isOpen) => {
        setOpen(name, isOpen);
        if (isOpen) void this.#load();
      },
    });
  };

  /** A failed attempt is repeated when it is opened again. */
  async #load(): Promise<void> {
    if (typeof this.#panel === 'object' || this.#panel === 'loading') return;
    this.#panel = 'loading';
    this.#host.requestUpdate();
    try {
      const { TransferPanel } = await import('./panel.js');
      const panel = new TransferPanel(this.#host, this.#texts);
      await panel.loadTexts();
      this.#panel = panel;
    } catch {
      this.#panel = 'failed';
    }
    this.#host.requestUpdate();
  }
}
