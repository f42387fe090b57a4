/** Payouts to the shop's bank accounts, which its people make at the bank and record in the console. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, positiveDecimal, requiredText, text, timestamp } from './fields.js';
import { transferStatus } from './transfers.js';

/** The list has no pages: it shows this many that wait, and this many that ended, at most. */
export const mostBankPayouts = 100;

const sampleTime = '2026-01-01T00:00:00.000Z';

const bankPayout = z.object({
  id: z.string(),
  status: transferStatus,
  amount: z.number(),
  currency: z.string(),
  /** The text on the bank statement. */
  reference: z.string(),
  /** Null once the account is archived. */
  account: z.nullable(
    z.object({
      accountName: z.string(),
      accountNumber: z.string(),
      bankName: z.string(),
      country: z.string(),
      currency: z.string(),
    }),
  ),
  /** False if it was recorded on the command line: the server's operator ends it there. */
  isOwn: z.boolean(),
  /** The bank's own number of the transfer, as it was given; empty if none was. */
  bankReference: z.string(),
  /** Only if it failed. */
  failureReason: z.optional(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const samplePayout = {
  id: '01J9ZQ7P0A1B2C3D4E5F6G7H8J',
  status: 'processing' as const,
  amount: 250,
  currency: 'USDT',
  reference: 'Payout 17',
  account: {
    accountName: 'Ada Example',
    accountNumber: '0123456785',
    bankName: 'Guaranty Trust Bank',
    country: 'NG',
    currency: 'NGN',
  },
  isOwn: true,
  bankReference: '',
  createdAt: sampleTime,
  updatedAt: sampleTime,
};

const params = z.object({ payout_id: described(id, 'Id of the payout.') });
const sampleParams = { payout_id: samplePayout.id };

export const bankPayouts = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/bank-payouts',
    key: 'session',
    description: `Lists the payouts to bank accounts: those that wait for the bank, oldest first, and those that ended, newest first; ${mostBankPayouts} of each at most.`,
    data: z.object({ waiting: z.array(bankPayout), ended: z.array(bankPayout) }),
    sample: { message: 'Bank payouts fetched', data: { waiting: [samplePayout], ended: [] } },
  }),
  listSums: endpoint({
    method: 'GET',
    path: '/console/api/bank-payouts/sums',
    key: 'session',
    description:
      'Returns the sums of all payouts to bank accounts that have not failed, one per currency. The coins of these are still on the networks: a bank pays instead.',
    data: z.array(z.object({ currency: z.string(), amount: z.number() })),
    sample: { message: 'Sums fetched', data: [{ currency: 'USDT', amount: 250 }] },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/bank-payouts',
    key: 'session',
    stepUp: true,
    description:
      'Takes an amount from the available balance, to be paid to a bank account by hand. Nothing is converted. A reference is used once; the same again changes nothing.',
    body: z.object({
      bankAccountId: described(id, 'Id of the bank account.'),
      amount: described(positiveDecimal, 'Amount, in `currency`.'),
      currency: described(requiredText(20), 'Currency of the balance that it is taken from.'),
      reference: described(requiredText(), 'The text on the bank statement.'),
    }),
    data: bankPayout,
    errors: ['invalid_state', 'unsupported_currency', 'insufficient_balance', 'balance_suspended'],
    sample: {
      body: {
        bankAccountId: '01J9ZQ2B0A1B2C3D4E5F6G7H8J',
        amount: 250,
        currency: 'USDT',
        reference: 'Payout 17',
      },
      message: 'Bank payout created',
      data: samplePayout,
    },
  }),
  settle: endpoint({
    method: 'POST',
    path: '/console/api/bank-payouts/{payout_id}/settle',
    key: 'session',
    stepUp: true,
    description:
      'Marks a payout that was recorded in the console as sent by the bank. Final. One from the command line is ended there.',
    params,
    body: z.object({
      bankReference: described(
        z._default(text(), ''),
        'The bank’s own number of the transfer, if it has one.',
      ),
    }),
    data: bankPayout,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { bankReference: 'FT26001' },
      message: 'Bank payout settled',
      data: { ...samplePayout, status: 'success' as const, bankReference: 'FT26001' },
    },
  }),
  fail: endpoint({
    method: 'POST',
    path: '/console/api/bank-payouts/{payout_id}/fail',
    key: 'session',
    stepUp: true,
    description:
      'Gives up on a payout that was recorded in the console and did not reach the bank account: its amount is available again. Final.',
    params,
    body: z.object({ reason: described(requiredText(), 'Why it failed.') }),
    data: bankPayout,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { reason: 'The account is closed' },
      message: 'Bank payout failed',
      data: { ...samplePayout, status: 'failed' as const, failureReason: 'The account is closed' },
    },
  }),
};
