/** The line that says that the payment is watched, and what the last check saw. */
import { html, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

export function checkLine({ text, checkResult, isReconnecting }: ViewContext): TemplateResult {
  return html`<p part="check" class="check" aria-live="polite">
    <i class="pulse ${isReconnecting ? 'lost' : ''}"></i
    ><span>${checkResult || text(isReconnecting ? 'reconnecting' : 'watching')}</span>
  </p>`;
}
