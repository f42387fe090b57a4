/** Merchant accounts: names, logo and service fee. */
import type { Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import { afterCommit } from '../db/transaction-context.js';
import { invalidField, notFound } from '../shared/problem.js';
import * as store from './store.js';
import type { MerchantRow } from './store.js';
import type { Transaction, Reader } from '../db/engine.js';

export interface Merchant {
  readonly id: string;
  readonly name: string;
  /** The name that payers see. */
  readonly businessName: string;
  /** An https URL, or empty. */
  readonly logo: string;
  /** The service fee: 100 is 1 %. */
  readonly feeBasisPoints: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewMerchant {
  readonly name: string;
  /** Defaults to `name`. */
  readonly businessName?: string | undefined;
  readonly logo?: string | undefined;
  readonly feeBasisPoints?: number | undefined;
}

export type MerchantChange = Partial<NewMerchant>;

export interface Merchants {
  /** Problem: `validation_error`. */
  create(transaction: Transaction, input: NewMerchant): Promise<Merchant>;
  /** Changes only the given fields. Problems: `validation_error`, `not_found`. */
  update(transaction: Transaction, id: string, change: MerchantChange): Promise<Merchant>;
  /** Oldest first. */
  list(reader: Reader): Promise<Merchant[]>;
  /** Problem: `not_found`. */
  retrieve(reader: Reader, id: string): Promise<Merchant>;
  /**
   * A merchant's settings, from memory. A change by this process takes effect at once, one by another within 5 s.
   * Problem: `not_found`.
   */
  settings(reader: Reader, id: string): Promise<MerchantRow>;
}

const cachedMs = 5000;

export function createMerchants(clock: Clock, newId: NewId): Merchants {
  const cache = new Map<string, { readonly row: MerchantRow; readonly until: number }>();

  async function row(reader: Reader, id: string): Promise<MerchantRow> {
    const found = await store.findMerchant(reader, id);
    if (!found) throw notFound('merchant');
    return found;
  }

  return {
    async settings(reader, id) {
      const cached = cache.get(id);
      if (cached && performance.now() < cached.until) return cached.row;
      const found = await row(reader, id);
      cache.set(id, { row: found, until: performance.now() + cachedMs });
      return found;
    },

    async create(transaction, input) {
      check(input);
      const now = clock.now('live');
      const created: MerchantRow = {
        id: newId(),
        name: input.name,
        business_name: input.businessName ?? input.name,
        logo: input.logo ?? '',
        fee_basis_points: input.feeBasisPoints ?? 100,
        redirect_origins: null,
        created_at: now,
        updated_at: now,
      };
      await store.insertMerchant(transaction, created);
      return view(created);
    },

    async update(transaction, id, change) {
      check(change);
      const updated = await store.updateMerchant(transaction, id, {
        ...(change.name !== undefined && { name: change.name }),
        ...(change.businessName !== undefined && { business_name: change.businessName }),
        ...(change.logo !== undefined && { logo: change.logo }),
        ...(change.feeBasisPoints !== undefined && { fee_basis_points: change.feeBasisPoints }),
        updated_at: clock.now('live'),
      });
      if (!updated) throw notFound('merchant');
      cache.delete(id);
      afterCommit(() => cache.delete(id));
      return view(updated);
    },

    async list(reader) {
      return (await store.listMerchants(reader)).map(view);
    },

    async retrieve(reader, id) {
      return view(await row(reader, id));
    },
  };
}

function check({ name, businessName, logo, feeBasisPoints }: MerchantChange): void {
  if (name !== undefined) checkName('name', name);
  if (businessName !== undefined) checkName('businessName', businessName);
  if (logo !== undefined && logo !== '' && !isHttpsUrl(logo)) {
    throw invalidField(
      'logo',
      'Must be empty, or an https URL of at most 2048 characters without a user name or password',
    );
  }
  const isFee =
    feeBasisPoints === undefined ||
    (Number.isInteger(feeBasisPoints) && feeBasisPoints >= 0 && feeBasisPoints <= 10_000);
  if (!isFee) throw invalidField('feeBasisPoints', 'Must be an integer from 0 to 10000');
}

function checkName(field: string, value: string): void {
  if (value.trim() === '' || value.length > 255) throw invalidField(field, 'Must be 1 to 255 characters');
}

function isHttpsUrl(text: string): boolean {
  if (text.length > 2048 || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '';
}

function view(row: MerchantRow): Merchant {
  return {
    id: row.id,
    name: row.name,
    businessName: row.business_name,
    logo: row.logo,
    feeBasisPoints: row.fee_basis_points,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
