/** Handlers of `/v1/bank-accounts` and `/v1/countries`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { BankAccounts } from './bank-accounts.js';
import type { Countries } from './countries.js';

export function createBankAccountHandlers(bankAccounts: BankAccounts): ApiHandlers<'bankAccounts'> {
  return {
    async checkName({ body }, { caller, signal }) {
      const { message, holder } = await bankAccounts.checkName(caller, body, signal);
      return { message, data: holder };
    },

    create: ({ body }, { caller, change }) =>
      change((transaction) => bankAccounts.create(transaction, caller, body)),

    list: ({ query }, { caller }) => replyWithPage(query, bankAccounts.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(bankAccounts.retrieve(caller, params.bank_account_id)),

    makePrimary: ({ params }, { caller, change }) =>
      change((transaction) => bankAccounts.makePrimary(transaction, caller, params.bank_account_id)),

    archive: ({ params }, { caller, change }) =>
      change((transaction) => bankAccounts.archive(transaction, caller, params.bank_account_id)),

    async listBanks({ params }) {
      return { data: [...bankAccounts.listBanks(params.country_code)] };
    },
  };
}

export const createCountryHandlers = (countries: Countries): ApiHandlers<'countries'> => ({
  list: () => Promise.resolve({ data: [...countries.list()] }),
});
