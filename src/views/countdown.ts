/** The time left to pay, with announcements for screen readers. */
import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

/** The usual time to pay. The ring is full at this and above. */
const fullRingMs = 30 * 60_000;

export function countdown({ text, remainingMs }: ViewContext): TemplateResult | typeof nothing {
  if (remainingMs === undefined) return nothing;
  // Rounded down: we know the server's time only to the second, and must not promise more than there is.
  const seconds = Math.floor(remainingMs / 1000);
  const share = Math.min(1, remainingMs / fullRingMs);
  const urgency = seconds <= 60 ? 'urgent' : seconds <= 300 ? 'soon' : '';
  return html`<div class="time ${urgency}">
    <svg class="ring" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      ${
        urgency
          ? svg`<path d="M10 2 19 18H1zM10 8v4m0 3v.1" />`
          : svg`<circle cx="10" cy="10" r="8" /><circle cx="10" cy="10" r="8" pathLength="1" stroke-dasharray="${share} 1" />`
      }
    </svg>
    ${urgency ? html`<small>${text(urgency)}</small>` : nothing}
    <span part="countdown" dir="ltr" role="timer" aria-label=${text('timeLeft')}
      >${formatSeconds(seconds)}</span
    >
    <span class="unseen" aria-live="polite">${announcement(seconds, text)}</span>
  </div>`;
}

/** 754 → "12:34"; with hours only if there are any. */
function formatSeconds(seconds: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours > 0
    ? `${hours}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`
    : `${minutes}:${twoDigits(seconds % 60)}`;
}

/** Changes only at 5 minutes, 1 minute and 30 seconds, so that a screen reader does not speak every second. */
function announcement(seconds: number, text: ViewContext['text']): string {
  if (seconds > 300 || seconds === 0) return '';
  if (seconds > 60) return text('fiveMinutes');
  return text(seconds > 30 ? 'oneMinute' : 'thirtySeconds');
}
