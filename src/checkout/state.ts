/** The checkout's state as one union, and the pure function that applies an action to it. */
import type { CurrencyOption, Payment } from '../contract/checkout.js';
import { isInGroup } from '../contract/payment-states.js';
import type { CheckoutError } from '../errors.js';

/** The currency and network that the page preselects, in upper or lower case. */
export interface Preselection {
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
}

/** A coin on a network. */
export interface Choice {
  readonly currency: string;
  readonly network: string;
}

interface WithPayment {
  readonly payment: Payment;
  /** The reason that the payer's last step failed. */
  readonly problem?: CheckoutError | undefined;
}

export interface IdleState {
  readonly name: 'idle';
  readonly payment?: undefined;
  /** The order's payment from before the page changed the price. It is cancelled. */
  readonly outdated?: Payment | undefined;
}

export interface CreatingState {
  readonly name: 'creating';
  /** The payment to resume; undefined to create a new one. */
  readonly paymentId?: string | undefined;
  /** The order's previous payment, which has ended. */
  readonly previous?: Payment | undefined;
  /** True if the previous payment has to be cancelled first: the payer wants another coin. */
  readonly cancelsPrevious?: boolean | undefined;
  readonly preselected: Preselection;
  readonly payment?: undefined;
  /** True if the last request failed, and is going to be repeated. */
  readonly isReconnecting?: boolean | undefined;
  /** Why requests fail that are still repeated, once several of them have. */
  readonly problem?: CheckoutError | undefined;
}

export interface ChoosingState extends WithPayment {
  readonly name: 'choosing-currency' | 'choosing-network';
  /** The payer's choices so far. */
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  /** The text in the search field. */
  readonly query: string;
  /** True while the choice is being sent to the server. */
  readonly isSetting: boolean;
}

export interface QuotedState extends WithPayment {
  readonly name: 'quoted' | 'locking';
}

/** The payment is locked or has ended: from here on, only the server's reports change the state. */
export interface TrackedState extends WithPayment {
  readonly name:
    'awaiting-funds' | 'partially-paid' | 'confirming' | 'success' | 'error' | 'expired' | 'cancelled';
  /** True if the last poll failed. */
  readonly isReconnecting: boolean;
}

/** The payment could not be created or retrieved. */
export interface FailedState {
  readonly name: 'error';
  readonly payment?: undefined;
  readonly problem: CheckoutError;
  /** The state to go back to for another attempt. */
  readonly attempted: CreatingState;
}

export type CheckoutState =
  IdleState | CreatingState | ChoosingState | QuotedState | TrackedState | FailedState;

/** The name of a state, which the element's `status` attribute reflects. */
export type CheckoutStatus = CheckoutState['name'];

export type Action =
  | { readonly type: 'reset'; readonly outdated?: Payment | undefined }
  | { readonly type: 'started'; readonly creating: CreatingState }
  /** The server reported the payment; `now` is the server's time in epoch milliseconds. */
  | { readonly type: 'reported'; readonly payment: Payment; readonly now: number }
  | { readonly type: 'searched'; readonly query: string }
  /** The payer moved to an option with the arrow keys. */
  | { readonly type: 'picked'; readonly currency?: string; readonly network?: string }
  /** The payer tapped an option, which continues automatically. */
  | { readonly type: 'chosen'; readonly currency?: string; readonly network?: string }
  /** The payer pressed the main action of a picker, or the price should be locked. */
  | { readonly type: 'continued' }
  | { readonly type: 'went-back' }
  | { readonly type: 'failed'; readonly problem: CheckoutError }
  /** A request failed, and is going to be repeated; `problem` says why, once several have. */
  | { readonly type: 'lost-connection'; readonly problem?: CheckoutError | undefined };

export function reduce(state: CheckoutState, action: Action): CheckoutState {
  switch (action.type) {
    case 'reset':
      return { name: 'idle', outdated: action.outdated };
    case 'started':
      return action.creating;
    case 'reported':
      return applyReport(state, action.payment, action.now);
    case 'searched':
      return isChoosing(state) ? { ...state, query: action.query } : state;
    case 'picked':
      return isChoosing(state) ? pick(state, action) : state;
    case 'chosen':
      return isChoosing(state) ? continueChoosing(pick(state, action)) : state;
    case 'continued':
      if (isChoosing(state)) return continueChoosing(state);
      return state.name === 'quoted' ? { ...state, name: 'locking', problem: undefined } : state;
    case 'went-back':
      return goBack(state);
    case 'failed':
      return applyFailure(state, action.problem);
    case 'lost-connection':
      if (state.name === 'creating') return { ...state, isReconnecting: true, problem: action.problem };
      return isTracked(state) ? { ...state, isReconnecting: true } : state;
    default:
      return action satisfies never;
  }
}

export function isChoosing(state: CheckoutState): state is ChoosingState {
  return state.name === 'choosing-currency' || state.name === 'choosing-network';
}

/** The state itself or, after a failed start, the one that was attempted. */
export function askedOf(state: CheckoutState): Exclude<CheckoutState, FailedState> {
  return 'attempted' in state ? state.attempted : state;
}

export function isTracked(state: CheckoutState): state is TrackedState {
  return state.payment !== undefined && 'isReconnecting' in state;
}

/** True while the payer can still send funds, or they are being confirmed. */
export function isPaying(state: CheckoutState): state is TrackedState {
  return ['awaiting-funds', 'partially-paid', 'confirming'].includes(state.name);
}

export function hasEnded(state: CheckoutState): boolean {
  return isTracked(state) && !isPaying(state);
}

/** The networks on which `currency` can be paid. */
export function networksOf(payment: Payment, currency: string | undefined): CurrencyOption[] {
  return optionsOf(payment).filter((option) => option.currency === currency);
}

/** One option per currency: the first one listed. */
export function currenciesOf(payment: Payment): CurrencyOption[] {
  const options = optionsOf(payment);
  return options.filter(
    (option, index) => options.findIndex((other) => other.currency === option.currency) === index,
  );
}

/** Marks an option. Another coin has networks of its own. */
function pick(state: ChoosingState, { currency, network }: Preselection): ChoosingState {
  if (state.isSetting) return state;
  const isOtherCoin = currency !== undefined && currency !== state.currency;
  const kept = isOtherCoin && state.name === 'choosing-network' ? undefined : state.network;
  return { ...state, currency: currency ?? state.currency, network: network ?? kept, problem: undefined };
}

/** The target of "Back"; undefined if there is nothing else to choose. */
export function previousChoice(state: CheckoutState): ChoosingState['name'] | undefined {
  const { name, payment } = state;
  if (payment === undefined || (isChoosing(state) && state.isSetting)) return undefined;
  if (name === 'quoted' && networksOf(payment, payment.currency).length > 1) return 'choosing-network';
  const canChoose = name === 'quoted' || name === 'choosing-network';
  return canChoose && currenciesOf(payment).length > 1 ? 'choosing-currency' : undefined;
}

function optionsOf(payment: Payment): CurrencyOption[] {
  return payment.currencyOptions ?? [];
}

function applyReport(state: CheckoutState, reported: Payment, now: number): CheckoutState {
  const preselected = state.name === 'creating' ? state.preselected : {};
  const payment = withKnownFields(reported, state.payment, preselected);
  const name = statusOf(payment, now);
  switch (name) {
    case 'choosing-currency':
      return isChoosing(state) ? { ...state, payment } : startChoosing(payment, preselected);
    case 'quoted':
      // After "Back", the server still has the old choice set.
      if (isChoosing(state) && !hasSetChoice(state, payment)) return { ...state, payment };
      if (state.name === 'quoted' || state.name === 'locking') return { ...state, payment };
      return { name, payment };
    default:
      return { name, payment, isReconnecting: false, problem: keptProblem(state, name, payment) };
  }
}

/**
 * The reason that the payer's last step failed, until something else happens. The error of a poll clears with the next
 * poll.
 */
function keptProblem(state: CheckoutState, name: string, { id }: Payment): CheckoutError | undefined {
  const isSame = isTracked(state) && state.name === name && state.payment.id === id;
  return isSame && !state.isReconnecting ? state.problem : undefined;
}

/** The state that a payment is in. If the server sends no detailed `state`, it follows from the base fields. */
function statusOf(payment: Payment, now: number): TrackedState['name'] | 'choosing-currency' | 'quoted' {
  const { status, state, currency, isCurrencyLocked, amountReceived = 0, expiresBy = Infinity } = payment;
  if (status === 'error') {
    const isExpired = state === undefined ? expiresBy <= now : isInGroup(state, 'expired');
    return isExpired ? 'expired' : 'error';
  }
  if (status !== 'in progress') return status;
  if (!isCurrencyLocked) return currency ? 'quoted' : 'choosing-currency';
  if (state === 'confirming') return state;
  return state === 'partially_paid' || (state === undefined && amountReceived > 0)
    ? 'partially-paid'
    : 'awaiting-funds';
}

/** Adds branding and currency options from earlier replies: not every reply has them. */
function withKnownFields(
  payment: Payment,
  previous: Payment | undefined,
  { network }: Preselection,
): Payment {
  const known = previous?.id === payment.id ? previous : undefined;
  const options =
    payment.currencyOptions ??
    known?.currencyOptions ??
    (network ? optionsOnNetwork(payment, network) : undefined);
  const branding = payment.branding ?? known?.branding;
  return { ...payment, currencyOptions: options, branding };
}

/** Options for a server that sends only currency codes, on the network that the page preselects. */
function optionsOnNetwork({ currencies }: Payment, network: string): CurrencyOption[] {
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

/** The first choice that the payer has to make. Pickers with a single option or a preselection are skipped. */
function startChoosing(payment: Payment, preselected: Preselection): ChoosingState {
  const coins = currenciesOf(payment);
  const coin =
    coins.length === 1 ? coins[0] : coins.find((one) => isSameCode(one.currency, preselected.currency));
  const networks = networksOf(payment, coin?.currency);
  const network =
    networks.length === 1
      ? networks[0]
      : networks.find((one) => isSameCode(one.network, preselected.network));
  const state: ChoosingState = {
    name: 'choosing-currency',
    payment,
    currency: coin?.currency,
    network: network?.network ?? preselected.network,
    query: '',
    isSetting: false,
  };
  if (!coin) return state;
  return network ? { ...state, isSetting: true } : { ...state, name: 'choosing-network', network: undefined };
}

function isSameCode(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase();
}

/** True if the server has set the payer's choice. */
function hasSetChoice({ isSetting, currency, network }: ChoosingState, payment: Payment): boolean {
  return (
    isSetting &&
    isSameCode(payment.currency ?? '', currency) &&
    isSameCode(payment.currencyNetwork ?? '', network)
  );
}

function continueChoosing(state: ChoosingState): ChoosingState {
  const networks = networksOf(state.payment, state.currency);
  if (state.isSetting || networks.length === 0) return state;
  const [only] = networks.length === 1 ? networks : [];
  const picked = only ?? networks.find((one) => isSameCode(one.network, state.network));
  return picked
    ? { ...state, network: picked.network, isSetting: true, problem: undefined }
    : { ...state, name: 'choosing-network', network: undefined, problem: undefined };
}

function goBack(state: CheckoutState): CheckoutState {
  const name = previousChoice(state);
  if (name === undefined || state.payment === undefined) return state;
  const { payment } = state;
  const { currency, network } = isChoosing(state)
    ? state
    : { currency: payment.currency, network: payment.currencyNetwork };
  return {
    name,
    payment,
    currency,
    network: name === 'choosing-network' ? network : undefined,
    query: '',
    isSetting: false,
  };
}

function applyFailure(state: CheckoutState, problem: CheckoutError): CheckoutState {
  if (state.name === 'creating') {
    const { previous, cancelsPrevious } = state;
    // It is still open, so the payer sees it again.
    const open = cancelsPrevious && previous ? applyReport(state, previous, 0) : undefined;
    const attempted = { ...state, isReconnecting: undefined, problem: undefined };
    return open && isTracked(open) ? { ...open, problem } : { name: 'error', problem, attempted };
  }
  if (state.payment === undefined) return state;
  if (state.name === 'locking') return { ...state, name: 'quoted', problem };
  return isChoosing(state) ? { ...state, isSetting: false, problem } : { ...state, problem };
}
