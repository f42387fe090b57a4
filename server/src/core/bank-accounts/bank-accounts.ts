/** Bank accounts that merchants are paid out to. */
import type { CoreApi, Data, Input } from 'crypto-checkout/contract';
import type { Bank, Banks } from './banks.js';
import { isoTime } from '../shared/clock.js';
import { lockName } from '../db/locks.js';
import { sealed, type PersonalData } from '../db/personal-data.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { BankAccountTable } from '../db/schema.js';
import type { Countries, Country } from './countries.js';
import { requireCurrency } from '../money/amounts.js';
import { invalidField, orNotFound, Problem } from '../shared/problem.js';
import type { Scope, Mode } from '../shared/scope.js';
import type { AccountNames } from './account-names.js';
import { hasNubanCheckDigit } from './nuban.js';
import * as store from './store.js';
import type { StoredBankAccount } from './store.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page } from '../shared/pagination.js';

export type BankAccount = Data<CoreApi['bankAccounts']['retrieve']>;
type NewBankAccount = Input<CoreApi['bankAccounts']['create']>['body'];

export type BankAccounts = ReturnType<typeof createBankAccounts>;

interface BankAccountsDeps extends RoomDeps {
  readonly personalData: PersonalData;
  readonly countries: Countries;
  readonly banks: Banks;
  readonly accountNames: Readonly<Record<Mode, AccountNames>>;
}

export function createBankAccounts(deps: BankAccountsDeps) {
  const { database, clock, newId, countries, currencies, banks, accountNames, personalData } = deps;

  function countryOf(codeOrName: string): Country {
    const country = countries.find(codeOrName);
    if (!country)
      throw invalidField('country', 'Must be the code or name of a country; see GET /v1/countries');
    return country;
  }

  function currencyOf(code: string): string {
    const currency = requireCurrency(currencies, code, 'currency');
    if (currency.type === 'fiat') return currency.code;
    throw new Problem('unsupported_currency', `A bank account cannot hold ${code}: use a fiat currency`, {
      param: 'currency',
    });
  }

  /** If a country has no list of banks, any text is accepted as a bank's code and name. */
  function bankOf(country: string, codeOrName: string): Omit<Bank, 'currency'> {
    if (banks.list(country).length === 0) return { code: codeOrName, name: codeOrName, country };
    const bank = banks.find(country, codeOrName);
    if (!bank) throw unknownBank(country);
    return bank;
  }

  const open = (row: StoredBankAccount) => personalData.openRow(sealed.bankAccounts, row);

  const locked = async (transaction: Transaction, scope: Scope, id: string) =>
    open(orNotFound(await store.lockBankAccount(transaction, scope, id), 'bank account'));

  /** @returns false if the merchant already has this account */
  async function insert(transaction: Transaction, { merchantId, mode }: Scope, row: BankAccountTable) {
    // The unique index compares neither index values of different keys nor those with numbers that were stored in clear.
    if (personalData.isRotating)
      await lockName(transaction, `bank account ${merchantId}/${mode}/${row.account_number}`);
    const indexes = personalData.accountIndexes(merchantId, row.account_number);
    if (await store.hasBankAccount(transaction, row, indexes)) return false;
    return store.insertBankAccount(transaction, personalData.sealRow(sealed.bankAccounts, row));
  }

  return {
    /** Problems: `validation_error`, `unsupported_currency`, `bank_account_exists`. */
    async create(transaction: Transaction, scope: Scope, input: NewBankAccount): Promise<BankAccount> {
      const country = countryOf(input.country);
      const currency = currencyOf(input.currency);
      const bank = bankOf(country.code, input.accountBank);
      const number = parseAccountNumber(input.accountNumber, bank);
      const now = clock.now(scope);
      const row = {
        id: newId(),
        merchant_id: scope.merchantId,
        mode: scope.mode,
        account_number: number,
        number_index: personalData.accountIndex(scope.merchantId, number),
        bank_code: bank.code,
        bank_name: bank.name,
        country: country.code,
        currency,
        account_name: input.accountName,
        archived_at: null,
        created_at: now,
        updated_at: now,
      };
      if (!(await insert(transaction, scope, row))) {
        throw new Problem(
          'bank_account_exists',
          `An account with this number at ${bank.name} in ${currency} already exists`,
          { param: 'accountNumber' },
        );
      }
      return view({ ...row, primary_id: null });
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<BankAccount> {
      const row = orNotFound(await store.findBankAccount(database.reader, scope, id), 'bank account');
      return view(open(row));
    },

    async list(
      scope: Scope,
      query: Input<CoreApi['bankAccounts']['list']>['query'],
    ): Promise<Page<BankAccount>> {
      const { rows, total } = await store.listBankAccounts(database.reader, scope, {
        ...query,
        country: query.country && (countries.find(query.country)?.code ?? query.country),
        currency: query.currency?.toUpperCase(),
      });
      return { rows: rows.map((row) => view(open(row))), total };
    },

    /** Makes an account the primary one, replacing the previous one. Problem: `not_found`. */
    async makePrimary(transaction: Transaction, scope: Scope, id: string): Promise<BankAccount> {
      const row = await locked(transaction, scope, id);
      if (row.primary_id !== null) return view(row);
      const now = clock.now(scope);
      await store.setPrimary(transaction, scope, id);
      await store.updateBankAccount(transaction, id, { updated_at: now });
      return view({ ...row, updated_at: now, primary_id: id });
    },

    /** Hides an account for good, and returns it as it was. Problem: `not_found`. */
    async archive(transaction: Transaction, scope: Scope, id: string): Promise<BankAccount> {
      const row = await locked(transaction, scope, id);
      await store.archiveBankAccount(transaction, id, clock.now(scope));
      return view(row);
    },

    /**
     * Looks up who holds an account. `message` is for the reply.
     * Problems: `validation_error`, `service_unavailable`.
     */
    async checkName(
      scope: Scope,
      input: Pick<NewBankAccount, 'accountNumber' | 'accountBank'>,
      signal: AbortSignal,
    ): Promise<{ message: string; holder: Data<CoreApi['bankAccounts']['checkName']> }> {
      const bank = banks.findAnywhere(input.accountBank);
      if (!bank) throw unknownBank('{country_code}');
      const accountNumber = parseAccountNumber(input.accountNumber, bank);
      const provider = accountNames[scope.mode];
      const accountName = await provider.resolve({ accountNumber, bank }, signal);
      if (accountName === undefined) {
        throw invalidField('accountNumber', `${bank.name} has no account with this number`);
      }
      return { message: provider.message, holder: { accountNumber, accountBank: bank.code, accountName } };
    },

    /** The banks of a country, by its code or name; empty if there is no list for it. Problem: `not_found`. */
    listBanks(country: string): readonly Bank[] {
      const found = orNotFound(countries.find(country), 'country');
      return banks.list(found.code);
    },

    /** An account, unless it is archived. */
    async find(reader: Reader, scope: Scope, id: string): Promise<BankAccount | undefined> {
      const row = await store.findBankAccount(reader, scope, id);
      return row && view(open(row));
    },
  };
}

function unknownBank(country: string): Problem {
  return invalidField(
    'accountBank',
    `Must be the code or name of a bank; see GET /v1/bank-accounts/banks/${country}`,
  );
}

/** Checks a number, and removes its spaces and hyphens. Problem: `validation_error`. */
function parseAccountNumber(
  text: string,
  { country, name, nubanCode }: Pick<Bank, 'country' | 'name' | 'nubanCode'>,
): string {
  const number = text.replace(/[\s-]/g, '').toUpperCase();
  if (country === 'NG' && !/^\d{10}$/.test(number)) {
    throw invalidField('accountNumber', 'Must be the 10 digits of a Nigerian account number');
  }
  if (!/^[0-9A-Z]{4,34}$/.test(number)) {
    throw invalidField('accountNumber', 'Must be 4 to 34 digits or letters');
  }
  if (nubanCode !== undefined && !hasNubanCheckDigit(number, nubanCode)) {
    throw invalidField('accountNumber', `The check digit is wrong for ${name}: look for a typing mistake`);
  }
  return number;
}

function view(row: StoredBankAccount): BankAccount {
  return {
    id: row.id,
    mode: row.mode,
    accountNumber: row.account_number,
    accountBank: row.bank_code,
    country: row.country,
    currency: row.currency,
    accountName: row.account_name,
    isPrimary: row.primary_id !== null,
    bankName: row.bank_name,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
