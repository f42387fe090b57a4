/** The refunds that a merchant lets through: without approval, and how much a day. */
import { parseDecimal } from 'crypto-checkout/contract';
import type { Transaction } from '../../core/db/engine.js';
import { lockName } from '../../core/db/locks.js';
import { parseAmount } from '../../core/money/amounts.js';
import type { Currency } from '../../core/money/currency-list.js';
import { convert, isCurrent, requireRate, type Rate } from '../../core/money/rates.js';
import { formatUnits } from '../../core/money/units.js';
import { invalidField } from '../../core/shared/problem.js';
import { scopeOf } from '../../core/shared/scope.js';
import type { RefundsDeps } from './change-refund.js';
import type { RefundRow } from './tables.js';

const dayMs = 86_400_000;

/** A day's refunds without a person are at most so many times one of them, if the merchant has set no limit for the coin. */
const smallOnesPerDay = 10n;

type Sums = ReadonlyMap<string, bigint>;

export function createRefundLimits(deps: RefundsDeps) {
  const { clock, currencies, rates, merchants, balances, transfers } = deps;

  /** A rate of yesterday does not say what a coin is worth. */
  function currentRate(code: string): Rate | undefined {
    const rate = rates.latest(code);
    return rate && isCurrent(rate, clock.real()) ? rate : undefined;
  }

  /** Coins in units of another currency, rounded up; undefined without a current rate of both. */
  function valueOf(units: bigint, coin: Currency, currency: Currency): bigint | undefined {
    if (coin.code === currency.code) return units;
    const [rate, other] = [currentRate(coin.code), currentRate(currency.code)];
    if (!rate || !other) return undefined;
    return convert(
      units,
      { rate, decimals: coin.decimals },
      { rate: other, decimals: currency.decimals },
      'up',
    );
  }

  /** The worth of coins of several kinds together. */
  function sumOf(sums: Sums, currency: Currency): bigint | undefined {
    let total = 0n;
    for (const [code, units] of sums) {
      const value = valueOf(units, currencies.known(code), currency);
      if (value === undefined) return undefined;
      total += value;
    }
    return total;
  }

  /** The refunds of a day by coin, with this one. A limit in money is for all coins, so no refund in any of them gets in between. */
  async function dayWith(transaction: Transaction, row: RefundRow): Promise<Map<string, bigint>> {
    const scope = scopeOf(row);
    await lockName(transaction, `refunds of a day ${scope.merchantId}/${scope.mode}`);
    await balances.ensureSpendable(transaction, scope, currencies.known(row.currency), 0n);
    const sums = await transfers.refundedSince(transaction, scope, clock.now(scope) - dayMs);
    return new Map(sums).set(row.currency, (sums.get(row.currency) ?? 0n) + row.amount);
  }

  /** The limits for a coin: those in the coin itself, and those in currencies that are not coins, which are for all coins. */
  function limitsFor(coin: Currency, limits: Readonly<Record<string, string>>) {
    return Object.entries(limits).flatMap(([code, text]) => {
      const currency = currencies.find(code);
      const decimal = parseDecimal(text);
      if (!currency || decimal === undefined || (currency.type === 'crypto' && code !== coin.code)) return [];
      return { currency, units: parseAmount(decimal, currency, 'limit', currency.decimals) };
    });
  }

  return {
    /**
     * True if the merchant lets a refund through unseen. Only if the wallet that paid has signed for it: anyone who
     * makes a refund has its link, and could give an address of their own. Without current rates, none is. Problem:
     * `balance_suspended`.
     */
    async isSmall(transaction: Transaction, row: RefundRow): Promise<boolean> {
      if (row.kind !== 'excess' && row.kind !== 'unaccepted') return false;
      if (row.same_wallet !== true) return false;
      const { autoRefund, dailyRefunds } = await merchants.retrieve(transaction, row.merchant_id);
      const coin = currencies.known(row.currency);
      const passed = limitsFor(coin, autoRefund).filter(({ currency, units }) => {
        const value = valueOf(row.amount, coin, currency);
        return value !== undefined && value <= units;
      });
      if (passed.length === 0) return false;
      // Its own limits are checked at every approval.
      if (limitsFor(coin, dailyRefunds).length > 0) return true;
      const day = await dayWith(transaction, row);
      return passed.some(({ currency, units }) => {
        const ofDay = currency.code === coin.code ? new Map([[coin.code, day.get(coin.code) ?? 0n]]) : day;
        const total = sumOf(ofDay, currency);
        return total !== undefined && total <= units * smallOnesPerDay;
      });
    },

    /** Limits in money; the transfer that pays has those in coins. Problems: `validation_error`, `rate_unavailable`, `balance_suspended`. */
    async ensureWithinDay(transaction: Transaction, row: RefundRow): Promise<void> {
      const coin = currencies.known(row.currency);
      const { dailyRefunds } = await merchants.retrieve(transaction, row.merchant_id);
      const limits = limitsFor(coin, dailyRefunds).filter(({ currency }) => currency.type !== 'crypto');
      if (limits.length === 0) return;
      const day = await dayWith(transaction, row);
      for (const { currency, units } of limits) {
        for (const code of [...day.keys(), currency.code]) requireRate(rates, code, clock.real());
        const total = sumOf(day, currency) ?? 0n;
        if (total <= units) continue;
        throw invalidField(
          'amount',
          `The daily limit of refunds of this account is ${formatUnits(units, currency)} ${currency.code}, and with this one it would be ${formatUnits(total, currency)}. Refunds count for 24 hours`,
        );
      }
    },
  };
}
