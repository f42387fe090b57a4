/** The coin picker. The networks of a coin open beneath it. */
import { html, nothing, type TemplateResult } from 'lit';
import { currenciesOf, networksOf, previousChoice, type ChoosingState } from '../checkout/state.js';
import type { CurrencyOption } from '../contract/checkout.js';
import { coinIcon, networkIcon } from '../offer.js';
import { isolate } from './isolate.js';
import { minutesFor } from './minutes.js';
import type { View, ViewContext } from './view.js';

const minCoinsForSearch = 13;
/** Shown first, in this order. The others follow in the server's order. */
const popularCodes = ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC'];

export function choosingView(state: ChoosingState, context: ViewContext): View {
  const { text, dispatch, check } = context;
  const { payment, name, currency, network, isSetting } = state;
  const hasOptions = currenciesOf(payment).length > 0;
  const isNetwork = name === 'choosing-network';
  // Tapping an option continues automatically. The button is for payers who came back, or moved with the arrow keys.
  const canContinue = !isSetting && (isNetwork ? network : currency) !== undefined;
  const goOn = { label: text('continue'), run: () => dispatch({ type: 'continued' }) };
  return {
    heading: text(isNetwork ? 'networkHeading' : 'currencyHeading'),
    sentence: isSetting
      ? text('settingStatus')
      : !hasOptions
        ? text('noOptions')
        : text(isNetwork ? 'networkStatus' : 'currencyStatus', { currency: currency ?? '' }),
    isOnlySpoken: hasOptions,
    content: hasOptions ? picker(state, context) : undefined,
    action: hasOptions ? (canContinue ? goOn : undefined) : { label: text('tryAgain'), run: check },
    isBusy: isSetting,
    canGoBack: previousChoice(state) !== undefined,
    canCancel: true,
  };
}

/** The list, with the choice that is being carried out. */
export function picker(state: ChoosingState, context: ViewContext): TemplateResult {
  const { text, money, lastChoice } = context;
  const { payment, query, currency, name, isSetting } = state;
  const all = sort(currenciesOf(payment), lastChoice?.currency);
  const needle = query.trim().toLowerCase();
  const found = all.filter((option) => `${option.currency} ${option.name}`.toLowerCase().includes(needle));
  return html`
    ${all.length < minCoinsForSearch || name === 'choosing-network' ? nothing : searchField(query, context)}
    ${
      found.length === 0
        ? html`<p class="quiet">${text('noMatch', { query })}</p>`
        : html`<div part="options" class="options" role="radiogroup" aria-label=${text('currency')}>
            ${found.map((option) => {
              const isPicked = option.currency === currency;
              const networks = networksOf(payment, option.currency);
              const label = {
                icon: coinIcon(option.currency),
                name:
                  option.name === option.currency
                    ? option.name
                    : html`${option.name} <small>${option.currency}</small>`,
                // The exact amount is known from the lock on.
                detail:
                  option.amount > 0
                    ? `≈\u00a0${money(Number(option.amount.toPrecision(5)), option.currency)}`
                    : '',
                note: option.currency === lastChoice?.currency ? text('lastUsed') : '',
              };
              return html`${radioOption('currency', option.currency, isPicked, isSetting, context, label)}
              ${isPicked && name === 'choosing-network' ? networkPicker(networks, state, context) : nothing}`;
            })}
          </div>`
    }
  `;
}

function searchField(query: string, { text, dispatch }: ViewContext): TemplateResult {
  return html`<input
    part="search"
    class="search"
    type="search"
    aria-label=${text('search')}
    placeholder=${text('search')}
    .value=${query}
    @input=${({ target }: Event) => {
      if (target instanceof HTMLInputElement) dispatch({ type: 'searched', query: target.value });
    }}
  />`;
}

function networkPicker(
  networks: CurrencyOption[],
  { currency, network, isSetting }: ChoosingState,
  context: ViewContext,
): TemplateResult {
  const { text, lastChoice } = context;
  const last = lastChoice?.currency === currency ? lastChoice?.network : undefined;
  const options = [...networks].sort((a, b) => feeOf(a) - feeOf(b));
  const [first, second] = options;
  // Only the fee that is known to be the lowest is labelled as lowest.
  const cheapest = first && second && feeOf(first) < feeOf(second) ? first : undefined;
  const times = options.map(minutesOf);
  const hasOwnTimes = new Set(times).size > 1;
  return html`<div class="nested">
    <div part="options" class="options" role="radiogroup" aria-label=${text('network')}>
      ${options.map((option, index) => {
        const minutes = times[index];
        return radioOption('network', option.network, option.network === network, isSetting, context, {
          id: index === 0 ? 'first-network' : undefined,
          icon: networkIcon(option.network),
          name: option.networkName,
          detail: [
            option === cheapest ? text('lowestFee') : option.isCostly ? text('networkFeeHigh') : '',
            hasOwnTimes && minutes !== undefined ? text('minutes', { minutes }) : '',
          ]
            .filter(Boolean)
            .join(' · '),
          note: option.network === last ? text('lastUsed') : '',
        });
      })}
    </div>
    <p part="warning" class="warning">${text('networkWarning')}</p>
  </div>`;
}

/** The usual cost of sending, in dollars. Networks without a cost come last. */
function feeOf({ networkFee = Infinity }: CurrencyOption): number {
  return networkFee;
}

function minutesOf({ blockSeconds, confirmations }: CurrencyOption): number | undefined {
  return blockSeconds === undefined ? undefined : minutesFor(blockSeconds, confirmations);
}

interface OptionLabel {
  readonly id?: string | undefined;
  readonly icon: TemplateResult;
  readonly name: TemplateResult | string;
  readonly detail: string;
  readonly note: string;
}

/** True while an arrow key moves through the options. Browsers report that as a click as well. */
let isMovingByKey = false;
/** The option on which Space went down. */
let pressed: EventTarget | undefined | null;

function radioOption(
  kind: 'currency' | 'network',
  value: string,
  isPicked: boolean,
  isSetting: boolean,
  { dispatch }: ViewContext,
  { id, icon, name, detail, note }: OptionLabel,
): TemplateResult {
  const option = kind === 'currency' ? { currency: value } : { network: value };
  const choose = (event: Event) => {
    // While a choice is being sent, another one is ignored. Without this, the browser would mark it anyway.
    if (isSetting) event.preventDefault();
    else dispatch({ type: isMovingByKey ? 'picked' : 'chosen', ...option });
  };
  const onKeydown = (event: KeyboardEvent) => {
    isMovingByKey = event.key.startsWith('Arrow');
    if (event.key === ' ') pressed = event.target;
    // Held down, Enter would choose the first network as well.
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (!event.repeat) choose(event);
  };
  const onKeyup = (event: KeyboardEvent) => {
    isMovingByKey = false;
    const isPress = event.key === ' ' && pressed === event.target;
    pressed = undefined;
    // Chromium and WebKit report no click on a checked option. Firefox does, unless this is prevented.
    if (!isPress || !(event.target as HTMLInputElement).checked) return;
    event.preventDefault();
    choose(event);
  };
  return html`<label part="option" class="option">
    <input
      id=${id ?? nothing}
      type="radio"
      name=${kind}
      .value=${value}
      aria-labelledby="name-${value}"
      aria-describedby="detail-${value}"
      .checked=${isPicked}
      @keydown=${onKeydown}
      @keyup=${onKeyup}
      @click=${choose}
    />
    ${icon}
    <span id="name-${value}">${name}</span>
    <small id="detail-${value}" class="detail"
      >${isolate(detail)}${note ? html` <em>${note}</em>` : nothing}</small
    >
  </label>`;
}

/** The choice used last comes first, then popular ones. */
function sort(options: CurrencyOption[], last: string | undefined): CurrencyOption[] {
  const rank = ({ currency }: CurrencyOption) => {
    const index = popularCodes.indexOf(currency);
    return currency === last ? -1 : index === -1 ? popularCodes.length : index;
  };
  return [...options].sort((a, b) => rank(a) - rank(b));
}
