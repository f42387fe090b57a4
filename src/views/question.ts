/** The question before an action that cannot be undone. */
import { html, type TemplateResult } from 'lit';
import type { Question, ViewContext } from './view.js';

/**
 * Asks once, in place of the button that was pressed, and says what happens to money under way. @param seen the amount
 * that the shop has already
 */
export function questionPanel(
  question: Question,
  { text, ask, cancel, restart, start, isCancelling }: ViewContext,
  seen = '',
): TemplateResult {
  const [title, no, yes, run] = (
    {
      cancel: ['cancelQuestion', 'keepPaying', 'cancelConfirm', cancel],
      restart: ['restartQuestion', 'keepPaying', 'restartConfirm', restart],
      again: ['againQuestion', 'stay', 'newPayment', start],
    } as const
  )[question];
  const keep = () => {
    if (!isCancelling) ask(undefined);
  };
  return html`<div
    part="question"
    class="question"
    role="group"
    aria-labelledby="question"
    aria-describedby="question-warning"
    aria-busy=${isCancelling}
  >
    <b id="question">${text(title)}</b>
    <p id="question-warning">${text(question === 'again' ? 'againWarning' : 'cancelWarning', { seen })}</p>
    <div class="pair">
      <button id="keep" part="keep" type="button" class="second" aria-disabled=${isCancelling} @click=${keep}>
        ${text(no)}
      </button>
      <button part="confirm" type="button" class="second" aria-disabled=${isCancelling} @click=${run}>
        ${text(yes)}
      </button>
    </div>
  </div>`;
}
