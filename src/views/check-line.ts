/**
 * The line that shows that the payment is watched, and the result of the last check. A lost connection is announced by
 * its own live region.
 */
import { html, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

export function checkLine({ text, check, checkResult, isReconnecting }: ViewContext): TemplateResult {
  return html`<div class="check">
    <i class="pulse ${isReconnecting ? 'lost' : ''}"></i>
    <p part="check" aria-live="polite">
      <span aria-hidden=${isReconnecting && !checkResult}
        >${checkResult || text(isReconnecting ? 'reconnecting' : 'watching')}</span
      >
    </p>
    <button part="check-now" class="quiet-button" type="button" @click=${check}>${text('checkNow')}</button>
  </div>`;
}
