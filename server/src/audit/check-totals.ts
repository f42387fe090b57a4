/** The ledger's invariants about sums: where the coins lie, what the fees are, and what each merchant has. */
import type { Mode } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import {
  compareToAccounts,
  Report,
  sumsBy,
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
  const by = ['mode', 'currency', 'network', 'merchant_id'] as const;
  const confirmed = reader.selectFrom('receipts').where('status', '=', 'confirmed');
  for (const row of await sumsBy(reader, confirmed, by, ['amount'])) {
    sums.add(placeOf(row), BigInt(row.amount_sum));
  }
  const sent = reader.selectFrom('transfers').where('status', '=', 'success');
  for (const row of await sumsBy(reader, sent, [...by, 'paid_from'], ['amount', 'network_fee'])) {
    sums.add(placeOf(row, row.paid_from), -BigInt(row.amount_sum) - BigInt(row.network_fee_sum));
  }
  const swept = reader.selectFrom('sweeps').where('is_reversed', '=', 0);
  for (const row of await sumsBy(reader, swept, by, ['amount'])) {
    sums.add(placeOf(row), -BigInt(row.amount_sum));
    sums.add(placeOf(row, 'treasury'), BigInt(row.amount_sum));
  }
  const gas = reader.selectFrom('treasury_fees').where('is_reversed', '=', 0);
  for (const row of await sumsBy(reader, gas, by, ['amount'])) {
    sums.add(placeOf(row, 'treasury'), -BigInt(row.amount_sum));
  }
  const expected = sums.entries().map(([[mode, currency = '', network = '', owner = '', place], units]) => ({
    mode: mode as Mode,
    ...{ currency, network, owner, ...(place !== undefined && { place }) },
    units: units.toString(),
  }));
  return report.result(await compareToAccounts(reader, report, 'custody', expected));
}

function placeOf(
  row: Pick<TransferTable, 'mode' | 'currency' | 'network' | 'merchant_id'>,
  place: string | null = null,
) {
  return [row.mode, row.currency, row.network, row.merchant_id, ...(place === null ? [] : [place])];
}

export async function checkFeeIncome(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Fee income is the fees of all credited receipts and sent transfers');
  const sums = new Sums();
  const by = ['mode', 'currency'] as const;
  const credited = reader.selectFrom('receipts').where('is_credited', '=', 1);
  for (const row of await sumsBy(reader, credited, by, ['credited_fee'])) {
    sums.add([row.mode, row.currency], BigInt(row.credited_fee_sum));
  }
  const sent = reader.selectFrom('transfers').where('status', '=', 'success');
  for (const row of await sumsBy(reader, sent, by, ['fee'])) {
    sums.add([row.mode, row.currency], BigInt(row.fee_sum));
  }
  const expected = sums.entries().map(([[mode, currency = ''], units]): ExpectedBalance => ({
    ...{ mode: mode as Mode, currency, owner: null },
    units: units.toString(),
  }));
  return report.result(await compareToAccounts(reader, report, 'fee_income', expected));
}

/** What a merchant has, held withdrawals and debts included, follows from its receipts, transfers and payouts. */
export async function checkMerchants(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Available, reserved and debts are what was credited less what was paid out');
  const sums = new Sums();
  const by = ['mode', 'currency', 'merchant_id'] as const;
  const credited = reader.selectFrom('receipts').where('is_credited', '=', 1);
  for (const row of await sumsBy(reader, credited, by, ['amount', 'credited_fee'])) {
    const { mode, currency, merchant_id: owner } = row;
    sums.add([mode, currency, owner], BigInt(row.amount_sum) - BigInt(row.credited_fee_sum));
  }
  const sent = reader.selectFrom('transfers').where('status', '=', 'success');
  const toBanks = reader
    .selectFrom('payouts')
    .where('transfer_id', 'is', null)
    .where('status', '<>', 'failed');
  const paidOut = [
    ...(await sumsBy(reader, sent, by, ['amount', 'fee'])),
    ...(await sumsBy(reader, toBanks, by, ['amount', 'fee'])),
  ];
  for (const row of paidOut) {
    const { mode, currency, merchant_id: owner } = row;
    sums.add([mode, currency, owner], -BigInt(row.amount_sum) - BigInt(row.fee_sum));
  }
  const actual = new Sums();
  const checked = await visitPages(
    reader
      .selectFrom('ledger_accounts')
      .select(['id', 'mode', 'currency', 'merchant_id', 'balance'])
      .where((e) => e.or([e('kind', 'in', ['available', 'reserved']), e('id', 'like', '%/debt')])),
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
  const ended = reader.selectFrom('gas_transactions').where('cost', 'is not', null);
  const paid = await sumsBy(reader, ended, ['mode', 'currency'], ['cost']);
  const expected = paid.map(({ cost_sum: units, ...of }) => ({ ...of, owner: null, units }));
  return report.result(await compareToAccounts(reader, report, 'gas_paid', expected));
}
