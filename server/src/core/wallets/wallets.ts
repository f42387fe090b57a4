/** Hosted wallets: permanent deposit addresses, one on each network of a currency. */
import type { CoreApi, Data, Input } from 'crypto-checkout/contract';
import type { DepositAddresses } from '../addresses/deposit-addresses.js';
import { isoTime } from '../shared/clock.js';
import { requireCurrency } from '../money/amounts.js';
import type { WalletTable } from '../db/schema.js';
import { orNotFound, Problem } from '../shared/problem.js';
import type { Page } from '../shared/pagination.js';
import { scopeOf, type Scope, type Mode } from '../shared/scope.js';
import type { RoomDeps } from '../db/room-deps.js';
import * as store from './store.js';
import type { Transaction, Reader } from '../db/engine.js';

/** A wallet as the API shows it. */
export type Wallet = Data<CoreApi['wallets']['retrieve']>;

/** The facts about their wallet that deposits need. */
export interface DepositTarget {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly isDeleted: boolean;
  readonly wallet: Wallet;
}

export type Wallets = ReturnType<typeof createWallets>;

export function createWallets(deps: RoomDeps, addresses: DepositAddresses) {
  const { database, clock, newId, currencies } = deps;

  async function viewAll(reader: Reader, wallets: readonly WalletTable[]): Promise<Wallet[]> {
    const ids = wallets.map((wallet) => wallet.id);
    const all = await addresses.ofWallets(reader, ids);
    return wallets.map((wallet) => ({
      id: wallet.id,
      mode: wallet.mode,
      label: wallet.label,
      currency: wallet.currency,
      addresses: all
        .filter((address) => address.wallet_id === wallet.id)
        .map(({ network, address }) => ({ network, address })),
      createdAt: isoTime(wallet.created_at),
    }));
  }

  const viewOne = async (reader: Reader, wallet: WalletTable) =>
    orNotFound((await viewAll(reader, [wallet]))[0], 'wallet');

  return {
    /** Problem: `unsupported_currency` if the currency cannot be paid in the caller's mode. */
    async create(
      transaction: Transaction,
      scope: Scope,
      { currency: code, label }: Input<CoreApi['wallets']['create']>['body'],
    ): Promise<Wallet> {
      const currency = requireCurrency(currencies, code, 'currency');
      const options = currencies
        .options(scope.mode)
        .filter((option) => option.currency === currency && addresses.canAssign(scope, option.network));
      if (options.length === 0) {
        throw new Problem(
          'unsupported_currency',
          `A wallet cannot hold ${currency.code}: no network with a deposit key in ${scope.mode} mode supports it`,
          { param: 'currency' },
        );
      }
      const now = clock.now(scope);
      const wallet: WalletTable = {
        id: newId(),
        merchant_id: scope.merchantId,
        mode: scope.mode,
        currency: currency.code,
        label,
        created_at: now,
        deleted_at: null,
      };
      await store.insertWallet(transaction, wallet);
      for (const option of options) {
        await addresses.assign(transaction, scope, { walletId: wallet.id }, option, now);
      }
      return viewOne(transaction, wallet);
    },

    async list(scope: Scope, query: Input<CoreApi['wallets']['list']>['query']): Promise<Page<Wallet>> {
      const currency = query.currency?.toUpperCase();
      const { rows, total } = await store.listWallets(database.reader, scope, { ...query, currency });
      return { rows: await viewAll(database.reader, rows), total };
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Wallet> {
      const wallet = orNotFound(await store.findWallet(database.reader, scope, id), 'wallet');
      return viewOne(database.reader, wallet);
    },

    /**
     * Deletes a wallet and returns it. Its addresses are still watched, and what arrives there is credited.
     * Problem: `not_found`.
     */
    async remove(transaction: Transaction, scope: Scope, id: string): Promise<Wallet> {
      const wallet = orNotFound(await store.lockWallet(transaction, scope, id), 'wallet');
      await store.updateWallet(transaction, id, { deleted_at: clock.now(scope) });
      return viewOne(transaction, wallet);
    },

    /** The wallet of a stored deposit or address. It cannot be deleted until the transaction ends. */
    async target(transaction: Transaction, id: string): Promise<DepositTarget> {
      const wallet = await store.lockWalletShared(transaction, id);
      if (!wallet) throw new Error(`The wallet ${id} of a deposit does not exist`);
      return {
        ...scopeOf(wallet),
        isDeleted: wallet.deleted_at !== null,
        wallet: await viewOne(transaction, wallet),
      };
    },
  };
}
