/** The actions below the main one: back, another coin, cancel. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View, ViewContext } from './view.js';

export function minorActions(view: View, context: ViewContext): TemplateResult | typeof nothing {
  const { canGoBack, canCancel } = view;
  const { text, dispatch, cancel, ask, question, afterQr, hasNext } = context;
  const canRestart = view.canRestart && hasNext;
  if (!canGoBack && !canCancel && !canRestart) return nothing;
  if (question && afterQr) return afterQr.questionPanel(question, context);
  const button = (part: 'back' | 'cancel' | 'restart', run: () => void) =>
    html`<button id=${part} part=${part} type="button" class="quiet-button" @click=${run}>
      ${text(part)}
    </button>`;
  return html`<div class="minor">
    ${canGoBack ? button('back', () => dispatch({ type: 'went-back' })) : nothing}
    ${canRestart ? button('restart', () => ask('restart')) : nothing}
    ${
      // Before the lock there is no address, so nothing can be under way.
      canCancel ? button('cancel', canRestart ? () => ask('cancel') : cancel) : nothing
    }
  </div>`;
}
