/** The double-entry ledger: append-only postings, one ledger per currency, amounts in its smallest unit. */
import type { LedgerAccountKind } from '../db/tables/ledger.js';
import type { Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import type { PostingKey } from './posting-kinds.js';
import {
  insertEntries,
  insertPostings,
  lockAccounts,
  nameMerchants,
  readBalances,
  writeBalances,
  type AccountRow,
  type EntryRow,
} from './store.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

/** Identifies an account within a mode and a currency. */
export interface AccountName {
  readonly kind: LedgerAccountKind;
  /** The network that holds the coins, for custody and reserved accounts. */
  readonly network?: string;
  /** For accounts that belong to a merchant: custody, unallocated, available, reserved. */
  readonly merchantId?: string;
  /** For custody: the coins are in the merchant's treasury. Without it, at the addresses that payers paid to. */
  readonly place?: 'treasury';
  /**
   * The part of unallocated that the merchant owes, never above 0: a receipt was credited, withdrawn, and then
   * lost. Each later credit to available first repays it.
   */
  readonly isDebt?: true;
}

export interface LedgerEntry {
  readonly account: AccountName;
  /** Exactly one of the two is above 0. */
  readonly debit?: bigint;
  readonly credit?: bigint;
}

/** The entries of an amount that one account is debited and another credited with. */
export const moved = (debited: AccountName, credited: AccountName, amount: bigint): LedgerEntry[] => [
  { account: debited, debit: amount },
  { account: credited, credit: amount },
];

export interface CurrencyAccount {
  readonly currency: string;
  readonly account: AccountName;
}

export interface Posting {
  /** Identifies the posting. Posting the same key again does nothing. */
  readonly key: PostingKey;
  readonly mode: Mode;
  readonly currency: string;
  readonly paymentId?: string;
  /** The transaction that it books, where the record that names it can name another one later. */
  readonly txHash?: string | null;
  readonly entries: readonly LedgerEntry[];
}

export type Ledger = ReturnType<typeof createLedger>;

/** In units of the currency. */
export interface Holdings {
  /** The sum that withdrawals have reserved on all networks. */
  readonly held: bigint;
  /** The part of it that is reserved on the network. */
  readonly heldHere: bigint;
  /** The merchant's debt, at least 0. */
  readonly debt: bigint;
  /** The merchant's coins on the network, reserved or not. */
  readonly coins: bigint;
}

/** In units of the currency. */
export interface MerchantBalance {
  readonly available: bigint;
  readonly reserved: bigint;
  /** Received but not yet settled, minus what the merchant owes. Below 0 if the debt is larger. */
  readonly unallocated: bigint;
  /** The merchant's coins of all networks that no withdrawal has reserved: what networks charged has left them. */
  readonly coins: bigint;
  /** `coins` by network. Negative where networks charged more than was held. */
  readonly networks: ReadonlyMap<string, bigint>;
}

const noNetworks: ReadonlyMap<string, bigint> = new Map();

/**
 * The accounts that grow with debits: what is held or spent. All others grow with credits: what is owed, earned, or
 * paid out through a bank (`bank_clearing`) while the coins stay in custody.
 */
export const debitAccounts: ReadonlySet<LedgerAccountKind> = new Set(['custody', 'network_fee']);

/** The accounts that belong to a merchant: a balance consists of all of them. */
export const balanceAccounts = [
  'unallocated',
  'available',
  'reserved',
] as const satisfies readonly LedgerAccountKind[];

/** The merchant whose balance a posting changes; empty if it changes none. */
function merchantOf({ entries }: Posting): string {
  const found = entries.find(({ account: { kind } }) => balanceAccounts.some((one) => one === kind));
  return found?.account.merchantId ?? '';
}

export function createLedger(newId: NewId, clock: Pick<Clock, 'now' | 'real'>) {
  /**
   * Posts once per key, with few statements, in the order given. Accounts are locked in a fixed order, so that parallel
   * postings wait but never deadlock. The ledger itself says when it was: nobody can post into a month that is over.
   */
  async function postAll(transaction: Transaction, given: readonly Posting[]): Promise<void> {
    const postings = given.map(balanced).filter(({ entries }) => entries.length > 0);
    if (postings.length === 0) return;
    const rows = postings.map((posting) => {
      const { key, mode, currency, paymentId = null, txHash = null } = posting;
      const merchantId = merchantOf(posting);
      return {
        id: newId(),
        key,
        mode,
        currency,
        payment_id: paymentId,
        merchant_id: merchantId,
        tx_hash: txHash,
        created_at: merchantId === '' ? clock.real() : clock.now({ merchantId, mode }),
      };
    });
    const inserted = await insertPostings(transaction, rows);
    const added = postings.flatMap((posting, index) => {
      const id = rows[index]?.id;
      return id !== undefined && inserted.has(id) ? [{ id, posting }] : [];
    });
    if (added.length === 0) return;

    const accounts = await lockAccounts(
      transaction,
      added.flatMap(({ posting: { mode, currency, entries } }) =>
        entries.map(({ account }) => emptyAccount(mode, currency, account)),
      ),
      added.flatMap(({ posting: { mode, currency, entries } }) =>
        entries.filter(isRepaying).map(({ account }) => debtId(mode, currency, account)),
      ),
    );
    const written = added.flatMap(({ id, posting }) => applyEntries(id, posting, accounts));
    await insertEntries(transaction, written);
    await writeBalances(
      transaction,
      written.map(({ account_id: account }) => account),
      accounts,
    );
  }

  return {
    postAll,

    /** Nothing, if the key was posted before. */
    post: (transaction: Transaction, posting: Posting): Promise<void> => postAll(transaction, [posting]),

    /**
     * Locks accounts until the transaction ends. A transaction with several postings must lock the accounts of all of
     * them before the first: locked posting by posting, they would not be locked in the fixed order.
     */
    async lock(transaction: Transaction, mode: Mode, accounts: readonly CurrencyAccount[]): Promise<void> {
      await lockAccounts(
        transaction,
        accounts.map(({ currency, account }) => emptyAccount(mode, currency, account)),
        accounts
          .filter(({ account }) => account.kind === 'available')
          .map(({ currency, account }) => debtId(mode, currency, account)),
      );
    },

    /** The balance of an account, which is locked until the transaction ends. */
    async balance(transaction: Transaction, mode: Mode, currency: string, name: AccountName) {
      const accounts = await lockAccounts(transaction, [emptyAccount(mode, currency, name)]);
      return accounts.get(accountId(mode, currency, name))?.balance ?? 0n;
    },

    nameMerchants,

    /** A merchant's balances by currency. Currencies without accounts are absent. */
    async balances(reader: Reader, merchantId: string, mode: Mode) {
      const sums = new Map<string, MerchantBalance>();
      const rows = await readBalances(reader, merchantId, mode);
      for (const { currency, kind, balance } of rows) {
        const sum = sums.get(currency) ?? {
          available: 0n,
          reserved: 0n,
          unallocated: 0n,
          coins: 0n,
          networks: noNetworks,
        };
        // The debt account is of the kind unallocated too.
        if (kind !== 'available' && kind !== 'reserved' && kind !== 'unallocated') continue;
        sums.set(currency, { ...sum, [kind]: sum[kind] + balance });
      }
      for (const [currency, sum] of sums) {
        const networks = coinsOf(rows, currency);
        const coins = [...networks.values()].filter((amount) => amount > 0n);
        sums.set(currency, { ...sum, networks, coins: coins.reduce((total, amount) => total + amount, 0n) });
      }
      return sums;
    },

    /** The coins that back a merchant's withdrawals of a currency on a network. Lock the available balance first. */
    async holdings(reader: Reader, { merchantId, mode }: Scope, code: string, on: string): Promise<Holdings> {
      const holdings = { held: 0n, heldHere: 0n, debt: 0n, coins: 0n };
      for (const { id, currency, kind, network, balance } of await readBalances(reader, merchantId, mode)) {
        if (currency !== code) continue;
        if (kind === 'reserved') holdings.held += balance;
        if (kind === 'reserved' && network === on) holdings.heldHere = balance;
        if (kind === 'custody' && network === on) holdings.coins += balance;
        if (id === debtId(mode, code, { kind: 'available', merchantId })) holdings.debt = -balance;
      }
      return holdings;
    },

    /**
     * The merchant's coins of a currency that no withdrawal has reserved, by network, in its unit. Negative if the chain
     * lost a receipt that was already paid out.
     */
    coins: async (reader: Reader, merchantId: string, mode: Mode, code: string) =>
      coinsOf(await readBalances(reader, merchantId, mode), code),
  };
}

/** The coins of a currency that no withdrawal has reserved, by network. */
function coinsOf(rows: Awaited<ReturnType<typeof readBalances>>, code: string): ReadonlyMap<string, bigint> {
  const coins = new Map<string, bigint>();
  for (const { currency, kind, network, balance } of rows) {
    if (currency !== code || network === null) continue;
    const units = kind === 'custody' ? balance : -balance;
    coins.set(network, (coins.get(network) ?? 0n) + units);
  }
  return coins;
}

/** The posting without its empty entries. @throws if it does not balance */
function balanced(posting: Posting): Posting {
  const entries = posting.entries.filter((entry) => (entry.debit ?? 0n) + (entry.credit ?? 0n) > 0n);
  const debits = entries.reduce((sum, entry) => sum + (entry.debit ?? 0n), 0n);
  const credits = entries.reduce((sum, entry) => sum + (entry.credit ?? 0n), 0n);
  if (
    debits !== credits ||
    posting.entries.some((entry) => (entry.debit ?? 0n) < 0n || (entry.credit ?? 0n) < 0n)
  ) {
    throw new Error(`The posting ${posting.key} does not balance`);
  }
  return { ...posting, entries };
}

/** Changes the balances of the locked accounts by a posting. @returns the rows of its entries */
function applyEntries(
  postingId: string,
  { key, mode, currency, entries }: Posting,
  accounts: ReadonlyMap<string, AccountRow>,
): EntryRow[] {
  return entries
    .flatMap((entry) => {
      const debt = isRepaying(entry) && accounts.get(debtId(mode, currency, entry.account));
      return debt ? repayFirst(entry, debt.balance) : [entry];
    })
    .map(({ account: name, debit = 0n, credit = 0n }) => {
      const account = accounts.get(accountId(mode, currency, name));
      if (!account) throw new Error(`An account of the posting ${key} was not created`);
      const change = debitAccounts.has(account.kind) ? debit - credit : credit - debit;
      const balance = account.balance + change;
      if (balance < 0n && (account.kind === 'available' || account.kind === 'reserved')) {
        throw new Error(`The posting ${key} would overdraw ${account.id}`);
      }
      account.balance = balance;
      return { posting_id: postingId, account_id: account.id, debit, credit };
    });
}

/** Every credit to available first repays the debt, whatever its source. */
function isRepaying({ account, credit = 0n }: LedgerEntry): boolean {
  return account.kind === 'available' && credit > 0n;
}

/** @param debt the balance of the debt account: 0 or negative */
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

function accountId(
  mode: Mode,
  currency: string,
  { kind, network, merchantId, place, isDebt }: AccountName,
): string {
  return [mode, currency, kind, network, merchantId, place, isDebt && 'debt'].filter(Boolean).join('/');
}

function emptyAccount(mode: Mode, currency: string, name: AccountName): AccountRow {
  return {
    id: accountId(mode, currency, name),
    mode,
    kind: name.kind,
    currency,
    network: name.network ?? null,
    merchant_id: name.merchantId ?? null,
    balance: 0n,
  };
}
