/** The parts of a payment that refunds need: its row, locked, and the coins that were credited for it. */
import type { Reader, Transaction } from '../db/engine.js';
import { parseFraction, type Fraction } from '../money/fractions.js';
import { orNotFound } from '../shared/problem.js';
import { countsTowards } from './assess.js';
import type { UpdatePayment } from './update-payment.js';
import * as store from './store.js';
import type { LogEntry, PaymentRow } from './store.js';

/** The coins of one currency on one network that the merchant was credited with, in units. */
export interface CreditedCoins {
  readonly currency: string;
  readonly network: string;
  /** False if they are not what the payment asked for. */
  readonly counts: boolean;
  /** Before the fee. */
  readonly amount: bigint;
  readonly fee: bigint;
  /** The worth of all of them when they came, in units of the base currency; null if no rate was known. */
  readonly worth: Fraction | null;
  /** The coins that were sent by each address only, as the chain identifies payers, by the address in lower case. */
  readonly sent: ReadonlyMap<string, bigint>;
}

/** The interface of payments that refunds use. */
export type PaymentRefunds = typeof paymentRefunds & {
  /** Brings a locked payment up to date with its refunds' reserved money. */
  readonly update: UpdatePayment;
};

export const paymentRefunds = {
  /** Locks the payment until the transaction ends. Problem: `not_found`. */
  lock: async (transaction: Transaction, id: string) =>
    orNotFound(await store.lockPayment(transaction, id), 'payment'),

  /** Locks payments until the transaction ends, in one order for all who do. One that cannot be read is locked too. */
  async lockAll(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await store.lockPayments(transaction, ids, () => undefined);
  },

  /** The credited coins of a payment. Lock the payment first if you act on them. */
  async creditedCoins(
    reader: Reader,
    payment: Pick<PaymentRow, 'id' | 'currency' | 'network'>,
  ): Promise<CreditedCoins[]> {
    const coins = new Map<string, CreditedCoins>();
    for (const receipt of await store.listCredited(reader, payment.id)) {
      const { currency, network } = receipt;
      const key = `${currency} ${network}`;
      const { amount } = receipt;
      const known = coins.get(key) ?? {
        currency,
        network,
        counts: countsTowards(payment, receipt),
        amount: 0n,
        fee: 0n,
        worth: { numerator: 0n, denominator: 1n },
        sent: new Map<string, bigint>(),
      };
      const [sender, another] = receipt.senders;
      const from = another === undefined ? sender?.toLowerCase() : undefined;
      coins.set(key, {
        ...known,
        amount: known.amount + amount,
        fee: known.fee + receipt.credited_fee,
        worth: addWorth(known.worth, amount, parseFraction(receipt.base_rate)),
        ...(from !== undefined && {
          sent: new Map([...known.sent, [from, (known.sent.get(from) ?? 0n) + amount]]),
        }),
      });
    }
    return [...coins.values()];
  },

  /** Without locking it. Problem: `not_found`. */
  find: async (reader: Reader, id: string) => orNotFound(await store.findPayment(reader, id), 'payment'),

  /** The merchants' references of payments, by id. */
  references: store.findReferences,

  /** Adds to the log of a locked payment, so that readers read it again. */
  async log(transaction: Transaction, id: string, now: number, entries: readonly LogEntry[]) {
    await store.appendLog(transaction, id, now, entries);
    await store.updatePayment(transaction, id, {});
  },
};

function addWorth(sum: Fraction | null, amount: bigint, rate: Fraction | null): Fraction | null {
  if (!sum || !rate) return null;
  return {
    numerator: sum.numerator * rate.denominator + amount * rate.numerator * sum.denominator,
    denominator: sum.denominator * rate.denominator,
  };
}
