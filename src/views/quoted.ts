/** The state between the choice and the lock. It passes automatically; only a failed lock needs a press. */
import { previousChoice, type QuotedState } from '../checkout/state.js';
import type { View, ViewContext } from './view.js';

export function quotedView(state: QuotedState, { text, money, dispatch }: ViewContext): View {
  const { payment, problem } = state;
  const { currency = '', amount = 0 } = payment;
  const isBusy = problem === undefined;
  const canGoBack = !isBusy && previousChoice(state) !== undefined;
  // The same coin would be refused again.
  const isRefused = canGoBack && /^(unsupported_currency|amount_below_minimum)$/.test(problem.code);
  const again = {
    label: text(isRefused ? 'restart' : 'tryAgain'),
    run: () => dispatch({ type: isRefused ? 'went-back' : 'continued' }),
  };
  const values = { amount: money(amount, currency), network: networkName(payment) };
  return {
    heading: text('quotedHeading'),
    sentence: isRefused ? '' : text(isBusy ? 'quotedHeading' : 'quotedStatus', values),
    isOnlySpoken: isBusy,
    action: isBusy ? undefined : again,
    isBusy,
    canGoBack: canGoBack && !isRefused,
    canCancel: true,
  };
}

/** The network's name, or its code if the server sends no names. */
export function networkName({ networkName, currencyNetwork = '' }: QuotedState['payment']): string {
  return networkName ?? currencyNetwork;
}
