/** The time left to pay, with announcements for screen readers. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

export function countdown({ text, remainingMs }: ViewContext): TemplateResult | typeof nothing {
  if (remainingMs === undefined) return nothing;
  // Rounded down: we know the server's time only to the second, and must not promise more than is left.
  const seconds = Math.floor(remainingMs / 1000);
  const urgency = seconds <= 60 ? 'urgent' : seconds <= 300 ? 'soon' : '';
  return html`<div class="time ${urgency}">
    <svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d=${urgency ? 'M12 3 22 21H2zM12 10v5m0 3v.1' : 'M12 3a9 9 0 1 0 .1 0M12 7v5l3 3'} />
    </svg>
    ${urgency && seconds > 0 ? html`<small>${text(urgency)}</small>` : nothing}
    <span part="countdown" dir="ltr" translate="no" role="timer" aria-label=${text('timeLeft')}
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
