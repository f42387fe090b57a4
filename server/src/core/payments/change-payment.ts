/** Changes that a payer or merchant makes to a payment: its currency is set and locked, or it is cancelled. */
import { statusOf, type PaymentRecord, type PaymentState } from 'crypto-checkout/contract';
import type { Transaction } from '../db/engine.js';
import { together } from '../db/send.js';
import type { Network } from '../chains/networks.js';
import type { PaymentOption } from '../money/currencies.js';
import type { Currency } from '../money/currency-list.js';
import type { Rate } from '../money/rates.js';
import { formatUnits, roundUpToPayable } from '../money/units.js';
import { invalidState, Problem } from '../shared/problem.js';
import { scopeOf, type Actor } from '../shared/scope.js';
import { accepts, type PaymentReader } from './payment-reader.js';
import type { PaymentsDeps } from './payments-deps.js';
import { exactAmount, feeOf, payableAmount } from './quote.js';
import * as store from './store.js';
import type { LogEntry, PaymentRow, StoredRecord } from './store.js';
import type { UpdatePayment } from './update-payment.js';

/** A log with so many entries keeps only the last of a payer's choices. */
const mostChoices = 20;
const hourMs = 3_600_000;

export function createPaymentChanges(
  deps: PaymentsDeps,
  reader: PaymentReader,
  updatePayment: UpdatePayment,
) {
  const { clock, currencies, addresses, times, publicChangesPerHour } = deps;

  /** Locks a payment that the actor may change now, and counts the change. @returns the columns to store with it */
  async function lockPayment(transaction: Transaction, actor: Actor, id: string) {
    const row = await reader.lock(transaction, actor, id);
    if (row.wallet_id !== null) {
      throw invalidState('This is a deposit to a wallet: it cannot be changed');
    }
    const limit = actor.kind === 'public' ? publicChangesPerHour : undefined;
    return { row, counted: countChange(row, clock.now(scopeOf(row)), limit) };
  }

  /** The same, of a payment that has not ended. */
  async function lockOpen(transaction: Transaction, actor: Actor, id: string) {
    const locked = await lockPayment(transaction, actor, id);
    if (statusOf(locked.row.state) !== 'in progress') throw ended(locked.row.state);
    return locked;
  }

  return {
    /** Does nothing if it is already cancelled. Problems: `not_found`, `invalid_state`, `rate_limited`. */
    async cancel(transaction: Transaction, actor: Actor, id: string): Promise<undefined> {
      const { row, counted } = await lockPayment(transaction, actor, id);
      const status = statusOf(row.state);
      if (status === 'cancelled') {
        if (Object.keys(counted).length > 0) await store.updatePayment(transaction, id, counted);
        return;
      }
      if (status !== 'in progress') throw ended(row.state);
      const now = clock.now(actor);
      await store.updatePayment(transaction, id, { ...counted, cancelled_at: now });
      await updatePayment(transaction, { ...row, cancelled_at: now }, actor.kind);
    },

    /**
     * Problems: `unsupported_currency`, `not_found`, `invalid_state`, `currency_locked`, `rate_unavailable`,
     * `amount_below_minimum`, `rate_limited`.
     */
    async setCurrency(transaction: Transaction, actor: Actor, id: string, coin: string, networkCode: string) {
      const option = currencies.option(actor.mode, coin, networkCode);
      const { row, counted } = await lockOpen(transaction, actor, id);
      const { currency, network } = option;
      const amount = amountIn(deps, reader, option, actor, row);
      const now = clock.now(actor);
      const changes = {
        ...counted,
        state: 'currency_set',
        currency: currency.code,
        network: network.code,
        ...storedPrice(deps, option, row, amount),
        updated_at: now,
      } as const;
      return change(reader, transaction, actor, row, now, changes, {
        type: 'event',
        event: `Currency set to ${currency.code} on ${network.code}`,
        code: 'currency_set',
        values: { currency: currency.code, network: network.code },
      });
    },

    /**
     * Fixes the price. Problems: `not_found`, `invalid_state`, `currency_not_set`, `rate_unavailable`, `chain_unavailable`,
     * `rate_limited`.
     */
    async lockCurrency(transaction: Transaction, actor: Actor, id: string): Promise<PaymentRecord> {
      const { row, counted } = await lockOpen(transaction, actor, id);
      if (row.currency === null) {
        throw new Problem('currency_not_set', 'Set a currency and a network before locking');
      }
      const currency = currencies.known(row.currency);
      const now = clock.now(actor);
      if (row.locked_at !== null) {
        return change(reader, transaction, actor, row, now, counted, {
          type: 'event',
          event: 'Currency already locked',
          code: 'currency_already_locked',
          values: {},
        });
      }
      if (now >= row.expires_at) throw ended('expired');
      const network = chosenNetwork(deps, actor, row, currency);
      const base = reader.baseSum(row, reader.freshRate);
      const rate = reader.freshRate(row.currency);
      const amount = payableAmount(base, currency, rate);
      const values = {
        amount: formatUnits(amount, currency),
        currency: currency.code,
        network: network.code,
      };
      await deps.beforeLock(transaction, row);
      return together(transaction, async () => {
        // Not before: a payer who looks at every network would take an address of each, and wallets look only 20 ahead.
        const use = { currency, network };
        const address = await addresses.assign(transaction, actor, { paymentId: id }, use, now);
        const changes = {
          ...counted,
          state: 'awaiting_funds',
          address_id: address.id,
          address: address.address,
          ...storedPrice(deps, use, row, amount),
          quote: { asset: storedRate(rate), base: storedRate(base.rate) },
          locked_at: now,
          expires_at: now + times.paySeconds * 1000,
          updated_at: now,
        } as const;
        return change(reader, transaction, actor, row, now, changes, {
          type: 'event',
          event: `Currency locked: ${values.amount} ${values.currency} on ${values.network}`,
          code: 'currency_locked',
          values,
        });
      });
    },
  };
}

/**
 * Stores the changes, and a log entry unless it repeats the last one. After `mostChoices` entries, a payer's choice replaces
 * the last one: anybody can be that payer, and could otherwise fill the database. Returns the changed payment.
 */
async function change(
  reader: PaymentReader,
  transaction: Transaction,
  actor: Actor,
  record: StoredRecord,
  now: number,
  changes: store.PaymentChange,
  entry: LogEntry,
): Promise<PaymentRecord> {
  const last = record.log.at(-1);
  const isRepeated = last?.event === entry.event;
  const isReplaced =
    actor.kind === 'public' &&
    record.log_count >= mostChoices &&
    [last?.code, entry.code].every((code) => code === 'currency_set');
  const isChanged = !isRepeated || Object.keys(changes).length > 0;
  const logged = await together(transaction, async () => {
    if (isChanged) await store.updatePayment(transaction, record.id, changes);
    if (isRepeated) return [];
    if (isReplaced) await store.removeLastEntry(transaction, record.id);
    return store.appendLog(transaction, record.id, now, [entry]);
  });
  const kept = isReplaced && !isRepeated ? store.withoutLastEntry(record) : record;
  const parts_version = record.parts_version + (isChanged ? 1 : 0);
  return reader.viewWritten(
    transaction,
    actor.kind,
    store.withLog({ ...kept, ...changes, parts_version }, logged),
  );
}

/** The columns that are stored with the amount that a payment costs. */
function storedPrice(
  { depths }: Pick<PaymentsDeps, 'depths'>,
  { currency, network }: Pick<PaymentOption, 'currency' | 'network'>,
  row: PaymentRow,
  amount: bigint,
) {
  return {
    amount,
    required_confirmations: depths.depthOf(network, [{ units: amount, currency: currency.code }]),
    fee: feeOf(amount, row.fee_basis_points),
  };
}

/** The amount that the payment costs in an option that it can be paid with. */
function amountIn(
  { addresses }: Pick<PaymentsDeps, 'addresses'>,
  reader: PaymentReader,
  option: PaymentOption,
  actor: Actor,
  row: PaymentRow,
): bigint {
  const { currency, network } = option;
  if (row.locked_at !== null) {
    throw new Problem(
      'currency_locked',
      'The currency is locked; create a new payment to pay in another currency',
    );
  }
  if (!addresses.canAssign(actor, network)) {
    throw new Problem(
      'unsupported_currency',
      `This merchant cannot be paid on ${network.name}; choose one of the payment's currencyOptions`,
      { param: 'network' },
    );
  }
  if (!accepts(row, currency.code)) {
    throw new Problem(
      'unsupported_currency',
      `This payment cannot be paid in ${currency.code}; choose one of its currencyOptions`,
      { param: 'currency' },
    );
  }
  const base = reader.baseSum(row, reader.latestRate);
  const exact = exactAmount(base, currency, reader.latestRate(currency.code));
  if (exact < option.minUnits) {
    throw new Problem(
      'amount_below_minimum',
      `This payment is ${formatUnits(exact, currency)} ${currency.code}, below the minimum of ${option.minAmount} on ${network.name}; choose another currency or network`,
      { param: 'currency' },
    );
  }
  return roundUpToPayable(exact, currency);
}

/** The network that a payment is locked on. Problem: `chain_unavailable` if a payment on it would not be seen. */
function chosenNetwork(
  { currencies, addresses, isReadable }: Pick<PaymentsDeps, 'currencies' | 'addresses' | 'isReadable'>,
  actor: Actor,
  { mode, network: code }: PaymentRow,
  currency: Currency,
): Network {
  const network = currencies.network(mode, code ?? '');
  // Another server can have taken the choice, with a key that this one has not read yet.
  if (network && isReadable(network, currency.code) && addresses.canAssign(actor, network)) return network;
  throw new Problem(
    'chain_unavailable',
    `${network?.name ?? code ?? ''} cannot be read at the moment, so a payment on it would not be seen; choose another network, or try again shortly`,
    { retryAfterSeconds: 30 },
  );
}

function ended(state: PaymentState): Problem {
  return invalidState(`The payment has ended (${statusOf(state)}) and can no longer be changed`);
}

function storedRate({ numerator, denominator, source, at }: Rate) {
  return { dollars: `${numerator}/${denominator}`, source, at };
}

/**
 * Counts a change with a public key: anybody who has the link could fill the database otherwise. The count is kept with the
 * payment, so that all servers share it.
 * Problem: `rate_limited`.
 * @param limit changes an hour; undefined if there is no limit
 * @returns the columns to store together with the change
 */
function countChange(
  row: Pick<PaymentRow, 'public_changes' | 'public_changes_since'>,
  now: number,
  limit: number | undefined,
): Partial<Pick<PaymentRow, 'public_changes' | 'public_changes_since'>> {
  if (limit === undefined) return {};
  const { public_changes: made, public_changes_since: since } = row;
  if (since === null || now - since >= hourMs) return { public_changes: 1, public_changes_since: now };
  if (made < limit) return { public_changes: made + 1 };
  const retryAfterSeconds = Math.max(1, Math.ceil((since + hourMs - now) / 1000));
  throw new Problem(
    'rate_limited',
    `This payment was changed ${limit} times within an hour. Try again in ${retryAfterSeconds} s, or create a new payment`,
    { retryAfterSeconds },
  );
}
