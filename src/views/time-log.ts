/** The payment's time log, newest entry last. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { LogEntry, Payment } from '../contract/checkout.js';
import type { MessageKey } from '../messages/en.js';
import { disclosure } from './disclosure.js';
import { networkName } from './quoted.js';
import type { ViewContext } from './view.js';

export function timeLog({ payment }: TrackedState, context: ViewContext): TemplateResult | typeof nothing {
  if (!context.hasTimeLog) return nothing;
  const { text, locale, copy } = context;
  const { transactionTimeLog } = payment;
  const content = html`<ol part="log">
      ${transactionTimeLog.map(
        (entry) =>
          html`<li class=${entry.type}>
            <span>${entryText(entry, payment, context)}</span>
            <time datetime=${entry.time}>${localTime(entry.time, locale())}</time>
          </li>`,
      )}
    </ol>
    <button
      part="copy-log"
      class="quiet-button"
      type="button"
      @click=${() => copy('log', logText(payment, context), text('copied'))}
    >
      ${text('copyLog')}
    </button>`;
  return disclosure('log', 'time-log', text('log'), content, context);
}

/** One line per entry, with the server's times: for an email to support. */
export function logText(payment: Payment, context: ViewContext): string {
  return payment.transactionTimeLog
    .map((entry) => `${entry.time} ${entryText(entry, payment, context)}`)
    .join('\n');
}

/** In the payer's language, if the server sends codes and this page knows the code; otherwise the server's own text. */
export function entryText({ code, values, event }: LogEntry, payment: Payment, context: ViewContext): string {
  const { text, money } = context;
  // A newer server may send codes without a text here.
  const key = `log_${code}` as MessageKey;
  if (!text(key)) return event;
  const { currency = payment.currency ?? '', network = '', ...amounts } = values ?? {};
  const named = network === payment.currencyNetwork ? networkName(payment) : network;
  const { confirmations = '' } = amounts;
  const shown: Record<string, string> = { currency, network: named };
  for (const [name, amount = ''] of Object.entries(amounts)) shown[name] = money(amount, currency);
  return text(key, { ...shown, confirmations: Number(confirmations) });
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
