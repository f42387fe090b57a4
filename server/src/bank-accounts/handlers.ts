/** Handlers of `/v1/bank-accounts`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { BankAccounts } from './bank-accounts.js';

export function createBankAccountHandlers(bankAccounts: BankAccounts): ApiHandlers<'bankAccounts'> {
  return {
    async checkName({ body }, { caller, signal }) {
      const { message, holder } = await bankAccounts.checkName(caller, body, signal);
      return { message, data: holder };
    },

    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await bankAccounts.create(transaction, caller, body),
      })),

    async list({ query }, { caller }) {
      const { bankAccounts: records, total } = await bankAccounts.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await bankAccounts.retrieve(caller, params.bank_account_id);
      return { data };
    },

    makePrimary: ({ params }, { caller, change }) =>
      change(async (transaction) => ({
        data: await bankAccounts.makePrimary(transaction, caller, params.bank_account_id),
      })),

    archive: ({ params }, { caller, change }) =>
      change(async (transaction) => ({
        data: await bankAccounts.archive(transaction, caller, params.bank_account_id),
      })),

    async listBanks({ params }) {
      return { data: [...bankAccounts.listBanks(params.country_code)] };
    },
  };
}
