/** What a merchant has in each currency, what may be taken from it, and whether anything may. */
import type { Api, Data } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { Database } from '../db/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { unitsToNumber, formatUnits } from '../money/units.js';
import { Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import * as store from './balance-store.js';
import type { Currency } from '../money/currency-list.js';
import type { Transaction } from '../db/engine.js';

export type Balance = Data<Api['balances']['list']>[number];

export interface Balances {
  /** One for every active currency, zeros included, and for every other one that the merchant has something in. */
  list(scope: Scope): Promise<Balance[]>;
  /**
   * Makes sure that the units can be taken from what is available, and keeps it so until the transaction ends:
   * of parallel calls each sees what the one before it took. Problems: `balance_suspended`, `insufficient_balance`.
   */
  ensureSpendable(transaction: Transaction, scope: Scope, currency: Currency, units: bigint): Promise<void>;
  /** Lets nothing be taken from a balance any more. What was taken before goes on. Problem: `unsupported_currency`. */
  suspend(transaction: Transaction, scope: Scope, currency: string): Promise<Currency>;
  resume(transaction: Transaction, scope: Scope, currency: string): Promise<Currency>;
}

export interface BalancesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly ledger: Ledger;
}

export function createBalances({ database, clock, currencies, ledger }: BalancesDeps): Balances {
  function known(code: string): Currency {
    const currency = currencies.find(code);
    if (!currency) throw new Problem('unsupported_currency', `${code} is not a currency of this server`);
    return currency;
  }

  /** Locks the balance, so that what is decided about it holds until the transaction ends. */
  const lockAvailable = (transaction: Transaction, { merchantId, mode }: Scope, currency: Currency) =>
    ledger.balance(transaction, mode, currency.code, { kind: 'available', merchantId });

  return {
    async list(scope) {
      const { merchantId, mode } = scope;
      const sums = await ledger.balances(database.reader, merchantId, mode);
      const suspended = await store.readSuspended(database.reader, scope);
      const payable = new Set(currencies.options(mode).map((option) => option.currency.code));
      return currencies
        .all()
        .filter(({ code, type }) => type === 'fiat' || payable.has(code) || sums.has(code))
        .map((currency) => {
          const { available, reserved, unallocated } = sums.get(currency.code) ?? nothing;
          return {
            currency: currency.code,
            availableBalance: unitsToNumber(available, currency),
            totalBalance: unitsToNumber(available + reserved + unallocated, currency),
            isSuspended: suspended.has(currency.code),
          };
        });
    },

    async ensureSpendable(transaction, scope, currency, units) {
      const available = await lockAvailable(transaction, scope, currency);
      if (await store.isSuspended(transaction, scope, currency.code)) {
        throw new Problem('balance_suspended', `The ${currency.code} balance is suspended`);
      }
      if (available < units) {
        throw new Problem(
          'insufficient_balance',
          `${formatUnits(units, currency)} ${currency.code} is more than the ${formatUnits(available, currency)} available`,
          { param: 'amount' },
        );
      }
    },

    async suspend(transaction, scope, code) {
      const currency = known(code);
      await lockAvailable(transaction, scope, currency);
      await store.insertSuspension(transaction, scope, currency.code, clock.now(scope.mode));
      return currency;
    },

    async resume(transaction, scope, code) {
      const currency = known(code);
      await store.deleteSuspension(transaction, scope, currency.code);
      return currency;
    },
  };
}

const nothing = { available: 0n, reserved: 0n, unallocated: 0n };
