/** What the checkout is doing, as one union, and the pure step from one state to the next. */
import type { CurrencyOption, Payment } from './contract/checkout.js';
import type { CheckoutError } from './errors.js';

/** The currency and network that the page asked for, in any case. */
export interface Preferred {
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
}

interface Known {
  readonly payment: Payment;
  /** Why the payer's last step did not work. */
  readonly problem?: CheckoutError | undefined;
}

export interface IdleState {
  readonly name: 'idle';
  readonly payment?: undefined;
}

export interface CreatingState {
  readonly name: 'creating';
  /** The payment to go on with; a new one is created where there is none. */
  readonly paymentId?: string | undefined;
  /** The ended payment that the new one stands in for. */
  readonly replaces?: Payment | undefined;
  readonly preferred: Preferred;
  readonly payment?: undefined;
}

export interface ChoosingState extends Known {
  readonly name: 'choosing-currency' | 'choosing-network';
  /** What is picked so far. */
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  /** What was typed to search for a currency. */
  readonly query: string;
  /** True while the server is asked to set what is picked. */
  readonly isSetting: boolean;
}

export interface QuotedState extends Known {
  readonly name: 'quoted' | 'locking';
}

/** Locked: funds are waited for, are on their way, or are complete or too late. */
export interface FollowedState extends Known {
  readonly name:
    'awaiting-funds' | 'partially-paid' | 'confirming' | 'success' | 'error' | 'expired' | 'cancelled';
  /** True when the last question to the server found no answer. */
  readonly isReconnecting: boolean;
}

/** No payment came about. */
export interface FailedState {
  readonly name: 'error';
  readonly payment?: undefined;
  readonly problem: CheckoutError;
  /** What was tried, to try it again. */
  readonly tried: CreatingState;
}

export type CheckoutState =
  IdleState | CreatingState | ChoosingState | QuotedState | FollowedState | FailedState;

/** Reflected by the element's attribute `status`. */
export type CheckoutStatus = CheckoutState['name'];

export type Happening =
  | { readonly type: 'reset' }
  | { readonly type: 'started'; readonly creating: CreatingState }
  /** The server's record came; `now` is the server's time in epoch milliseconds. */
  | { readonly type: 'reported'; readonly payment: Payment; readonly now: number }
  | { readonly type: 'searched'; readonly query: string }
  | { readonly type: 'picked'; readonly currency?: string; readonly network?: string }
  /** The payer pressed the main action of a picker or of the quote. */
  | { readonly type: 'continued' }
  | { readonly type: 'went-back' }
  | { readonly type: 'failed'; readonly problem: CheckoutError }
  | { readonly type: 'lost-connection' };

export function next(state: CheckoutState, happening: Happening): CheckoutState {
  switch (happening.type) {
    case 'reset':
      return { name: 'idle' };
    case 'started':
      return happening.creating;
    case 'reported':
      return report(state, happening.payment, happening.now);
    case 'searched':
      return isChoosing(state) ? { ...state, query: happening.query } : state;
    case 'picked':
      if (!isChoosing(state) || state.isSetting) return state;
      return {
        ...state,
        currency: happening.currency ?? state.currency,
        network: happening.network ?? state.network,
        problem: undefined,
      };
    case 'continued':
      if (isChoosing(state)) return proceed(state);
      return state.name === 'quoted' ? { ...state, name: 'locking', problem: undefined } : state;
    case 'went-back':
      return goBack(state);
    case 'failed':
      return fail(state, happening.problem);
    case 'lost-connection':
      return isFollowed(state) ? { ...state, isReconnecting: true } : state;
    default:
      return happening satisfies never;
  }
}

export function isChoosing(state: CheckoutState): state is ChoosingState {
  return state.name === 'choosing-currency' || state.name === 'choosing-network';
}

export function isFollowed(state: CheckoutState): state is FollowedState {
  return 'isReconnecting' in state;
}

/** True while funds may still come in before the deadline: there is an address to pay to. */
export function isPaying(state: CheckoutState): state is FollowedState {
  return ['awaiting-funds', 'partially-paid', 'confirming'].includes(state.name);
}

export function hasEnded(state: CheckoutState): boolean {
  return isFollowed(state) && !isPaying(state);
}

/** The networks on which `currency` can be paid. */
export function networksOf(payment: Payment, currency: string | undefined): CurrencyOption[] {
  return optionsOf(payment).filter((option) => option.currency === currency);
}

/** One option for each currency: its first. */
export function currenciesOf(payment: Payment): CurrencyOption[] {
  const options = optionsOf(payment);
  return options.filter(
    (option, index) => options.findIndex((other) => other.currency === option.currency) === index,
  );
}

/** Where "back" leads to; undefined where there is nothing else to choose. */
export function previousChoice(state: CheckoutState): ChoosingState['name'] | undefined {
  const { name, payment } = state;
  if (payment === undefined || (isChoosing(state) && state.isSetting)) return undefined;
  if (name === 'quoted' && networksOf(payment, payment.currency).length > 1) return 'choosing-network';
  const mayChoose = name === 'quoted' || name === 'choosing-network';
  return mayChoose && currenciesOf(payment).length > 1 ? 'choosing-currency' : undefined;
}

function optionsOf(payment: Payment): CurrencyOption[] {
  return payment.currencyOptions ?? [];
}

function report(state: CheckoutState, reported: Payment, now: number): CheckoutState {
  const preferred = state.name === 'creating' ? state.preferred : {};
  const payment = complete(reported, state.payment, preferred);
  const name = statusOf(payment, now);
  switch (name) {
    case 'choosing-currency':
      return isChoosing(state) ? { ...state, payment } : choose(payment, preferred);
    case 'quoted':
      // Whoever went back to choose still has the former choice set on the server.
      if (isChoosing(state) && !isSet(state, payment)) return { ...state, payment };
      if (state.name === 'quoted' || state.name === 'locking') return { ...state, payment };
      return { name, payment };
    default:
      return { name, payment, isReconnecting: false };
  }
}

/** The status that a record stands for, by the base fields where a server sends no finer `state`. */
function statusOf(payment: Payment, now: number): FollowedState['name'] | 'choosing-currency' | 'quoted' {
  const { status, state, currency, isCurrencyLocked, amountReceived = 0, expiresBy = Infinity } = payment;
  if (status === 'error') {
    const isExpired = state === undefined ? expiresBy <= now : state.startsWith('expired');
    return isExpired ? 'expired' : 'error';
  }
  if (status !== 'in progress') return status;
  if (!isCurrencyLocked) return currency ? 'quoted' : 'choosing-currency';
  if (state === 'confirming') return state;
  return state === 'partially_paid' || (state === undefined && amountReceived > 0)
    ? 'partially-paid'
    : 'awaiting-funds';
}

/** The record with what only some replies hold: the merchant's branding, and the options that lock drops. */
function complete(payment: Payment, former: Payment | undefined, { network }: Preferred): Payment {
  const known = former?.id === payment.id ? former : undefined;
  const options =
    payment.currencyOptions ??
    known?.currencyOptions ??
    (network ? bareOptions(payment, network) : undefined);
  const branding = payment.branding ?? known?.branding;
  return { ...payment, currencyOptions: options, branding };
}

/** Options for a server that sends only currency codes, on the network that the page named. */
function bareOptions({ currencies }: Payment, network: string): CurrencyOption[] {
  return currencies.map((currency) => ({
    currency,
    name: currency,
    network,
    networkName: network,
    amount: 0,
    fee: 0,
    minAmount: 0,
    confirmations: 0,
  }));
}

/** Begins to choose, past every picker that has one option or was decided by the page. */
function choose(payment: Payment, preferred: Preferred): ChoosingState {
  const coins = currenciesOf(payment);
  const coin = coins.length === 1 ? coins[0] : coins.find((one) => isSame(one.currency, preferred.currency));
  const networks = networksOf(payment, coin?.currency);
  const network =
    networks.length === 1 ? networks[0] : networks.find((one) => isSame(one.network, preferred.network));
  const state: ChoosingState = {
    name: 'choosing-currency',
    payment,
    currency: coin?.currency,
    network: network?.network ?? preferred.network,
    query: '',
    isSetting: false,
  };
  if (coins.length === 1 && !network) return { ...state, name: 'choosing-network' };
  const isDecided = coins.length === 1 || preferred.network !== undefined;
  return network && isDecided ? { ...state, isSetting: true } : state;
}

function isSame(code: string, wanted: string | undefined): boolean {
  return code.toLowerCase() === wanted?.toLowerCase();
}

/** True when the server has set what it was asked to set. */
function isSet({ isSetting, currency, network }: ChoosingState, payment: Payment): boolean {
  return (
    isSetting && isSame(payment.currency ?? '', currency) && isSame(payment.currencyNetwork ?? '', network)
  );
}

function proceed(state: ChoosingState): ChoosingState {
  const networks = networksOf(state.payment, state.currency);
  if (state.isSetting || networks.length === 0) return state;
  const only = networks.length === 1 ? networks[0] : undefined;
  const picked = only ?? networks.find((one) => isSame(one.network, state.network));
  if (only || (state.name === 'choosing-network' && picked)) {
    return { ...state, network: picked?.network, isSetting: true, problem: undefined };
  }
  return { ...state, name: 'choosing-network', network: picked?.network, problem: undefined };
}

function goBack(state: CheckoutState): CheckoutState {
  const name = previousChoice(state);
  if (name === undefined || state.payment === undefined) return state;
  const { payment } = state;
  const { currency, network } = isChoosing(state)
    ? state
    : { currency: payment.currency, network: payment.currencyNetwork };
  return { name, payment, currency, network, query: '', isSetting: false };
}

function fail(state: CheckoutState, problem: CheckoutError): CheckoutState {
  if (state.name === 'creating') return { name: 'error', problem, tried: state };
  if (state.payment === undefined) return state;
  if (state.name === 'locking') return { ...state, name: 'quoted', problem };
  return isChoosing(state) ? { ...state, isSetting: false, problem } : { ...state, problem };
}
