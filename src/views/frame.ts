/** The frame around every view: the card, heading, live regions and main action. */
import { html, nothing, type TemplateResult } from 'lit';
import type { keyed } from 'lit/directives/keyed.js';
import type { CheckoutState, CheckoutStatus } from '../checkout/state.js';
import type { FirstContext, View } from './view.js';

/** The parts of a payment's view. */
export interface Shown {
  readonly state: CheckoutState;
  readonly view: View;
  /** The problem, details for a developer, and the reference for support. */
  readonly problem?:
    | {
        readonly text: string;
        readonly details?: string | undefined;
        readonly reference?: string | undefined;
      }
    | undefined;
  /** Draws the body of another view from nothing. Only a payment has several views. */
  readonly keyed?: typeof keyed;
  /** Live regions over the card's lower edge: the connection, and what was just copied or joined. Only a payment has them. */
  readonly notices?: TemplateResult;
}

export interface FrameProps {
  /** The language of the texts, which can differ from the page's. English until another one is loaded. */
  readonly language: { readonly code: string; readonly isRtl: boolean } | undefined;
  readonly header: TemplateResult | typeof nothing;
  /** Called when the pointer or focus enters the card, before any press. */
  readonly preload: () => void;
}

/** Changes when the view does. Focus moves between views, and these states share one. */
export function viewKey(status: CheckoutStatus): string {
  if (status === 'creating') return 'idle';
  if (status === 'locking') return 'quoted';
  return status === 'partially-paid' ? 'awaiting-funds' : status;
}

/** The heading and live regions keep their elements across views: screen readers announce only changes to them. */
export function frame(shown: Shown, props: FrameProps, { text, isTest }: FirstContext): TemplateResult {
  const { state, view, problem } = shown;
  const { language, header, preload } = props;
  const isBusy = view.isBusy === true;
  // A frame that is sandboxed without `allow-forms` submits nothing, so a press runs the action, and is then no submission.
  const act = (event: Event) => {
    event.preventDefault();
    if (!view.isBusy) view.action?.run();
  };
  const body = html`<div class="body">
    ${view.content}
    ${
      view.action
        ? html`<button part="action" class="action" type="submit" aria-disabled=${isBusy} @click=${act}>
            ${view.action.label}
          </button>`
        : nothing
    }
    ${view.more}
  </div>`;
  return html`<div class="box">
    <form
      part="card"
      class="card"
      lang=${language?.code ?? 'en'}
      dir=${language?.isRtl ? 'rtl' : 'ltr'}
      aria-labelledby="heading"
      aria-busy=${isBusy}
      @submit=${act}
      @pointerenter=${preload}
      @focusin=${preload}
    >
      ${isTest ? html`<p part="test-mode" class="test">${text('testMode')}</p>` : nothing}
      <div class="order"><slot name="header">${header}</slot>${view.side}</div>
      <div class="pay">
        <div class="title">
          ${view.badge}
          <h2 id="heading" part="heading" tabindex="-1">${view.heading}</h2>
          ${view.time}
        </div>
        <p part="status" class=${view.isOnlySpoken ? 'unseen' : 'status'} role="status">${view.sentence}</p>
        ${
          problem
            ? html`<div part="error" class="error" role="alert">
                ${problem.text}
                ${problem.details ? html`<small lang="en" dir="ltr">${problem.details}</small>` : nothing}
                ${problem.reference ? html`<small>${problem.reference}</small>` : nothing}
              </div>`
            : nothing
        }
        ${
          // Elements that move are rendered again in their new place, so nothing seems to jump.
          shown.keyed?.(viewKey(state.name), body) ?? body
        }
        <slot name="footer"></slot>
      </div>
      ${shown.notices}
    </form>
  </div>`;
}
