/** Shows the checkout in a native `<dialog>`. Closing it keeps the payment. The element loads this when it is first opened. */
import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import type { CheckoutController } from './checkout/controller.js';
import { modalStyles } from './modal.styles.js';
import { addStyles } from './views/add-styles.js';
import type { FirstContext } from './views/view.js';

export interface ModalHost extends ReactiveControllerHost, HTMLElement {}

const unfinished = /^(choosing-|quoted|locking|awaiting-funds|partially-paid|confirming)/;

export class Modal implements ReactiveController {
  isOpen = false;
  readonly #host: ModalHost;
  readonly #onClosed: () => void;
  #unlockScroll: (() => void) | undefined;
  /** The element that had focus before. */
  #returnTo: HTMLElement | undefined;

  /** @param onClosed called each time the dialog was closed, in any way */
  constructor(host: ModalHost, onClosed: () => void) {
    this.#host = host;
    this.#onClosed = onClosed;
    host.addController(this);
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.#returnTo = focusedElement();
    this.#host.requestUpdate();
  }

  close(): void {
    this.#finish();
  }

  hostConnected(): void {
    // A dialog that was moved is still open, but no longer modal.
    if (this.isOpen) this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#unlock();
    // An element that is only moved is back immediately, and stays open.
    queueMicrotask(() => {
      if (this.isOpen && !this.#host.isConnected) this.#finish();
    });
  }

  hostUpdated(): void {
    addStyles(this.#host.shadowRoot, modalStyles);
    const dialog = this.#dialog;
    if (!this.isOpen || !this.#host.isConnected) return;
    if (!dialog) return this.#finish();
    if (dialog.matches(':modal')) return;
    dialog.removeAttribute('open');
    dialog.showModal();
    dialog.querySelector<HTMLElement>('#heading')?.focus();
    this.#unlockScroll ??= lockScroll();
  }

  /** The trigger's text while a payment runs; undefined while none does. */
  label(
    running: Pick<CheckoutController, 'state' | 'remainingMs'> | undefined,
    { text }: FirstContext,
  ): TemplateResult | undefined {
    const { state, remainingMs = 0 } = running ?? {};
    if (!state || !unfinished.test(state.name)) return undefined;
    const isCounting = remainingMs >= 1000 && /^(awaiting-funds|partially-paid)$/.test(state.name);
    // The name is constant: a screen reader would announce a new one every second while the button has focus.
    return html`${text('continuePayment')}${
      isCounting
        ? html`<span class="left" aria-hidden="true"> · <bdi>${minutesAndSeconds(remainingMs)}</bdi></span>`
        : nothing
    }`;
  }

  /** @param content the card, whose heading names the dialog */
  render(content: TemplateResult, { text, merchantName, total }: FirstContext): TemplateResult {
    // eslint-disable-next-line lit-a11y/click-events-have-key-events -- a dialog closes with Escape natively
    return html`<dialog
      part="dialog"
      aria-labelledby="heading"
      @close=${this.#onClose}
      @pointerdown=${this.#onPointerDown}
      @click=${this.#onClick}
    >
      <div class="bar">
        ${merchantName ? html`<b part="merchant"><bdi>${merchantName}</bdi></b>` : nothing}
        ${total ? html`<b part="total"><bdi dir="ltr">${total}</bdi></b>` : nothing}
        <button
          part="close"
          class="close"
          type="button"
          aria-label=${text('close')}
          @click=${() => this.close()}
        >
          <svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
            <path d="M6 6l12 12M18 6 6 18" />
          </svg>
        </button>
      </div>
      ${content}
    </dialog>`;
  }

  get #dialog(): HTMLDialogElement | undefined {
    return this.#host.shadowRoot?.querySelector('dialog') ?? undefined;
  }

  /** Events of the dialog that were handled already. They arrive later, when the dialog may be open again. */
  #closesToCome = 0;

  readonly #onClose = (): void => {
    if (this.#closesToCome > 0) this.#closesToCome -= 1;
    else this.#finish();
  };

  #isPressOnBackdrop = false;

  /** A text selection that ends outside is not a press on the backdrop. */
  readonly #onPointerDown = (event: PointerEvent): void => {
    this.#isPressOnBackdrop = isOnBackdrop(event);
  };

  readonly #onClick = (event: MouseEvent): void => {
    if (this.#isPressOnBackdrop && isOnBackdrop(event)) this.close();
    this.#isPressOnBackdrop = false;
  };

  #finish(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#unlock();
    if (this.#dialog?.open) {
      this.#dialog.close();
      this.#closesToCome += 1;
    }
    const target = this.#returnTo?.isConnected ? this.#returnTo : this.#trigger;
    if (this.#host.isConnected) target?.focus({ preventScroll: true });
    this.#returnTo = undefined;
    this.#onClosed();
  }

  /** Safari does not focus a button that is pressed, so there may be nothing to return to. */
  get #trigger(): HTMLElement | undefined {
    const slot = this.#host.shadowRoot?.querySelector<HTMLSlotElement>('slot[name=trigger]');
    const [trigger = slot?.querySelector('button')] = slot?.assignedElements() ?? [];
    return trigger instanceof HTMLElement ? trigger : undefined;
  }

  #unlock(): void {
    this.#unlockScroll?.();
    this.#unlockScroll = undefined;
  }
}

/** 1,752,000 → "29:12". An hour or more is shown in minutes. */
function minutesAndSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** A click on the backdrop has the dialog itself as its target, and is outside its box. */
function isOnBackdrop({ target, clientX, clientY }: MouseEvent): boolean {
  if (!(target instanceof HTMLDialogElement)) return false;
  const { left, right, top, bottom } = target.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

function focusedElement(): HTMLElement | undefined {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element instanceof HTMLElement && element !== document.body ? element : undefined;
}

/** Several checkouts can be open, one above the other. The last one to close lets the page scroll again. */
let locks = 0;
let overflowBefore = '';
let gutterBefore = '';

/** @returns undoes it */
function lockScroll(): () => void {
  const { style, clientWidth } = document.documentElement;
  if (locks === 0) {
    overflowBefore = style.overflow;
    gutterBefore = style.scrollbarGutter;
    // Without its scroll bar, the page would become wider and jump.
    if (innerWidth > clientWidth) style.scrollbarGutter = 'stable';
    style.overflow = 'hidden';
  }
  locks += 1;
  return () => {
    locks -= 1;
    if (locks > 0) return;
    style.overflow = overflowBefore;
    style.scrollbarGutter = gutterBefore;
  };
}
