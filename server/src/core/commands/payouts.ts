/** `payouts …`: payouts to bank accounts, which an operator creates and settles by hand. */
import { isoTime } from '../shared/clock.js';
import type { PayoutRow } from '../db/schema.js';
import { command, type Group } from './command.js';
import * as option from './options.js';
import { amountOf, amountText, listRecords, recordJson, showRecord } from './records.js';

const id = option.id('the payout, as "payouts list" shows it');

export const payoutCommands: Group = {
  name: 'payouts',
  summary: 'Payouts to bank accounts, which you make by hand.',
  commands: {
    create: command({
      summary: "Takes an amount from a merchant's balance, for you to pay to a bank account.",
      details: 'Repeating it changes nothing.',
      options: {
        merchant: option.merchant('the merchant who is paid').required(),
        bankAccount: option.id("the merchant's bank account that it goes to").required(),
        amount: option.decimal('a decimal in the currency').required(),
        currency: option.code('currency of the balance to take it from').required(),
        reference: option
          .text('TEXT', 'text on the bank statement; it identifies the payout, so use each once per merchant')
          .required(),
        mode: option.mode("the balance's mode"),
      },
      async run({ database, payoutsByHand, actor }, { merchant, mode, bankAccount, ...given }) {
        const request = { ...given, bankAccountId: bankAccount };
        const { row } = await database.write((transaction) =>
          payoutsByHand.create(transaction, { merchantId: merchant, mode }, request, actor),
        );
        return showRecord(payoutJson(row));
      },
    }),
    list: command({
      summary: 'Lists the bank payouts, oldest first, at most 1000.',
      options: {
        merchant: option.merchant('only payouts of this merchant'),
        status: option.oneOf(['processing', 'success', 'failed'], 'only payouts with this status'),
      },
      async run({ payouts }, { merchant: merchantId, status }) {
        const rows = await payouts.listBankPayouts({ merchantId, status });
        return listRecords(rows, payoutJson, payoutLine, 'There are no payouts');
      },
    }),
    settle: command({
      summary: 'Marks a bank payout as paid.',
      details: 'Repeating it changes nothing.',
      args: { id },
      async run({ database, payoutsByHand, actor }, { id: payoutId }) {
        return showRecord(
          payoutJson(
            await database.write((transaction) => payoutsByHand.settle(transaction, payoutId, actor)),
          ),
        );
      },
    }),
    fail: command({
      summary: "Marks a bank payout as failed and returns its amount to the merchant's balance.",
      details: 'Repeating it changes nothing.',
      args: { id },
      options: { reason: option.text('TEXT', 'the reason that the merchant sees').required() },
      async run({ database, payoutsByHand, actor }, { id: payoutId, reason }) {
        return showRecord(
          payoutJson(
            await database.write((transaction) => payoutsByHand.fail(transaction, payoutId, reason, actor)),
          ),
        );
      },
    }),
  },
};

function payoutJson(row: PayoutRow) {
  return {
    ...recordJson(row, 'id', 'merchant_id', 'mode', 'status'),
    amount: amountOf(row.amount, row.currency),
    ...recordJson(row, 'currency', 'bank_account_id', 'destination', 'reference'),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    ...recordJson(row, 'created_at', 'updated_at'),
  };
}

function payoutLine(row: PayoutRow): string {
  const { id, mode, status, currency, destination, reference } = row;
  const amount = amountText(row.amount, currency);
  return [id, mode, status, amount, `to ${destination}`, reference, isoTime(row.created_at)].join('  ');
}
