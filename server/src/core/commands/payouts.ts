/** `payouts …`: payouts to bank accounts, which an operator creates and settles by hand. */
import { isoTime } from '../shared/clock.js';
import type { PayoutRow } from '../db/schema.js';
import type { Transaction } from '../db/engine.js';
import type { AuditAction } from '../merchants/audit-log.js';
import { scopeOf } from '../shared/scope.js';
import { command, type Group, type Output } from './command.js';
import type { CommandContext } from './context.js';
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
      async run({ database, payouts, auditLog, actor }, { merchant, mode, bankAccount, ...given }) {
        const scope = { merchantId: merchant, mode };
        const request = { ...given, bankAccountId: bankAccount };
        const row = await database.write(async (transaction) => {
          const existing = await payouts.findByReference(transaction, scope, request.reference.trim());
          const created = await payouts.createBankPayout(transaction, scope, request);
          const { amount, currency, destination, reference } = created;
          const after = { amountUnits: amount.toString(), currency, destination, reference };
          const entry = { ...scope, actor, action: 'payout.created', subjectId: created.id, after } as const;
          if (!existing) await auditLog.record(transaction, entry);
          return created;
        });
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
      run: (context, given) =>
        changePayout(context, given.id, 'payout.settled', (transaction) =>
          context.payouts.settle(transaction, given.id),
        ),
    }),
    fail: command({
      summary: "Marks a bank payout as failed and returns its amount to the merchant's balance.",
      details: 'Repeating it changes nothing.',
      args: { id },
      options: { reason: option.text('TEXT', 'the reason that the merchant sees').required() },
      run: (context, given) =>
        changePayout(context, given.id, 'payout.failed', (transaction) =>
          context.payouts.fail(transaction, given.id, given.reason),
        ),
    }),
  },
};

/** Changes a payout, records who did it, and shows it. Repeating a change records nothing. */
async function changePayout(
  { database, payouts, auditLog, actor }: CommandContext,
  id: string,
  action: AuditAction,
  change: (transaction: Transaction) => Promise<PayoutRow>,
): Promise<Output> {
  const factsOf = ({ status, failure_reason: failureReason }: PayoutRow) => ({ status, failureReason });
  const changed = await database.write(async (transaction) => {
    const former = await payouts.findAny(transaction, id);
    const row = await change(transaction);
    await auditLog.record(transaction, {
      ...{ ...scopeOf(row), actor, action, subjectId: id },
      before: former && factsOf(former),
      after: factsOf(row),
    });
    return row;
  });
  return showRecord(payoutJson(changed));
}

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
