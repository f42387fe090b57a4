/** A merchant's balances: what it has in each currency, how much of it is available, and whether it is suspended. */
import type { CoreApi, Data } from 'crypto-checkout/contract';
import { requireCurrency } from '../money/amounts.js';
import type { Network } from '../chains/networks.js';
import { unitsToNumber, formatUnits } from '../money/units.js';
import { worthOf } from '../money/worth.js';
import { Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import * as store from './balance-store.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Currency } from '../money/currency-list.js';
import type { Transaction } from '../db/engine.js';

export type Balance = Data<CoreApi['balances']['list']>[number];

export type Balances = ReturnType<typeof createBalances>;

export function createBalances(deps: WithdrawalsDeps) {
  const { database, clock, currencies, ledger, merchants, rates } = deps;
  /** Locks the balance, so that a decision based on it holds until the transaction ends. */
  const lockAvailable = (transaction: Transaction, { merchantId, mode }: Scope, currency: Currency) =>
    ledger.balance(transaction, mode, currency.code, { kind: 'available', merchantId });

  /**
   * Checks that the units are available, and locks the balance until the transaction ends: parallel calls wait, and
   * each sees what the previous one took. Problems: `balance_suspended`, `insufficient_balance`.
   */
  async function ensureSpendable(
    transaction: Transaction,
    scope: Scope,
    currency: Currency,
    units: bigint,
  ): Promise<void> {
    const available = await lockAvailable(transaction, scope, currency);
    if ((await store.readSuspended(transaction, scope)).has(currency.code)) {
      throw new Problem(
        'balance_suspended',
        `The ${currency.code} balance is suspended until an operator resumes it`,
      );
    }
    if (available < units) {
      throw new Problem(
        'insufficient_balance',
        `This takes ${formatUnits(units, currency)} ${currency.code}, but only ${formatUnits(available, currency)} is available`,
        { param: 'amount' },
      );
    }
  }

  return {
    /** One per active currency, even if it is 0, and one for every other currency in which the merchant has money. */
    async list(scope: Scope): Promise<Balance[]> {
      const { merchantId, mode } = scope;
      const sums = await ledger.balances(database.reader, merchantId, mode);
      const suspended = await store.readSuspended(database.reader, scope);
      const { books_currency: code } = await merchants.settings(database.reader, merchantId);
      const shown = currencies.known(code ?? 'USD');
      const payable = new Set(currencies.options(mode).map((option) => option.currency.code));
      return currencies
        .all()
        .filter(({ code, type }) => type === 'fiat' || payable.has(code) || sums.has(code))
        .map((currency) => {
          const { available, reserved, unallocated, coins, networks } = sums.get(currency.code) ?? noMoney;
          const places = [...networks].filter(([, units]) => units !== 0n);
          // If the merchant pays no fee, no income covers what networks charged: those coins are gone.
          const isShort = currency.type === 'crypto' && coins < available;
          const charges = isShort ? available - coins : 0n;
          const total = available + reserved + unallocated;
          return {
            mode,
            currency: currency.code,
            availableBalance: unitsToNumber(available - charges, currency),
            totalBalance: unitsToNumber(total, currency),
            isSuspended: suspended.has(currency.code),
            ...(total !== 0n && { worth: worthOf(total, currency, shown, rates, clock.real()) }),
            ...(reserved !== 0n && { reservedBalance: unitsToNumber(reserved, currency) }),
            ...(unallocated !== 0n && { unsettledBalance: unitsToNumber(unallocated, currency) }),
            ...(charges !== 0n && { networkCharges: unitsToNumber(charges, currency) }),
            ...(places.length > 0 && {
              networks: places.map(([network, units]) => ({
                network,
                amount: unitsToNumber(units, currency),
              })),
            }),
          };
        });
    },

    ensureSpendable,

    /**
     * `ensureSpendable` for a withdrawal on a network, which must also hold enough of the merchant's coins that other
     * withdrawals have not reserved. Same problems.
     */
    async ensureSpendableOn(
      transaction: Transaction,
      scope: Scope,
      currency: Currency,
      network: Pick<Network, 'code'>,
      units: bigint,
    ): Promise<void> {
      // Also locks the balance, and with it the coins: whatever moves them locks the balance first.
      await ensureSpendable(transaction, scope, currency, units);
      const coins = await ledger.coins(transaction, scope.merchantId, scope.mode, currency.code);
      const here = coins.get(network.code) ?? 0n;
      if (here >= units) return;
      const amountOf = (amount: bigint) =>
        `${formatUnits(amount > 0n ? amount : 0n, currency)} ${currency.code}`;
      const elsewhere = [...coins]
        .filter(([code, amount]) => code !== network.code && amount > 0n)
        .sort(([, a], [, b]) => (a === b ? 0 : a > b ? -1 : 1))
        .map(([code, amount]) => `${amountOf(amount)} on ${code}`);
      throw new Problem(
        'insufficient_balance',
        `This takes ${amountOf(units)} on ${network.code}, but only ${amountOf(here)} is held there${
          elsewhere.length > 0 ? `; there is ${elsewhere.join(', ')}` : ''
        }`,
        { param: 'walletNetwork' },
      );
    },

    /** Refuses further withdrawals from a balance. Those already accepted continue. Problem: `unsupported_currency`. */
    async suspend(transaction: Transaction, scope: Scope, code: string): Promise<Currency> {
      const currency = requireCurrency(currencies, code, 'currency');
      await lockAvailable(transaction, scope, currency);
      await store.insertSuspension(transaction, scope, currency.code, clock.now(scope));
      return currency;
    },

    /** Problem: `unsupported_currency`. */
    async resume(transaction: Transaction, scope: Scope, code: string): Promise<Currency> {
      const currency = requireCurrency(currencies, code, 'currency');
      await store.deleteSuspension(transaction, scope, currency.code);
      return currency;
    },
  };
}

const noMoney = {
  available: 0n,
  reserved: 0n,
  unallocated: 0n,
  coins: 0n,
  networks: new Map<string, bigint>(),
};
