/** `payments …`: lists, finds and shows payments, and exports them. */
import { coreApi, csvLine, decimalOf, type PaymentRecord } from 'crypto-checkout/contract';
import type { ExportedPayment } from '../payments/payment-export.js';
import { withoutControls } from './printable.js';
import { writeNewFile } from './files.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';
import { filtersOf, queryOptions, readQuery } from './query-options.js';
import { camelCase, counted, listRecords } from './records.js';

const scoped = {
  merchant: option.merchant('the merchant').required(),
  mode: option.mode('the mode of the payments'),
};
const { query } = coreApi.transactions.list;
/** Options that were there before the API had these filters. */
const spelling = { txRef: 'reference', customer: 'email', txHash: 'transaction' };
/** A terminal shows the longest page. */
const longestPage = { skip: '100' };

export const paymentCommands: Group = {
  name: 'payments',
  summary: 'Payments: found, shown, and exported.',
  commands: {
    list: command({
      summary: "Lists a merchant's payments, newest first, by the filters of the API.",
      options: {
        ...scoped,
        ...queryOptions(query, ['page', ...filtersOf(query)], spelling),
      },
      async run({ payments }, { merchant: merchantId, mode, ...given }) {
        const asked = readQuery(query, { ...given, ...longestPage }, spelling);
        const { rows, total } = await payments.list({ merchantId, mode }, asked);
        return { ...listed(rows), json: { total, payments: rows } };
      },
    }),
    find: command({
      summary:
        'Finds payments by a reference, an email address, an address that was given out, or a transaction.',
      args: { text: option.text('TEXT', 'what is known of the payment') },
      options: scoped,
      async run({ payments }, { text, merchant: merchantId, mode }) {
        const found = new Map<string, PaymentRecord>();
        for (const filter of [{ txRef: text }, { customer: text }, { txHash: text }, { address: text }]) {
          const { rows } = await payments.list({ merchantId, mode }, { page: 1, skip: 100, ...filter });
          for (const row of rows) found.set(row.id, row);
        }
        return listed([...found.values()]);
      },
    }),
    show: command({
      summary: 'Shows a payment as a secret key sees it, with its receipts and its time log.',
      args: { id: option.id('the payment') },
      options: scoped,
      async run({ payments }, { id, merchant: merchantId, mode }) {
        const payment = await payments.verify({ merchantId, mode, kind: 'secret' }, id);
        return { json: payment, text: JSON.stringify(payment, null, 2) };
      },
    }),
    export: command({
      summary:
        "Exports a merchant's payments by their creation, oldest first, with the transfers that arrived, what was credited and charged, and refunds.",
      details:
        'The CSV has four kinds of lines: a payment, then its receipts, its credits and its refunds. The sum of the column net is the amount that the payments added to the balance, less refunds; the base amount of a refund is its worth when it was created. Amounts are exact. Text that a spreadsheet would take for a formula gets an apostrophe in front.',
      options: {
        merchant: option.merchant('the merchant').required(),
        format: option.format(['csv', 'json'], 'csv, or json: an array with one payment on each line'),
        mode: option.mode('the mode of the payments'),
        ...queryOptions(query, ['from', 'to']),
        output: option.newFile('a new file to write to, readable only by you (default: stdout)'),
      },
      async run(context, { merchant: merchantId, format, mode, output, ...given }) {
        const { from, to } = readQuery(query, given);
        const payments = context.paymentExport.read({ merchantId, mode }, { from, to });
        if (output === undefined) {
          await write(payments, format, (part) => context.print(part));
          return { json: undefined, text: '', isPrinted: true };
        }
        const count = await writeNewFile(output, (file) =>
          write(payments, format, (part) => file.appendFile(part), context),
        );
        return {
          json: { file: output, payments: count },
          text: `Wrote ${counted(count, 'payment')} to ${output}`,
        };
      },
    }),
  },
};

function listed(payments: readonly PaymentRecord[]) {
  return listRecords(payments, (payment) => payment, paymentLine, 'There are no such payments');
}

function paymentLine(payment: PaymentRecord): string {
  const { id, status, baseAmount, baseCurrency, currency, amountReceived, txRef, createdAt } = payment;
  const paidIn = currency === undefined ? [] : [`${decimalOf(amountReceived ?? 0)} ${currency}`];
  const amount = `${decimalOf(baseAmount)} ${baseCurrency}`;
  return [id, status, amount, ...paidIn, txRef, createdAt].join('  ');
}

const progressEvery = 10_000;

/** @returns the number of payments written */
async function write(
  payments: AsyncIterable<ExportedPayment>,
  format: 'csv' | 'json',
  print: (part: string) => Promise<void>,
  context?: Pick<CommandContext, 'progress'>,
): Promise<number> {
  let count = 0;
  await print(format === 'csv' ? `${header}\r\n` : '[');
  for await (const payment of payments) {
    await print(
      format === 'csv'
        ? csvLines(payment)
        : `${count === 0 ? '' : ','}\n${withoutControls(JSON.stringify(payment))}`,
    );
    count += 1;
    if (count % progressEvery === 0) context?.progress(`${count} payments`);
  }
  if (format === 'json') await print('\n]\n');
  return count;
}

const header =
  'record,payment_id,mode,tx_ref,time,status,description,customer,base_currency,base_amount,currency,network,amount,fee,net,tx_hash,paid_at';
const columns = header.split(',').map(camelCase);

function csvLines({ id: paymentId, receipts, credited, refunds, ...payment }: ExportedPayment): string {
  const { mode, txRef, createdAt } = payment;
  const common = { paymentId, mode, txRef };
  const rows: Readonly<Record<string, string>>[] = [
    { ...payment, paymentId, record: 'payment', time: createdAt },
    ...receipts.map(({ firstSeenAt: time, confirmedAt: paidAt, ...receipt }) => {
      return { ...common, ...receipt, record: 'receipt', time, paidAt };
    }),
    ...credited.map((credit) => ({ ...common, ...credit, record: 'credit', time: createdAt })),
    ...refunds.map(({ kind: description, createdAt: time, ...refund }) => {
      return { ...refund, ...common, record: 'refund', time, description };
    }),
  ];
  return withoutControls(rows.map((row) => csvLine(columns.map((column) => row[column] ?? ''))).join(''));
}
