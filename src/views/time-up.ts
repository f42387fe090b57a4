/** Time is up: hides everything that could still be paid while the last check runs. */
import { html } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import { badge } from './badge.js';
import { checkLine } from './check-line.js';
import { countdown } from './countdown.js';
import { receivedOf, transactionList } from './receipt.js';
import type { View, ViewContext } from './view.js';
import { wrongAssets } from './wrong-assets.js';

export function timeUpView(state: TrackedState, context: ViewContext): View {
  const { text, money, afterQr } = context;
  const { payment } = state;
  const { currency = '', amount = 0 } = payment;
  const received = receivedOf(payment);
  // It came in time, and only waits for its confirmations.
  const values = { seen: money(received, currency), amount: money(amount, currency) };
  return {
    heading: text('timeUpHeading'),
    sentence: `${received > 0 ? `${text('timeUpPart', values)} ` : ''}${text('timeUp')}`,
    time: countdown(context),
    content: html`${wrongAssets(state, context)} ${transactionList(payment, context)} ${checkLine(context)}`,
    more: html`${afterQr?.help(state, context)}`,
    badge: badge('waiting'),
  };
}
