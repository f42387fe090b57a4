/** Between the choice and the lock. It passes by itself; only a lock that failed needs a press. */
import { previousChoice, type QuotedState } from '../checkout/state.js';
import type { View, ViewContext } from './view.js';

export function quotedView(state: QuotedState, { text, money, dispatch }: ViewContext): View {
  const { payment, problem } = state;
  const { currency = '', amount = 0 } = payment;
  const isBusy = problem === undefined;
  const values = { amount: money(amount, currency), network: networkName(payment) };
  return {
    heading: text('quotedHeading'),
    sentence: isBusy ? text('lockingStatus') : text('quotedStatus', values),
    action: isBusy ? undefined : { label: text('tryAgain'), run: () => dispatch({ type: 'continued' }) },
    isBusy,
    canGoBack: !isBusy && previousChoice(state) !== undefined,
    canCancel: true,
  };
}

/** The network's name, or its code if the server sends no names. */
export function networkName({ networkName, currencyNetwork = '' }: QuotedState['payment']): string {
  return networkName ?? currencyNetwork;
}
