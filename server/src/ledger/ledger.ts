/** The double-entry ledger: append-only postings, one ledger for each currency, integers of its smallest unit. */
import type { LedgerAccountKind, LedgerAccountTable } from '../db/schema.js';
import type { NewId } from '../shared/ids.js';
import { insertEntries, insertPosting, lockAccounts, readBalances, writeBalances } from './store.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

/** Which account, within a mode and a currency. */
export interface AccountName {
  readonly kind: LedgerAccountKind;
  /** Of custody accounts. */
  readonly network?: string;
  /** Of the accounts that belong to a merchant: unallocated, available, reserved. */
  readonly merchantId?: string;
  /**
   * The part of unallocated, never above 0, that a merchant owes: a receipt was credited, withdrawn, and
   * then lost. Each later credit to available repays it first.
   */
  readonly isDebt?: true;
}

export interface LedgerEntry {
  readonly account: AccountName;
  /** Exactly one of the two is above 0. */
  readonly debit?: bigint;
  readonly credit?: bigint;
}

export interface CurrencyAccount {
  readonly currency: string;
  readonly account: AccountName;
}

export interface Posting {
  /** What is posted. A key that was posted before posts nothing. */
  readonly key: string;
  readonly mode: Mode;
  readonly currency: string;
  readonly paymentId?: string;
  readonly entries: readonly LedgerEntry[];
}

export interface Ledger {
  /**
   * Posts once. Accounts are locked in one order, so that parallel postings wait and never deadlock.
   * @returns false when the key was posted before
   */
  post(transaction: Transaction, posting: Posting, now: number): Promise<boolean>;
  /**
   * Locks accounts until the transaction ends. Whoever posts more than once locks all that the postings touch before
   * the first of them: accounts that are locked posting by posting are not locked in one order.
   */
  lock(transaction: Transaction, mode: Mode, accounts: readonly CurrencyAccount[]): Promise<void>;
  /** A merchant's balance on an account, locked until the transaction ends. */
  balance(transaction: Transaction, mode: Mode, currency: string, account: AccountName): Promise<bigint>;
  /** What a merchant has, by currency; currencies without accounts are absent. */
  balances(reader: Reader, merchantId: string, mode: Mode): Promise<ReadonlyMap<string, MerchantBalance>>;
}

/** In units of the currency. */
export interface MerchantBalance {
  readonly available: bigint;
  readonly reserved: bigint;
  /** Received and not yet settled, less what the merchant owes; below 0 when that is more. */
  readonly unallocated: bigint;
}

/**
 * Accounts whose balance grows by debits: what is held or spent. All others grow by credits: what is owed,
 * earned, or paid out by bank (`bank_clearing`) while the coins stay in custody.
 */
export const debitAccounts: ReadonlySet<LedgerAccountKind> = new Set(['custody', 'network_fee']);

export function createLedger(newId: NewId): Ledger {
  return {
    async post(transaction, posting, now) {
      const entries = posting.entries.filter((entry) => (entry.debit ?? 0n) + (entry.credit ?? 0n) > 0n);
      const debits = entries.reduce((sum, entry) => sum + (entry.debit ?? 0n), 0n);
      const credits = entries.reduce((sum, entry) => sum + (entry.credit ?? 0n), 0n);
      if (
        debits !== credits ||
        entries.some((entry) => (entry.debit ?? 0n) < 0n || (entry.credit ?? 0n) < 0n)
      ) {
        throw new Error(`The posting ${posting.key} does not balance`);
      }
      if (entries.length === 0) return false;

      const id = newId();
      const isNew = await insertPosting(transaction, {
        id,
        key: posting.key,
        mode: posting.mode,
        currency: posting.currency,
        payment_id: posting.paymentId ?? null,
        created_at: now,
      });
      if (!isNew) return false;

      const { mode, currency } = posting;
      const accounts = await lockAccounts(
        transaction,
        entries.map(({ account }) => emptyAccount(mode, currency, account)),
        entries.filter(isRepaying).map(({ account }) => debtId(mode, currency, account)),
      );
      const written = entries
        .flatMap((entry) => {
          const debt = isRepaying(entry) && accounts.get(debtId(mode, currency, entry.account));
          return debt ? repayFirst(entry, BigInt(debt.balance)) : [entry];
        })
        .map(({ account: name, debit = 0n, credit = 0n }) => {
          const account = accounts.get(accountId(mode, currency, name));
          if (!account) throw new Error(`The account of ${posting.key} was not made`);
          const change = debitAccounts.has(account.kind) ? debit - credit : credit - debit;
          const balance = BigInt(account.balance) + change;
          if (balance < 0n && (account.kind === 'available' || account.kind === 'reserved')) {
            throw new Error(`The posting ${posting.key} would overdraw ${account.id}`);
          }
          account.balance = balance.toString();
          return {
            posting_id: id,
            account_id: account.id,
            debit: debit.toString(),
            credit: credit.toString(),
          };
        });
      await insertEntries(transaction, written);
      await writeBalances(
        transaction,
        written.map(({ account_id: account }) => account),
        accounts,
      );
      return true;
    },

    async lock(transaction, mode, accounts) {
      await lockAccounts(
        transaction,
        accounts.map(({ currency, account }) => emptyAccount(mode, currency, account)),
        accounts
          .filter(({ account }) => account.kind === 'available')
          .map(({ currency, account }) => debtId(mode, currency, account)),
      );
    },

    async balance(transaction, mode, currency, name) {
      const accounts = await lockAccounts(transaction, [emptyAccount(mode, currency, name)]);
      return BigInt(accounts.get(accountId(mode, currency, name))?.balance ?? '0');
    },

    async balances(reader, merchantId, mode) {
      const sums = new Map<string, MerchantBalance>();
      for (const { currency, kind, balance } of await readBalances(reader, merchantId, mode)) {
        const sum = sums.get(currency) ?? { available: 0n, reserved: 0n, unallocated: 0n };
        // A merchant has accounts of these three kinds alone; the debt is a second one of unallocated.
        const own = kind as keyof MerchantBalance;
        sums.set(currency, { ...sum, [own]: sum[own] + BigInt(balance) });
      }
      return sums;
    },
  };
}

/** What becomes available repays a debt first, whatever it comes from. */
function isRepaying({ account, credit = 0n }: LedgerEntry): boolean {
  return account.kind === 'available' && credit > 0n;
}

/** @param debt the balance of the account of the debt: 0, or below it */
function repayFirst({ account, credit = 0n }: LedgerEntry, debt: bigint): LedgerEntry[] {
  const repaid = -debt < credit ? -debt : credit;
  const parts: LedgerEntry[] = [
    { account: debtOf(account), credit: repaid },
    { account, credit: credit - repaid },
  ];
  return parts.filter((part) => part.credit !== 0n);
}

function debtOf({ merchantId = '' }: AccountName): AccountName {
  return { kind: 'unallocated', merchantId, isDebt: true };
}

function debtId(mode: Mode, currency: string, account: AccountName): string {
  return accountId(mode, currency, debtOf(account));
}

function accountId(mode: Mode, currency: string, { kind, network, merchantId, isDebt }: AccountName): string {
  return [mode, currency, kind, network ?? merchantId, isDebt && 'debt'].filter(Boolean).join('/');
}

function emptyAccount(mode: Mode, currency: string, name: AccountName): LedgerAccountTable {
  return {
    id: accountId(mode, currency, name),
    mode,
    kind: name.kind,
    currency,
    network: name.network ?? null,
    merchant_id: name.merchantId ?? null,
    balance: '0',
  };
}
