/** The coin picker and the network picker. */
import { html, nothing, type TemplateResult } from 'lit';
import { currenciesOf, networksOf, previousChoice, type ChoosingState } from '../checkout/state.js';
import type { CurrencyOption } from '../contract/checkout.js';
import { coinIcon, networkIcon } from './icons.js';
import { networkFacts } from './networks.js';
import type { View, ViewContext } from './view.js';

const minCoinsForSearch = 8;
/** Shown first, in this order. The others follow in the server's order. */
const popularCodes = [
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
  const common = {
    action: { label: text('continue'), run: () => dispatch({ type: 'continued' }) },
    isBusy: state.isSetting,
    canGoBack: previousChoice(state) !== undefined,
    canCancel: true,
  };
  if (state.name === 'choosing-network') {
    return {
      ...common,
      heading: text('networkHeading'),
      sentence: text('networkStatus', { currency: state.currency ?? '' }),
      content: networkPicker(state, context),
    };
  }
  const hasOptions = currenciesOf(state.payment).length > 0;
  return {
    ...common,
    ...(!hasOptions && { action: { label: text('tryAgain'), run: context.refresh } }),
    heading: text('currencyHeading'),
    sentence: text(hasOptions ? 'currencyStatus' : 'noOptions'),
    content: hasOptions ? currencyPicker(state, context) : undefined,
  };
}

function currencyPicker(state: ChoosingState, context: ViewContext): TemplateResult {
  const { text, money, dispatch } = context;
  const { query } = state;
  const all = sortByPopularity(currenciesOf(state.payment), (option) => option.currency);
  const needle = query.trim().toLowerCase();
  const found = all.filter((option) => `${option.currency} ${option.name}`.toLowerCase().includes(needle));
  return html`
    ${
      all.length < minCoinsForSearch
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
    ${radioGroup(
      text('currency'),
      found.map((option) =>
        radioOption('currency', option.currency, option.currency === state.currency, context, {
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
  const options = sortByPopularity(networksOf(state.payment, state.currency), (option) => option.network);
  return html`
    ${radioGroup(
      text('network'),
      options.map((option) =>
        radioOption('network', option.network, option.network === state.network, context, {
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

function radioGroup(name: string, options: TemplateResult[]): TemplateResult {
  return html`<fieldset part="options" role="radiogroup" aria-labelledby="legend">
    <legend id="legend">${name}</legend>
    ${options}
  </fieldset>`;
}

interface OptionLabel {
  readonly icon: TemplateResult;
  readonly name: TemplateResult | string;
  readonly detail: string;
}

function radioOption(
  kind: 'currency' | 'network',
  value: string,
  isPicked: boolean,
  { dispatch }: ViewContext,
  { icon, name, detail }: OptionLabel,
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

function sortByPopularity(
  options: CurrencyOption[],
  codeOf: (option: CurrencyOption) => string,
): CurrencyOption[] {
  const rank = (option: CurrencyOption) => {
    const index = popularCodes.indexOf(codeOf(option));
    return index === -1 ? popularCodes.length : index;
  };
  return [...options].sort((a, b) => rank(a) - rank(b));
}
