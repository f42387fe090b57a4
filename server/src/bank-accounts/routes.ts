/** Handlers of `/v1/bank-accounts`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { BankAccounts } from './bank-accounts.js';

interface Services {
  readonly bankAccounts: BankAccounts;
}

export const bankAccountHandlers = {
  async checkName({ body }, { services, caller, signal }) {
    const { message, holder } = await services.bankAccounts.checkName(caller, body, signal);
    return { message, data: holder };
  },

  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Bank account created',
      data: await services.bankAccounts.create(transaction, caller, body),
    })),

  async list({ query }, { services, caller }) {
    const { bankAccounts, total } = await services.bankAccounts.list(caller, query);
    return {
      message: 'Bank accounts fetched',
      data: bankAccounts,
      pagination: paginate(query, bankAccounts.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.bankAccounts.retrieve(caller, params.bank_account_id);
    return { message: 'Bank account fetched', data };
  },

  makePrimary: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Bank account made primary',
      data: await services.bankAccounts.makePrimary(transaction, caller, params.bank_account_id),
    })),

  archive: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Bank account archived',
      data: await services.bankAccounts.archive(transaction, caller, params.bank_account_id),
    })),

  async listBanks({ params }, { services }) {
    return { message: 'Banks fetched', data: [...services.bankAccounts.listBanks(params.country_code)] };
  },
} satisfies Handlers<Pick<typeof api, 'bankAccounts'>, Services>['bankAccounts'];
