/** `payouts …`: payouts to bank accounts, which an operator creates and settles by hand. */
import { isoTime } from '../shared/clock.js';
import type { PayoutTable } from '../db/schema.js';
import { amountOf } from './amounts.js';
import { modeOf, oneOf, required, text, type Command, type CommandContext, type Output } from './command.js';
import { changeByHand, showRecord } from './change-by-hand.js';
import type { Transaction } from '../db/engine.js';
import type { AuditFields } from '../merchants/audit-log.js';

export const payoutCommands: Readonly<Record<string, Command>> = {
  'payouts create': {
    usage:
      'payouts create --merchant ID --bank-account ID --amount AMOUNT --currency CODE --reference TEXT --mode test|live',
    help: `Takes an amount from a merchant's balance, for you to pay to a bank account. Repeating it changes nothing.

  --merchant ID             the merchant who is paid
  --bank-account ID         the merchant's bank account that it goes to
  --amount AMOUNT           a decimal in the currency
  --currency CODE           currency of the balance to take it from
  --reference TEXT          text on the bank statement; it identifies the payout, so use each once per merchant
  --mode test|live          the balance's mode`,
    options: {
      merchant: text,
      'bank-account': text,
      amount: text,
      currency: text,
      reference: text,
      mode: text,
    },
    positionals: [],
    async run({ database, merchants, payouts, auditLog, actor }, options) {
      const scope = { merchantId: required(options, 'merchant'), mode: modeOf(options) };
      const request = {
        bankAccountId: required(options, 'bank-account'),
        amount: required(options, 'amount'),
        currency: required(options, 'currency'),
        reference: required(options, 'reference'),
      };
      const row = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, scope.merchantId);
        const existing = await payouts.findByReference(transaction, scope, request.reference.trim());
        const created = await payouts.createBankPayout(transaction, scope, request);
        const { amount: amountUnits, currency, destination, reference } = created;
        const after = { amountUnits, currency, destination, reference };
        const entry = { ...scope, actor, action: 'payout.created', subjectId: created.id, after } as const;
        if (!existing) await auditLog.record(transaction, entry);
        return created;
      });
      return showRecord(payoutJson(row));
    },
  },
  'payouts list': {
    usage: 'payouts list [--status processing|success|failed]',
    help: `Lists the bank payouts of all merchants, oldest first, at most 1000.

  --status STATUS   only payouts with this status`,
    options: { status: text },
    positionals: [],
    async run({ payouts }, options) {
      const rows = await payouts.listBankPayouts(
        options['status'] === undefined
          ? undefined
          : oneOf(options, 'status', ['processing', 'success', 'failed']),
      );
      return { json: rows.map(payoutJson), text: rows.map(payoutLine).join('\n') || 'There are no payouts' };
    },
  },
  'payouts settle': {
    usage: 'payouts settle ID',
    help: `Marks a bank payout as paid. Repeating it changes nothing.

  ID   the payout, as "payouts list" shows it`,
    options: {},
    positionals: ['ID'],
    async run(context, _options, [id = '']) {
      return changePayout(context, id, 'payout.settled', (transaction) =>
        context.payouts.settle(transaction, id),
      );
    },
  },
  'payouts fail': {
    usage: 'payouts fail ID --reason TEXT',
    help: `Marks a bank payout as failed and returns its amount to the merchant's balance. Repeating it changes nothing.

  ID              the payout, as "payouts list" shows it
  --reason TEXT   the reason that the merchant sees`,
    options: { reason: text },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      const reason = required(options, 'reason');
      return changePayout(context, id, 'payout.failed', (transaction) =>
        context.payouts.fail(transaction, id, reason),
      );
    },
  },
};

/** Changes a payout by hand, and shows it. */
async function changePayout(
  context: CommandContext,
  id: string,
  action: 'payout.settled' | 'payout.failed',
  change: (transaction: Transaction) => Promise<PayoutTable>,
): Promise<Output> {
  const find = (transaction: Transaction) => context.payouts.findAny(transaction, id);
  return showRecord(
    payoutJson(await changeByHand(context, { id, action, find, change, facts: payoutFacts })),
  );
}

function payoutFacts({ status, failure_reason: failureReason }: PayoutTable): AuditFields {
  return { status, failureReason };
}

function payoutJson(row: PayoutTable) {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    mode: row.mode,
    status: row.status,
    amount: amountOf(row.amount, row.currency),
    currency: row.currency,
    bankAccountId: row.bank_account_id,
    destination: row.destination,
    reference: row.reference,
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

function payoutLine(row: PayoutTable): string {
  const { id, mode, status, currency, destination, reference } = row;
  const amount = `${amountOf(row.amount, currency)} ${currency}`;
  return [id, mode, status, amount, `to ${destination}`, reference, isoTime(row.created_at)].join('  ');
}
