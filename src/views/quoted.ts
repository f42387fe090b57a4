/** The chosen coin and network with the quoted amount, before the lock. */
import { html } from 'lit';
import { previousChoice, type QuotedState } from '../checkout/state.js';
import { coinIcon } from './icons.js';
import type { View, ViewContext } from './view.js';

export function quotedView(state: QuotedState, { text, money, dispatch }: ViewContext): View {
  const { payment } = state;
  const { currency = '', amount = 0 } = payment;
  const isBusy = state.name === 'locking';
  return {
    heading: text('quotedHeading'),
    sentence: text(isBusy ? 'lockingStatus' : 'quotedStatus'),
    content: html`
      <dl part="summary" class="facts">
        <div>
          <dt>${text('youPay')}</dt>
          <dd class="icon-line">${coinIcon(currency)} <b>≈ ${money(amount, currency)}</b></dd>
        </div>
        <div>
          <dt>${text('network')}</dt>
          <dd>${networkName(payment)}</dd>
        </div>
      </dl>
    `,
    action: { label: text('continue'), run: () => dispatch({ type: 'continued' }) },
    isBusy,
    canGoBack: !isBusy && previousChoice(state) !== undefined,
    canCancel: true,
  };
}

/** The network's name, or its code if the server sends no names. */
export function networkName({ networkName, currencyNetwork = '' }: QuotedState['payment']): string {
  return networkName ?? currencyNetwork;
}
