/** The time left to pay, drawn and spoken. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

/** Half an hour is the usual time to pay; the bar is full above it. */
const fullMs = 30 * 60_000;

export function countdown({ text, remainingMs }: ViewContext): TemplateResult | typeof nothing {
  if (remainingMs === undefined) return nothing;
  // Rounded down: the server's time is known to the second, and the payer must not be promised more.
  const seconds = Math.floor(remainingMs / 1000);
  const share = Math.min(1, remainingMs / fullMs);
  return html`<div class="time ${seconds <= 60 ? 'urgent' : ''}">
    <svg class="ring" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <circle cx="10" cy="10" r="8" />
      <circle cx="10" cy="10" r="8" pathLength="1" stroke-dasharray="${share} 1" />
    </svg>
    ${text('timeLeft')}
    <span part="countdown" role="timer" aria-label=${text('timeLeft')}>${clockFace(seconds)}</span>
    <span class="unseen" aria-live="polite">${spoken(seconds, text)}</span>
  </div>`;
}

/** 754 → "12:34"; hours only where there are any. */
export function clockFace(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Changes at 5 minutes, 1 minute and 30 seconds only, so that a screen reader speaks no more often. */
function spoken(seconds: number, text: ViewContext['text']): string {
  if (seconds > 300 || seconds === 0) return '';
  if (seconds > 60) return text('fiveMinutes');
  return text(seconds > 30 ? 'oneMinute' : 'thirtySeconds');
}
