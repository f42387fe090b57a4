/** The line that says that the payment is watched, and what the last check saw. A lost connection is heard from its own live region. */
import { html, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

export function checkLine({ text, checkResult, isReconnecting }: ViewContext): TemplateResult {
  return html`<p part="check" class="check" aria-live="polite">
    <i class="pulse ${isReconnecting ? 'lost' : ''}"></i
    ><span aria-hidden=${isReconnecting && !checkResult}
      >${checkResult || text(isReconnecting ? 'reconnecting' : 'watching')}</span
    >
  </p>`;
}
