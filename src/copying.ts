/** Copies for the payer. If the browser refuses, or needs more than a second, a field shows the text, selected. */
import { nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import { copyText } from './checkout/clipboard.js';
import type { CheckoutStatus } from './checkout/state.js';
import type { Payment } from './contract/checkout.js';
import { copyField } from './views/copy-field.js';
import { viewKey } from './views/frame.js';
import { isTimeUp, type Copyable, type ViewContext } from './views/view.js';

export interface CopyHost extends ReactiveControllerHost {
  readonly isConnected: boolean;
  readonly shadowRoot: ShadowRoot | null;
  readonly payment: Payment | undefined;
  readonly status: CheckoutStatus;
}

interface Copy {
  readonly what: Copyable;
  readonly value: string;
  /** Shows that it is copied. */
  readonly say: () => void;
  /** The text above the field; by default, that the browser does not copy. */
  readonly label?: () => string;
}

export class Copying implements ReactiveController {
  readonly #host: CopyHost;
  /** The newest requested copy. */
  #asked: Copy | undefined;
  /** In the field, for the payer to copy. */
  #byHand: Copy | undefined;
  #shownFor = '';

  constructor(host: CopyHost) {
    this.#host = host;
    host.addController(this);
  }

  hostUpdate(): void {
    const { status, payment } = this.#host;
    // A field with an address or an amount that must no longer be paid is removed.
    const shownFor = [viewKey(status), payment?.id, payment?.amountDue].join(' ');
    if (shownFor !== this.#shownFor) this.#asked = this.#byHand = undefined;
    this.#shownFor = shownFor;
  }

  hostDisconnected(): void {
    this.#asked = this.#byHand = undefined;
  }

  /** @param say called once it is copied, by the browser or by hand */
  async copy(what: Copyable, value: string, say: () => void): Promise<void> {
    const { shadowRoot, isConnected } = this.#host;
    if (!shadowRoot || !isConnected) return;
    const asked = { what, value, say };
    this.#asked = asked;
    this.#show(undefined);
    const isCopied = await copyText(value, shadowRoot, () => this.#finish(asked));
    if (isCopied) return this.#finish(asked);
    // The payer has pressed again, or looks at another view.
    if (this.#asked === asked) await this.offer(asked);
  }

  /** Shows text in the field, selected. */
  async offer(copy: Copy): Promise<void> {
    const { shadowRoot } = this.#host;
    this.#asked = copy;
    this.#show(copy);
    await this.#host.updateComplete;
    const field = shadowRoot?.getElementById('by-hand');
    if (!(field instanceof HTMLTextAreaElement)) return;
    field.focus();
    field.select();
  }

  readonly render = (context: ViewContext): TemplateResult | typeof nothing => {
    const copy = this.#byHand;
    if (!copy || (isTimeUp(context) && isToPay(copy))) return nothing;
    return copyField(
      copy.value,
      copy.label?.() ?? context.text('copyFailed'),
      context,
      () => this.#finish(copy),
      () => this.#show(undefined),
    );
  };

  #finish(copy: Copy): void {
    if (this.#byHand === copy) this.#show(undefined);
    // The payer may have pressed again, or look at another view.
    if (this.#asked === copy) copy.say();
  }

  #show(copy: Copy | undefined): void {
    this.#byHand = copy;
    this.#host.requestUpdate();
  }
}

function isToPay({ what }: Copy): boolean {
  return what === 'amount' || what === 'address';
}
