/** `payments …`: exports payments for a merchant's accountant. */
import type { ExportedPayment } from '../payments/payment-export.js';
import { csvLine } from './csv.js';
import { writeNewFile } from './files.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';
import { camelCase, counted } from './records.js';

export const paymentCommands: Group = {
  name: 'payments',
  summary: 'Payments, for the accountant.',
  commands: [
    command({
      name: 'export',
      summary:
        "Exports a merchant's payments for the accountant, oldest first, with the transfers that arrived, and what was credited and charged.",
      details:
        'The CSV has three kinds of lines: a payment, then its receipts and its credits. The sum of the column net is what the payments brought to the balance. Amounts are exact. Text that a spreadsheet would take for a formula gets an apostrophe in front.',
      options: {
        merchant: option.merchant('the merchant').required(),
        format: option.format(['csv', 'json'], 'csv, or json: an array with one payment on each line'),
        mode: option.mode('the mode of the payments'),
        ...option.range,
        output: option.newFile('a new file to write to, readable only by you (default: stdout)'),
      },
      async run(context, { merchant: merchantId, format, mode, output, ...range }) {
        const payments = context.paymentExport.read({ merchantId, mode }, option.checkedRange(range));
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
  ],
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
  await print(format === 'csv' ? `${header}\r\n` : '[');
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

const header =
  'record,payment_id,mode,tx_ref,time,status,description,customer,base_currency,base_amount,currency,network,amount,fee,net,tx_hash,paid_at';
const columns = header.split(',').map(camelCase);

function csvLines({ id: paymentId, receipts, credited, ...payment }: ExportedPayment): string {
  const { mode, txRef, createdAt } = payment;
  const common = { paymentId, mode, txRef };
  const rows: Readonly<Record<string, string>>[] = [
    { ...payment, paymentId, record: 'payment', time: createdAt },
    ...receipts.map(({ firstSeenAt: time, confirmedAt: paidAt, ...receipt }) => {
      return { ...common, ...receipt, record: 'receipt', time, paidAt };
    }),
    ...credited.map((credit) => ({ ...common, ...credit, record: 'credit', time: createdAt })),
  ];
  return rows.map((row) => csvLine(columns.map((column) => row[column] ?? ''))).join('');
}
