/** `payments …`: exports payments for a merchant's accountant. */
import type { ExportedPayment } from '../payments/payment-export.js';
import { csvLine } from './csv.js';
import { counted } from './counted.js';
import { writeNewFile } from './new-file.js';
import {
  formatOf,
  modeOf,
  optional,
  rangeHelp,
  rangeOf,
  required,
  text,
  type Command,
  type CommandContext,
} from './command.js';

export const paymentCommands: Readonly<Record<string, Command>> = {
  'payments export': {
    usage:
      'payments export --merchant ID --mode test|live --format csv|json [--from DATE] [--to DATE] [--output FILE]',
    help: `Exports a merchant's payments for the accountant, oldest first, with the transfers that arrived, and what was credited and charged.

The CSV has three kinds of lines: a payment, then its receipts and its credits. The sum of the column net is what the payments brought to the balance. Amounts are exact. Text that a spreadsheet would take for a formula gets an apostrophe in front.

  --merchant ID   the merchant
  --mode MODE     test or live
  --format FORMAT  csv, or json: an array with one payment on each line
${rangeHelp}
  --output FILE   a new file to write to, readable only by you (default: stdout). An existing file is never overwritten`,
    options: { merchant: text, mode: text, format: text, from: text, to: text, output: text },
    positionals: [],
    async run(context, options) {
      const scope = {
        merchantId: required(options, 'merchant'),
        mode: modeOf(options),
      };
      const file = optional(options, 'output');
      const format = formatOf(options, file !== undefined);
      const range = rangeOf(options);
      await context.merchants.retrieve(context.database.reader, scope.merchantId);
      const payments = context.paymentExport.read(scope, range);
      if (file === undefined) {
        await write(payments, format, (part) => context.print(part));
        return { json: undefined, text: '', isPrinted: true };
      }
      // Never overwrites, and nobody else can read who paid.
      const count = await writeNewFile(file, (output) =>
        write(payments, format, (part) => output.appendFile(part), context),
      );
      return { json: { file, payments: count }, text: `Wrote ${counted(count, 'payment')} to ${file}` };
    },
  },
};

const progressEvery = 10_000;

/** @returns how many payments were written */
async function write(
  payments: AsyncIterable<ExportedPayment>,
  format: 'csv' | 'json',
  print: (part: string) => Promise<void>,
  context?: Pick<CommandContext, 'progress'>,
): Promise<number> {
  let count = 0;
  await print(format === 'csv' ? csvLine(columns) : '[');
  for await (const payment of payments) {
    await print(
      format === 'csv' ? csvLines(payment) : `${count === 0 ? '' : ','}\n${JSON.stringify(payment)}`,
    );
    count += 1;
    if (count % progressEvery === 0) context?.progress(`${count} payments`);
  }
  if (format === 'json') await print('\n]\n');
  return count;
}

const columns = [
  'record',
  'payment_id',
  'mode',
  'tx_ref',
  'time',
  'status',
  'description',
  'customer',
  'base_currency',
  'base_amount',
  'currency',
  'network',
  'amount',
  'fee',
  'net',
  'tx_hash',
  'paid_at',
] as const;

type Row = Partial<Record<(typeof columns)[number], string>>;

function csvLines(payment: ExportedPayment): string {
  const { id, mode, txRef, createdAt, receipts, credited } = payment;
  const common = { payment_id: id, mode, tx_ref: txRef };
  const rows: Row[] = [
    {
      ...common,
      record: 'payment',
      time: createdAt,
      status: payment.status,
      description: payment.description,
      customer: payment.customer,
      base_currency: payment.baseCurrency,
      base_amount: payment.baseAmount,
      currency: payment.currency,
      network: payment.network,
      amount: payment.amount,
      paid_at: payment.paidAt,
    },
    ...receipts.map(({ currency, network, amount, txHash, status, firstSeenAt, confirmedAt }) => ({
      ...{ ...common, record: 'receipt', time: firstSeenAt, status, currency, network, amount },
      ...{ tx_hash: txHash, paid_at: confirmedAt },
    })),
    ...credited.map(({ currency, amount, fee, net }) => ({
      ...{ ...common, record: 'credit', time: createdAt, currency, amount, fee, net },
    })),
  ];
  return rows.map((row) => csvLine(columns.map((column) => row[column] ?? ''))).join('');
}
