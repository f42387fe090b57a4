/** The view without a payment: not started, being created, or failed to start. */
import type { CreatingState, FailedState, IdleState } from '../checkout/state.js';
import type { View, ViewContext } from './view.js';

export function idleView(
  { name }: IdleState | CreatingState | FailedState,
  { text, start }: ViewContext,
): View {
  if (name === 'error') {
    return {
      heading: text('failedHeading'),
      sentence: text('failedStatus'),
      action: { label: text('tryAgain'), run: start },
      badge: 'failure',
    };
  }
  const isBusy = name === 'creating';
  return {
    heading: text('idleHeading'),
    sentence: text(isBusy ? 'creatingStatus' : 'idleStatus'),
    action: { label: text('pay'), run: start },
    isBusy,
  };
}
