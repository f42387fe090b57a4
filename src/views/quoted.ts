/** The state between the choice and the lock. It passes automatically; only a failed lock needs a press. */
import { networksOf, previousChoice, type QuotedState } from '../checkout/state.js';
import { picker } from './choosing.js';
import type { View, ViewContext } from './view.js';

export function quotedView(state: QuotedState, context: ViewContext): View {
  const { text, money, dispatch } = context;
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
    content: isBusy ? list(state, context) : undefined,
    action: isBusy ? undefined : again,
    isBusy,
    canGoBack: canGoBack && !isRefused,
    canCancel: true,
  };
}

/** The list keeps its place until the address is there. A page that names both coin and network has shown none. */
function list({ payment }: QuotedState, context: ViewContext): View['content'] {
  const { currency, currencyNetwork: network } = payment;
  if (!payment.currencyOptions?.length) return undefined;
  const hasNetworks = networksOf(payment, currency).length > 1;
  const name = hasNetworks ? 'choosing-network' : 'choosing-currency';
  return picker({ name, payment, currency, network, query: '', isSetting: true }, context);
}

/** The network's name, or its code if the server sends no names. */
export function networkName({ networkName, currencyNetwork = '' }: QuotedState['payment']): string {
  return networkName ?? currencyNetwork;
}
