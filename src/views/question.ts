/** The question before something that cannot be undone. */
import { html, type TemplateResult } from 'lit';
import type { Question, ViewContext } from './view.js';

/** Asks once, beside the button that was pressed, and says what happens to money under way. */
export function questionPanel(
  question: Question,
  { text, ask, cancel, restart }: ViewContext,
): TemplateResult {
  const isCancel = question === 'cancel';
  return html`<div
    part="question"
    class="question"
    role="group"
    aria-labelledby="question"
    aria-describedby="question-warning"
  >
    <b id="question">${text(isCancel ? 'cancelQuestion' : 'restartQuestion')}</b>
    <p id="question-warning">${text('cancelWarning')}</p>
    <div class="pair">
      <button id="keep" part="keep" type="button" class="second" @click=${() => ask(undefined)}>
        ${text('keepPaying')}
      </button>
      <button part="confirm" type="button" class="second" @click=${isCancel ? cancel : restart}>
        ${text(isCancel ? 'cancelConfirm' : 'restartConfirm')}
      </button>
    </div>
  </div>`;
}
