/** The view without a payment: not started, being created, or failed to start. */
import { html } from 'lit';
import type { CreatingState, FailedState, IdleState } from '../checkout/state.js';
import type { FirstContext, View } from './view.js';

export function idleView(
  state: IdleState | CreatingState | FailedState,
  { text, money, start, total, canStart, offer }: FirstContext,
): View {
  if (state.name === 'error') {
    return {
      heading: text('failedHeading'),
      sentence: text('failedStatus'),
      action: { label: text('tryAgain'), run: start },
    };
  }
  const isBusy = state.name === 'creating';
  const outdated = state.name === 'idle' ? state.outdated : undefined;
  const sentence = outdated
    ? text('changedStatus', {
        old: money(outdated.baseAmount, outdated.baseCurrency),
        amount: total ?? '',
      })
    : text(isBusy ? 'creatingStatus' : 'idleStatus');
  return {
    heading: text('idleHeading'),
    sentence,
    action: !canStart
      ? undefined
      : { label: total === undefined ? text('pay') : text('payAmount', { amount: total }), run: start },
    // Two empty lines keep its place, so that nothing moves.
    more: html`<p part="offer" class="quiet">${offer ?? html`<br /><br />`}</p>`,
    isBusy,
  };
}
