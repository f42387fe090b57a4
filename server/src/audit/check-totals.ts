/** The ledger's invariants about sums: where the coins lie, what the fees are, and what each merchant has. */
import { sumUnits } from '../db/units.js';
import type { Mode } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';
import {
  compareToAccounts,
  Report,
  visitPages,
  type ExpectedBalance,
  type LedgerCheck,
} from './check-report.js';

/** Adds up units under a name, such as `test/USDT/tron`. */
class Sums {
  readonly #units = new Map<string, bigint>();

  add(name: readonly (string | null)[], units: bigint): void {
    const key = name.join('/');
    this.#units.set(key, (this.#units.get(key) ?? 0n) + units);
  }

  get(name: readonly (string | null)[]): bigint {
    return this.#units.get(name.join('/')) ?? 0n;
  }

  entries(): [string[], bigint][] {
    return [...this.#units].map(([key, units]) => [key.split('/'), units]);
  }
}

export async function checkCustody(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Custody is what was received less what was sent, by network and merchant');
  const sums = new Sums();
  const received = await reader
    .selectFrom('receipts')
    .where('status', '=', 'confirmed')
    .groupBy(['mode', 'currency', 'network', 'merchant_id'])
    .select(['mode', 'currency', 'network', 'merchant_id', sumUnits(reader, 'amount').as('units')])
    .execute();
  for (const { mode, currency, network, merchant_id: owner, units } of received) {
    sums.add([mode, currency, network, owner], BigInt(units));
  }
  const sent = await reader
    .selectFrom('transfers')
    .where('status', '=', 'success')
    .groupBy(['mode', 'currency', 'network', 'merchant_id', 'paid_from'])
    .select([
      ...(['mode', 'currency', 'network', 'merchant_id', 'paid_from'] as const),
      sumUnits(reader, 'amount').as('units'),
      sumUnits(reader, 'network_fee').as('fees'),
    ])
    .execute();
  for (const { mode, currency, network, merchant_id: owner, paid_from: place, units, fees } of sent) {
    sums.add(
      [mode, currency, network, owner, ...(place === null ? [] : [place])],
      -BigInt(units) - BigInt(fees),
    );
  }
  const swept = await reader
    .selectFrom('sweeps')
    .where('is_reversed', '=', 0)
    .groupBy(['mode', 'currency', 'network', 'merchant_id'])
    .select(['mode', 'currency', 'network', 'merchant_id', sumUnits(reader, 'amount').as('units')])
    .execute();
  for (const { mode, currency, network, merchant_id: owner, units } of swept) {
    sums.add([mode, currency, network, owner], -BigInt(units));
    sums.add([mode, currency, network, owner, 'treasury'], BigInt(units));
  }
  const gas = await reader
    .selectFrom('treasury_fees')
    .where('is_reversed', '=', 0)
    .groupBy(['mode', 'currency', 'network', 'merchant_id'])
    .select(['mode', 'currency', 'network', 'merchant_id', sumUnits(reader, 'amount').as('units')])
    .execute();
  for (const { mode, currency, network, merchant_id: owner, units } of gas) {
    sums.add([mode, currency, network, owner, 'treasury'], -BigInt(units));
  }
  const expected = sums.entries().map(([[mode, currency = '', network = '', owner = '', place], units]) => ({
    mode: mode as Mode,
    ...{ currency, network, owner, ...(place !== undefined && { place }) },
    units: units.toString(),
  }));
  return report.result(await compareToAccounts(reader, report, 'custody', expected));
}

export async function checkFeeIncome(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Fee income is the fees of all credited receipts and sent transfers');
  const sums = new Sums();
  const credited = await reader
    .selectFrom('receipts')
    .where('is_credited', '=', 1)
    .groupBy(['mode', 'currency'])
    .select(['mode', 'currency', sumUnits(reader, 'credited_fee').as('units')])
    .execute();
  const sent = await reader
    .selectFrom('transfers')
    .where('status', '=', 'success')
    .groupBy(['mode', 'currency'])
    .select(['mode', 'currency', sumUnits(reader, 'fee').as('units')])
    .execute();
  for (const { mode, currency, units } of [...credited, ...sent]) sums.add([mode, currency], BigInt(units));
  const expected = sums.entries().map(([[mode, currency = ''], units]): ExpectedBalance => ({
    mode: mode as Mode,
    currency,
    owner: null,
    units: units.toString(),
  }));
  return report.result(await compareToAccounts(reader, report, 'fee_income', expected));
}

/** What a merchant has, held withdrawals and debts included, follows from its receipts, transfers and payouts. */
export async function checkMerchants(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Available, reserved and debts are what was credited less what was paid out');
  const sums = new Sums();
  const by = ['mode', 'currency', 'merchant_id'] as const;
  const credited = await reader
    .selectFrom('receipts')
    .where('is_credited', '=', 1)
    .groupBy(by)
    .select([...by, sumUnits(reader, 'amount').as('plus'), sumUnits(reader, 'credited_fee').as('minus')])
    .execute();
  for (const row of credited) {
    sums.add([row.mode, row.currency, row.merchant_id], BigInt(row.plus) - BigInt(row.minus));
  }
  const sent = await reader
    .selectFrom('transfers')
    .where('status', '=', 'success')
    .groupBy(by)
    .select([...by, sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'fee').as('fees')])
    .execute();
  const toBanks = await reader
    .selectFrom('payouts')
    .where('transfer_id', 'is', null)
    .where('status', '<>', 'failed')
    .groupBy(by)
    .select([...by, sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'fee').as('fees')])
    .execute();
  for (const row of [...sent, ...toBanks]) {
    sums.add([row.mode, row.currency, row.merchant_id], -BigInt(row.amounts) - BigInt(row.fees));
  }
  const actual = new Sums();
  const checked = await visitPages(
    (after) =>
      reader
        .selectFrom('ledger_accounts')
        .select(['id', 'mode', 'currency', 'merchant_id', 'balance'])
        .where((e) => e.or([e('kind', 'in', ['available', 'reserved']), e('id', 'like', '%/debt')]))
        .where('id', '>', after)
        .orderBy('id'),
    (page) => {
      for (const { mode, currency, merchant_id: owner, balance } of page) {
        actual.add([mode, currency, owner], BigInt(balance));
      }
    },
  );
  for (const names of new Set([...sums.entries(), ...actual.entries()].map(([name]) => name.join('/')))) {
    const name = names.split('/');
    if (actual.get(name) === sums.get(name)) continue;
    report.add([`${names} has ${actual.get(name)} instead of ${sums.get(name)}`]);
  }
  return report.result(checked);
}

export async function checkGas(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Gas is what the transactions of gas keys cost');
  const paid = await reader
    .selectFrom('gas_transactions')
    .where('cost', 'is not', null)
    .groupBy(['mode', 'currency'])
    .select(['mode', 'currency', sumUnits(reader, 'cost').as('units')])
    .execute();
  const expected = paid.map((row): ExpectedBalance => ({ ...row, owner: null }));
  return report.result(await compareToAccounts(reader, report, 'gas_paid', expected));
}
