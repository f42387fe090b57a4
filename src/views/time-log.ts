/** The payment's time log, newest entry last. */
import { html, nothing, type TemplateResult } from 'lit';
import type { LogEntry, Payment } from '../contract/checkout.js';
import type { ViewContext } from './view.js';

export function timeLog(
  { transactionTimeLog }: Payment,
  context: ViewContext,
): TemplateResult | typeof nothing {
  if (!context.hasTimeLog) return nothing;
  const { text, locale, copy } = context;
  return html`<details part="time-log">
    <summary>${text('log')}</summary>
    <ol part="log">
      ${transactionTimeLog.map(
        ({ time, type, event }) =>
          html`<li class=${type}>
            <span>${event}</span>
            <time datetime=${time}>${localTime(time, locale)}</time>
          </li>`,
      )}
    </ol>
    <button
      part="copy-log"
      class="quiet-button"
      type="button"
      @click=${() => copy('log', logText(transactionTimeLog), text('copied'))}
    >
      ${text('copyLog')}
    </button>
  </details>`;
}

/** One line per entry, with the server's times: for an email to support. */
export function logText(entries: readonly LogEntry[]): string {
  return entries.map(({ time, event }) => `${time} ${event}`).join('\n');
}

function localTime(time: string, locale: string | undefined): string {
  return new Date(time).toLocaleString(locale, {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  });
}
