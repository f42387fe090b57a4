/** The pickers: which coin to pay with, and on which network. */
import { html, nothing, type TemplateResult } from 'lit';
import type { CurrencyOption } from '../contract/checkout.js';
import { currenciesOf, networksOf, previousChoice, type ChoosingState } from '../state.js';
import { coinIcon, networkIcon } from './icons.js';
import { networkFacts } from './networks.js';
import type { View, ViewContext } from './view.js';

const searchFrom = 8;
/** The most used first; what is not listed keeps the server's order behind them. */
const popular = [
  'USDT',
  'BTC',
  'ETH',
  'USDC',
  'BNB',
  'TRX',
  'LTC',
  'tron',
  'bsc',
  'ethereum',
  'polygon',
  'base',
];

export function choosingView(state: ChoosingState, context: ViewContext): View {
  const { text, dispatch } = context;
  const shared = {
    action: { label: text('continue'), run: () => dispatch({ type: 'continued' }) },
    isBusy: state.isSetting,
    canGoBack: previousChoice(state) !== undefined,
    canCancel: true,
  };
  if (state.name === 'choosing-network') {
    return {
      ...shared,
      heading: text('networkHeading'),
      sentence: text('networkStatus', { currency: state.currency ?? '' }),
      content: networkPicker(state, context),
    };
  }
  const hasOptions = currenciesOf(state.payment).length > 0;
  return {
    ...shared,
    ...(!hasOptions && { action: { label: text('tryAgain'), run: context.refresh } }),
    heading: text('currencyHeading'),
    sentence: text(hasOptions ? 'currencyStatus' : 'noOptions'),
    content: hasOptions ? currencyPicker(state, context) : undefined,
  };
}

function currencyPicker(state: ChoosingState, context: ViewContext): TemplateResult {
  const { text, money, dispatch } = context;
  const { query } = state;
  const all = byUse(currenciesOf(state.payment), (option) => option.currency);
  const wanted = query.trim().toLowerCase();
  const found = all.filter((option) => `${option.currency} ${option.name}`.toLowerCase().includes(wanted));
  return html`
    ${
      all.length < searchFrom
        ? nothing
        : html`<input
            part="search"
            class="search"
            type="search"
            aria-label=${text('search')}
            placeholder=${text('search')}
            .value=${query}
            @input=${({ target }: Event) => {
              if (target instanceof HTMLInputElement) dispatch({ type: 'searched', query: target.value });
            }}
          />`
    }
    ${picker(
      text('currency'),
      found.map((option) =>
        choice('currency', option.currency, option.currency === state.currency, context, {
          icon: coinIcon(option.currency),
          name:
            option.name === option.currency
              ? option.name
              : html`${option.name} <small>${option.currency}</small>`,
          detail: option.amount > 0 ? `≈ ${money(option.amount, option.currency)}` : '',
        }),
      ),
    )}
    ${found.length === 0 ? html`<p class="quiet">${text('noMatch', { query })}</p>` : nothing}
  `;
}

function networkPicker(state: ChoosingState, context: ViewContext): TemplateResult {
  const { text } = context;
  const options = byUse(networksOf(state.payment, state.currency), (option) => option.network);
  return html`
    ${picker(
      text('network'),
      options.map((option) =>
        choice('network', option.network, option.network === state.network, context, {
          icon: networkIcon(option.network),
          name: option.networkName,
          detail: networkDetail(option, context),
        }),
      ),
    )}
    <p part="warning" class="warning">${text('networkWarning')}</p>
  `;
}

function networkDetail({ network, confirmations }: CurrencyOption, { text }: ViewContext): string {
  const facts = networkFacts(network);
  if (!facts) return '';
  const minutes = Math.max(1, Math.ceil((facts.blockSeconds * confirmations) / 60));
  return `${text(facts.isCheap ? 'networkFeeLow' : 'networkFeeHigh')} · ${text('minutes', { minutes })}`;
}

function picker(name: string, choices: TemplateResult[]): TemplateResult {
  return html`<fieldset part="options" role="radiogroup" aria-labelledby="legend">
    <legend id="legend">${name}</legend>
    ${choices}
  </fieldset>`;
}

interface Look {
  readonly icon: TemplateResult;
  readonly name: TemplateResult | string;
  readonly detail: string;
}

function choice(
  kind: 'currency' | 'network',
  value: string,
  isPicked: boolean,
  { dispatch }: ViewContext,
  { icon, name, detail }: Look,
): TemplateResult {
  const pick = () =>
    dispatch(kind === 'currency' ? { type: 'picked', currency: value } : { type: 'picked', network: value });
  return html`<label part="option" class="option">
    <input
      type="radio"
      name=${kind}
      .value=${value}
      required
      aria-labelledby="name-${value}"
      aria-describedby="detail-${value}"
      .checked=${isPicked}
      @change=${pick}
    />
    ${icon}
    <span id="name-${value}">${name}</span>
    <small id="detail-${value}" class="detail">${detail}</small>
  </label>`;
}

function byUse(options: CurrencyOption[], codeOf: (option: CurrencyOption) => string): CurrencyOption[] {
  const rank = (option: CurrencyOption) => {
    const index = popular.indexOf(codeOf(option));
    return index === -1 ? popular.length : index;
  };
  return [...options].sort((a, b) => rank(a) - rank(b));
}
