/** The frame around every view: the card, heading, live regions, main action, back and cancel. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View, ViewContext } from './view.js';

export interface FrameProps {
  readonly header: TemplateResult | typeof nothing;
  readonly isReconnecting: boolean;
  /** What went wrong, with the request id for support. */
  readonly problem: { readonly text: string; readonly requestId: string | undefined } | undefined;
  /** Confirms what was just copied; empty if nothing was. */
  readonly notice: string;
  /** Called when the pointer or focus enters the card, before anything is pressed. */
  readonly preload: () => void;
}

const badgePaths: Readonly<Record<NonNullable<View['badge']>, string>> = {
  success: 'm6 12.5 4 4 8-8.5',
  failure: 'M12 6v7.5m0 4v.01',
  waiting: 'M12 6.5V12l3.5 2',
};

/** The heading and live regions keep their elements across views: screen readers announce only changes to them. */
export function frame(view: View, props: FrameProps, context: ViewContext): TemplateResult {
  const { header, isReconnecting, problem, notice, preload } = props;
  const { text } = context;
  const isBusy = view.isBusy ? 'true' : 'false';
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!view.isBusy) view.action?.run();
  };
  return html`<form
    part="card"
    class="card"
    aria-labelledby="heading"
    aria-busy=${isBusy}
    @submit=${submit}
    @pointerenter=${preload}
    @focusin=${preload}
  >
    <slot name="header">${header}</slot>
    <div class="title">
      ${view.badge ? badge(view.badge) : nothing}
      <h2 id="heading" part="heading" tabindex="-1">${view.heading}</h2>
    </div>
    <p part="status" class="status" role="status">${view.sentence}</p>
    <p
      part="connection"
      class="quiet"
      aria-live="polite"
      .textContent=${isReconnecting ? text('reconnecting') : ''}
    ></p>
    ${
      problem
        ? html`<div part="error" class="error" role="alert">
            ${problem.text}
            ${problem.requestId ? html`<small>${text('problemReference', { requestId: problem.requestId })}</small>` : nothing}
          </div>`
        : nothing
    }
    ${view.content}
    ${
      view.action
        ? html`<button part="action" class="action" type="submit" aria-disabled=${isBusy}>
            ${view.action.label}
          </button>`
        : nothing
    }
    ${view.canGoBack || view.canCancel ? minorActions(view, context) : nothing}
    <p part="notice" class="notice" aria-live="polite" .textContent=${notice}></p>
    <slot name="footer"></slot>
  </form>`;
}

function badge(kind: NonNullable<View['badge']>): TemplateResult {
  return html`<svg part="badge" class="badge ${kind}" viewBox="0 0 24 24" aria-hidden="true">
    <path d=${badgePaths[kind]} />
  </svg>`;
}

function minorActions(
  { canGoBack, canCancel }: View,
  { text, dispatch, cancel }: ViewContext,
): TemplateResult {
  const button = (part: 'back' | 'cancel', run: () => void) =>
    html`<button part=${part} type="button" class="quiet-button" @click=${run}>${text(part)}</button>`;
  return html`<div class="minor">
    ${canGoBack ? button('back', () => dispatch({ type: 'went-back' })) : nothing}
    ${canCancel ? button('cancel', cancel) : nothing}
  </div>`;
}
