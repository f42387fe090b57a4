/** Bank accounts that a merchant is settled to, and the banks they may be held at. */
import * as z from 'zod/mini';
import { timestamp } from './checkout.js';
import { endpoint } from './endpoint.js';
import { boolean, described, id, listOf, requiredText, text } from './fields.js';

const bankAccount = z.object({
  id: z.string(),
  accountNumber: z.string(),
  accountBank: z.string(),
  country: z.string(),
  currency: z.string(),
  accountName: z.string(),
  isPrimary: z.boolean(),
  bankName: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const bank = z.object({ code: z.string(), name: z.string(), country: z.string(), currency: z.string() });

const accountHolder = z.object({
  accountNumber: z.string(),
  accountBank: z.string(),
  accountName: z.string(),
});

const params = z.object({ bank_account_id: described(id, 'Id of the bank account.') });

const sampleFields = {
  accountNumber: '0123456785',
  accountBank: '058',
  country: 'NG',
  currency: 'NGN',
  accountName: 'Ada Example',
};
const sampleAccount = {
  id: '01J9ZQ2B0A1B2C3D4E5F6G7H8J',
  ...sampleFields,
  isPrimary: false,
  bankName: 'Guaranty Trust Bank',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { bank_account_id: sampleAccount.id };

export const bankAccounts = {
  checkName: endpoint({
    method: 'POST',
    path: '/v1/bank-accounts/account/name',
    key: 'secret',
    description: 'Checks an account number at a bank and answers the name of its holder.',
    body: z.object({
      accountNumber: described(requiredText(), 'Account number; a Nigerian one has ten digits.'),
      accountBank: described(requiredText(), 'Code of the bank, from the list of banks.'),
    }),
    data: accountHolder,
    sample: {
      body: { accountNumber: '0123456785', accountBank: '058' },
      message: 'Account name fetched',
      data: { accountNumber: '0123456785', accountBank: '058', accountName: 'Ada Example' },
    },
  }),
  create: endpoint({
    method: 'POST',
    path: '/v1/bank-accounts',
    key: 'secret',
    description: 'Adds a bank account. The same number at the same bank in the same currency is added once.',
    body: z.object({
      accountNumber: described(requiredText(), 'Account number; a Nigerian one has ten digits.'),
      accountBank: described(requiredText(), 'The bank: its code, or its name as the list of banks has it.'),
      country: described(requiredText(), 'Two-letter code of the country that the account is held in.'),
      currency: described(requiredText(20), 'Currency of the account: a code from the list of currencies.'),
      accountName: described(requiredText(), 'Name of the holder, as the bank knows it.'),
    }),
    data: bankAccount,
    errors: ['unsupported_currency', 'bank_account_exists'],
    sample: { body: sampleFields, message: 'Bank account created', data: sampleAccount },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts',
    key: 'secret',
    description: 'The bank accounts of the account, newest first, without the archived ones.',
    query: listOf({
      isPrimary: described(z.optional(boolean), 'Only the primary account, or only the others.'),
      country: described(z.optional(text()), 'Only accounts in this country, by its two-letter code.'),
      currency: described(z.optional(text()), 'Only accounts in this currency.'),
      accountBank: described(z.optional(text()), 'Only accounts at this bank, as it was given.'),
    }),
    data: z.array(bankAccount),
    paginated: true,
    sample: { query: { currency: 'NGN' }, message: 'Bank accounts fetched', data: [sampleAccount] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/{bank_account_id}',
    key: 'secret',
    description: 'One bank account.',
    params,
    data: bankAccount,
    sample: { params: sampleParams, message: 'Bank account fetched', data: sampleAccount },
  }),
  makePrimary: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/primary/{bank_account_id}',
    key: 'secret',
    description:
      'Makes this the primary bank account in place of the one before. Doing it again changes nothing.',
    params,
    data: bankAccount,
    sample: {
      params: sampleParams,
      message: 'Bank account made primary',
      data: { ...sampleAccount, isPrimary: true },
    },
  }),
  archive: endpoint({
    method: 'DELETE',
    path: '/v1/bank-accounts/account/archive/{bank_account_id}',
    key: 'secret',
    description: 'Archives a bank account and answers it for the last time: from then on it is not found.',
    params,
    data: bankAccount,
    sample: { params: sampleParams, message: 'Bank account archived', data: sampleAccount },
  }),
  listBanks: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/banks/{country_code}',
    key: 'secret',
    description: 'The banks of a country, by its two-letter code.',
    params: z.object({
      country_code: described(id, 'Two-letter code of a country, from the list of countries.'),
    }),
    data: z.array(bank),
    sample: {
      params: { country_code: 'NG' },
      message: 'Banks fetched',
      data: [{ code: '058', name: 'Guaranty Trust Bank', country: 'NG', currency: 'NGN' }],
    },
  }),
};
