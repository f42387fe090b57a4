/** The view without a payment: not started, being created, or failed to start. */
import { html } from 'lit';
import type { CreatingState, FailedState, IdleState } from '../checkout/state.js';
import type { FirstContext, View } from './view.js';

/** @param changed the sentence about a price that has changed */
export function idleView(
  state: IdleState | CreatingState | FailedState,
  { text, start, total, canStart, offer }: FirstContext,
  changed?: string,
): View {
  if (state.name === 'error') {
    return {
      heading: text('failedHeading'),
      sentence: text('failedStatus'),
      action: { label: text('tryAgain'), run: start },
    };
  }
  const isStarting = state.name === 'creating';
  // A known payment is still being looked up. The button asks at once.
  const isBusy = isStarting && !state.problem;
  const isStuck = isStarting && !isBusy;
  return {
    heading: text('idleHeading'),
    sentence: changed ?? text(isStarting ? 'creatingStatus' : 'idleStatus'),
    action: !canStart
      ? undefined
      : {
          label: text(isStuck ? 'tryAgain' : total ? 'payAmount' : 'pay', { amount: total ?? '' }),
          run: start,
        },
    // Two empty lines keep its place, so that nothing moves.
    more: html`<p part="offer" class="quiet">${offer ?? html`<br /><br />`}</p>`,
    isBusy,
  };
}
