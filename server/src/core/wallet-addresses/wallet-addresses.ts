/** Wallet addresses that merchants save as destinations of transfers. */
import type { CoreApi, Data, Input } from 'crypto-checkout/contract';
import type { Network } from '../chains/networks.js';
import { canonicalForms, describeInvalid, parseAddress } from '../addresses/formats.js';
import { isoTime } from '../shared/clock.js';
import type { RoomDeps } from '../db/room-deps.js';
import { orNotFound, Problem } from '../shared/problem.js';
import { actorOf, type AuditAction, type AuditLog } from '../merchants/audit-log.js';
import type { Caller, Scope } from '../shared/scope.js';
import * as store from './store.js';
import type { StoredWalletAddress } from './store.js';
import type { Transaction } from '../db/engine.js';
import type { Page } from '../shared/pagination.js';

export type WalletAddress = Data<CoreApi['walletAddresses']['retrieve']>;
/** An address as it is stored, for the transfers that go to it. */
export type SavedAddress = StoredWalletAddress;
type NewWalletAddress = Input<CoreApi['walletAddresses']['create']>['body'];

export type WalletAddresses = ReturnType<typeof createWalletAddresses>;

export function createWalletAddresses(deps: RoomDeps, auditLog: AuditLog) {
  const { database, clock, newId, currencies } = deps;

  /** The networks that an address can be for. */
  function networksOf({ mode }: Scope, { currency, network }: NewWalletAddress) {
    const ofCurrency = currencies
      .options(mode)
      .filter((option) => option.currency.code === currency.toUpperCase());
    const meant =
      network === ''
        ? ofCurrency
        : ofCurrency.filter((option) => option.network.code === network.toLowerCase());
    const [first] = meant;
    if (first) return { currency: first.currency.code, networks: meant.map((option) => option.network) };
    const where = ofCurrency.length > 0 ? `the network "${network}"` : 'any network';
    throw new Problem(
      'unsupported_currency',
      `${currency} is not available on ${where}; see GET /v1/currencies`,
      { param: ofCurrency.length > 0 ? 'network' : 'currency' },
    );
  }

  function canonical(address: string, networks: readonly Network[]): string {
    for (const network of networks) {
      const parsed = parseAddress(network, address);
      if (parsed !== undefined) return parsed;
    }
    const names = networks.map((network) => network.name).join(', ');
    const message = describeInvalid(
      address,
      `This is not a valid address on ${names}; look for a typing mistake`,
    );
    throw new Problem('invalid_address', message, { param: 'address' });
  }

  async function audit(
    transaction: Transaction,
    caller: Caller,
    action: AuditAction,
    { id: subjectId, address, currency, network, isPrimary }: WalletAddress,
  ): Promise<void> {
    const { merchantId, mode } = caller;
    const after = { address, currency, network, isPrimary };
    const actor = actorOf(caller);
    await auditLog.record(transaction, { merchantId, mode, actor, action, subjectId, after });
  }

  return {
    /** Problems: `unsupported_currency`, `invalid_address`, `address_exists`. */
    async create(transaction: Transaction, caller: Caller, input: NewWalletAddress): Promise<WalletAddress> {
      const { currency, networks } = networksOf(caller, input);
      const row = {
        id: newId(),
        merchant_id: caller.merchantId,
        mode: caller.mode,
        currency,
        network: input.network.toLowerCase(),
        address: canonical(input.address, networks),
        label: input.label || null,
        created_at: clock.now(caller),
      };
      if (!(await store.insertWalletAddress(transaction, row))) {
        throw new Problem('address_exists', 'This address is already saved for this currency and network', {
          param: 'address',
        });
      }
      if (input.isPrimary) await store.setPrimary(transaction, row);
      const created = view({ ...row, primary_id: input.isPrimary ? row.id : null });
      await audit(transaction, caller, 'wallet_address.created', created);
      return created;
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<WalletAddress> {
      const row = orNotFound(await store.findWalletAddress(database.reader, scope, id), 'wallet address');
      return view(row);
    },

    async list(
      scope: Scope,
      { currency, network, address, ...filter }: Input<CoreApi['walletAddresses']['list']>['query'],
    ): Promise<Page<WalletAddress>> {
      const { rows, total } = await store.listWalletAddresses(database.reader, scope, {
        ...filter,
        currency: currency?.toUpperCase(),
        network: network?.toLowerCase(),
        addresses: address === undefined ? undefined : canonicalForms(scope.mode, address),
      });
      return { rows: rows.map(view), total };
    },

    /** Makes an address the primary one of its currency and network, replacing the previous one. Problem: `not_found`. */
    async makePrimary(transaction: Transaction, caller: Caller, id: string): Promise<WalletAddress> {
      const row = orNotFound(await store.findWalletAddress(transaction, caller, id), 'wallet address');
      await store.setPrimary(transaction, row);
      const changed = view({ ...row, primary_id: row.id });
      if (row.primary_id !== row.id) {
        await audit(transaction, caller, 'wallet_address.made_primary', changed);
      }
      return changed;
    },

    /** The address of a transfer that names a saved one. */
    find: store.findWalletAddress,

    findByAddress: store.findByAddress,
  };
}

function view(row: StoredWalletAddress): WalletAddress {
  return {
    id: row.id,
    mode: row.mode,
    isPrimary: row.primary_id !== null,
    network: row.network,
    currency: row.currency,
    address: row.address,
    ...(row.label !== null && { label: row.label }),
    createdAt: isoTime(row.created_at),
  };
}
