/** What is the same in every view: the card, its heading and spoken lines, the main action, back and cancel. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View, ViewContext } from './view.js';

export interface Surroundings {
  readonly header: TemplateResult | typeof nothing;
  readonly isReconnecting: boolean;
  /** What did not work, and by which name support finds it. */
  readonly problem: { readonly text: string; readonly requestId: string | undefined } | undefined;
  /** What was copied a moment ago, or nothing. */
  readonly notice: string;
  /** Called when the payer comes near, before anything is pressed. */
  readonly prepare: () => void;
}

const badges: Readonly<Record<NonNullable<View['badge']>, string>> = {
  success: 'm6 12.5 4 4 8-8.5',
  failure: 'M12 6v7.5m0 4v.01',
  waiting: 'M12 6.5V12l3.5 2',
};

/** Live regions and the heading keep their elements from view to view, so that changes are spoken. */
export function frame(view: View, surroundings: Surroundings, context: ViewContext): TemplateResult {
  const { header, isReconnecting, problem, notice, prepare } = surroundings;
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
    @pointerenter=${prepare}
    @focusin=${prepare}
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
    <path d=${badges[kind]} />
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
