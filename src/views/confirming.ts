/** The full amount was seen, and its confirmations are counted. */
import { html, nothing } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import { badge } from './badge.js';
import { checkLine } from './check-line.js';
import { minutesFor } from './minutes.js';
import { transactionList } from './receipt.js';
import { timeLog } from './time-log.js';
import type { View, ViewContext } from './view.js';
import { wrongAssets } from './wrong-assets.js';

export function confirmingView(state: TrackedState, context: ViewContext): View {
  const { text, money } = context;
  const { payment } = state;
  const { currency = '', confirmations = 0, confirmationsRequired: required = 1, blockSeconds } = payment;
  const seen = money(payment.amountSeen ?? payment.amountReceived ?? 0, currency);
  const left = Math.max(1, required - confirmations);
  return {
    heading: text('confirmingHeading'),
    sentence: text('confirmingStatus', { seen, confirmations, required }),
    content: html`
      ${wrongAssets(state, context)}
      <progress
        part="progress"
        class=${confirmations === 0 ? 'moving' : ''}
        .value=${confirmations}
        .max=${required}
        aria-label=${text('confirmingHeading')}
      ></progress>
      ${
        blockSeconds === undefined
          ? nothing
          : html`<p class="quiet">${text('confirmingTime', { minutes: minutesFor(blockSeconds, left) })}</p>`
      }
      ${transactionList(payment, context)} ${checkLine(context)}
    `,
    more: html`${timeLog(state, context)}`,
    badge: badge('waiting'),
  };
}
