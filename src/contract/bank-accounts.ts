/** The bank accounts that a merchant is paid out to, and the list of banks. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, id, listQuery, mode, requiredText, text, timestamp } from './fields.js';

const bankAccount = z.object({
  id: z.string(),
  mode,
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
  mode: 'live' as const,
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
    description: 'Looks up an account number at a bank and returns the name of the account holder.',
    body: z.object({
      accountNumber: described(requiredText(), 'Account number. Nigerian account numbers have ten digits.'),
      accountBank: described(requiredText(), 'Bank code, from the list of banks.'),
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
    stepUp: true,
    description:
      'Adds a bank account. The same account number at the same bank in the same currency can be added only once.',
    body: z.object({
      accountNumber: described(requiredText(), 'Account number. Nigerian account numbers have ten digits.'),
      accountBank: described(requiredText(), 'Bank code or name, from the list of banks.'),
      country: described(requiredText(), 'Two-letter code of the country where the account is held.'),
      currency: described(requiredText(20), 'Currency of the account: a code from the list of currencies.'),
      accountName: described(requiredText(), 'Name of the account holder, as registered with the bank.'),
    }),
    data: bankAccount,
    errors: ['unsupported_currency', 'bank_account_exists'],
    sample: { body: sampleFields, message: 'Bank account created', data: sampleAccount },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts',
    key: 'secret',
    description: 'Lists your bank accounts, newest first. Archived ones are left out.',
    query: listQuery({
      isPrimary: described(
        z.optional(boolean),
        'Only the primary account (true) or only the others (false).',
      ),
      country: described(z.optional(text()), 'Only accounts in this country (two-letter code).'),
      currency: described(z.optional(text()), 'Only accounts in this currency.'),
      accountBank: described(z.optional(text()), 'Only accounts at this bank (code or name).'),
    }),
    data: z.array(bankAccount),
    paginated: true,
    sample: { query: { currency: 'NGN' }, message: 'Bank accounts fetched', data: [sampleAccount] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/{bank_account_id}',
    key: 'secret',
    description: 'Returns one bank account.',
    params,
    data: bankAccount,
    sample: { params: sampleParams, message: 'Bank account fetched', data: sampleAccount },
  }),
  makePrimary: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/primary/{bank_account_id}',
    key: 'secret',
    stepUp: true,
    changesOnGet: true,
    description:
      'Makes this the primary bank account instead of the current one. Repeating the call changes nothing.',
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
    description:
      'Archives a bank account and returns it one last time. After that, requests for it answer 404.',
    params,
    data: bankAccount,
    sample: { params: sampleParams, message: 'Bank account archived', data: sampleAccount },
  }),
  listBanks: endpoint({
    method: 'GET',
    path: '/v1/bank-accounts/banks/{country_code}',
    key: 'secret',
    description: 'Lists the banks of a country.',
    params: z.object({
      country_code: described(id, 'Two-letter country code, from the list of countries.'),
    }),
    data: z.array(bank),
    sample: {
      params: { country_code: 'NG' },
      message: 'Banks fetched',
      data: [{ code: '058', name: 'Guaranty Trust Bank', country: 'NG', currency: 'NGN' }],
    },
  }),
};
