/** The double-entry ledger: append-only postings, one ledger for each currency, integers of its smallest unit. */
import type { Transaction } from '../db/database.js';
import type { LedgerAccountKind, LedgerAccountTable, Mode } from '../db/schema.js';
import type { NewId } from '../ids.js';
import { lockAccounts, insertPosting } from './store.js';

/** Which account, within a mode and a currency. */
export interface AccountName {
  readonly kind: LedgerAccountKind;
  /** Of custody accounts. */
  readonly network?: string;
  /** Of the accounts that belong to a merchant: unallocated, available, reserved. */
  readonly merchantId?: string;
}

export interface LedgerEntry {
  readonly account: AccountName;
  /** Exactly one of the two is above 0. */
  readonly debit?: bigint;
  readonly credit?: bigint;
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
  /** A merchant's balance on an account, locked until the transaction ends. */
  balance(transaction: Transaction, mode: Mode, currency: string, account: AccountName): Promise<bigint>;
}

/** Accounts whose balance grows by debits: what is held. All others grow by credits: what is owed or earned. */
export const debitAccounts: ReadonlySet<LedgerAccountKind> = new Set([
  'custody',
  'network_fee',
  'bank_clearing',
]);

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

      const accounts = await lockAccounts(
        transaction,
        entries.map(({ account }) => emptyAccount(posting.mode, posting.currency, account)),
      );
      for (const { account: name, debit = 0n, credit = 0n } of entries) {
        const account = accounts.get(accountId(posting.mode, posting.currency, name));
        if (!account) throw new Error(`The account of ${posting.key} was not made`);
        const change = debitAccounts.has(account.kind) ? debit - credit : credit - debit;
        const balance = BigInt(account.balance) + change;
        if (balance < 0n && (account.kind === 'available' || account.kind === 'reserved')) {
          throw new Error(`The posting ${posting.key} would overdraw ${account.id}`);
        }
        account.balance = balance.toString();
        await transaction
          .insertInto('ledger_entries')
          .values({
            posting_id: id,
            account_id: account.id,
            debit: debit.toString(),
            credit: credit.toString(),
          })
          .execute();
      }
      for (const account of accounts.values()) {
        await transaction
          .updateTable('ledger_accounts')
          .set({ balance: account.balance })
          .where('id', '=', account.id)
          .execute();
      }
      return true;
    },

    async balance(transaction, mode, currency, name) {
      const accounts = await lockAccounts(transaction, [emptyAccount(mode, currency, name)]);
      return BigInt(accounts.get(accountId(mode, currency, name))?.balance ?? '0');
    },
  };
}

function accountId(mode: Mode, currency: string, { kind, network, merchantId }: AccountName): string {
  return [mode, currency, kind, network ?? merchantId].filter(Boolean).join('/');
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
