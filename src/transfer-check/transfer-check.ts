/** The form in which payers check whether a transfer has arrived: folded away, and loaded when it is opened. */
import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import type { Order } from '../checkout/order.js';
import type { Payment } from '../contract/checkout.js';
import { fetchCode } from '../fetch-code.js';
import { lazy, type Lazy } from '../lazy.js';
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
  readonly #panel: Lazy<TransferPanel>;

  constructor(host: TransferCheckHost, texts: TransferCheckTexts) {
    this.#host = host;
    this.#panel = lazy(host, async () => {
      const panel = new (await fetchCode(() => import('./panel.js'))).TransferPanel(host);
      if (texts.language) await panel.loadTexts(texts.language);
      return panel;
    });
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#panel.value?.stop();
  }

  /** Nothing before the lock: there was no address to send to. */
  readonly render = (payment: Payment, context: ViewContext): TemplateResult | typeof nothing => {
    if (!payment.isCurrencyLocked || !payment.addressInformation) return nothing;
    const { text, setOpen } = context;
    const content =
      this.#panel.value?.render(payment, context) ??
      html`<p aria-live="polite">${text(this.#panel.hasFailed ? 'problemNetwork' : 'loading')}</p>`;
    return disclosure('transfer', 'transfer-check', text('transferCheck'), content, {
      ...context,
      setOpen: (name, isOpen) => {
        setOpen(name, isOpen);
        if (!isOpen) return;
        // A failed attempt is repeated when it is opened again.
        void this.#panel.get();
        this.#host.requestUpdate();
      },
    });
  };
}
