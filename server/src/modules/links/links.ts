/** Payment links: created, changed, listed, and what is held of their stock. */
import type { InvoiceStatus, Link } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { tables } from '../../core/db/schema.js';
import type { AuditActor, AuditFields } from '../../core/merchants/audit-log.js';
import { requireCurrency } from '../../core/money/amounts.js';
import { formatUnits, unitsToNumber } from '../../core/money/units.js';
import { isoTime } from '../../core/shared/clock.js';
import type { Page, PageRequest } from '../../core/shared/pagination.js';
import { invalidField, invalidState, orNotFound } from '../../core/shared/problem.js';
import { scopeOf, type Actor, type Scope } from '../../core/shared/scope.js';
import { changeSettings, checkLinkRedirect, noSettings, type LinkChanges } from './settings.js';
import * as store from './store.js';
import type { LinkRow } from './tables.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<`link.${'created' | 'updated'}`, true> {}
}

export type LinksDeps = Pick<
  Core,
  'database' | 'clock' | 'newId' | 'currencies' | 'auditLog' | 'merchants' | 'customers' | 'publicUrl'
>;

export type Links = ReturnType<typeof createLinks>;

export interface NewLink extends LinkChanges {
  readonly baseCurrency: string;
}

const linesText = ({ lines }: Pick<LinkRow, 'lines'>): string =>
  JSON.stringify(lines.map(({ name, quantity, amount }) => [name, quantity, String(amount)]));

export function createLinks(deps: LinksDeps) {
  const { database, clock, newId, currencies, auditLog, merchants, customers, publicUrl } = deps;

  function view(row: LinkRow, held: store.Held, invoiceStatus: InvoiceStatus | null): Link {
    const currency = currencies.known(row.base_currency);
    const number = (units: bigint | null) => (units === null ? null : unitsToNumber(units, currency));
    return {
      id: row.id,
      mode: row.mode,
      url: `${publicUrl}/l/${row.slug}`,
      slug: row.slug,
      title: row.title,
      text: row.text,
      amount: number(row.amount),
      minAmount: number(row.min_amount),
      maxAmount: number(row.max_amount),
      presets: row.presets.map((units) => unitsToNumber(units, currency)),
      baseCurrency: row.base_currency,
      maxQuantity: row.max_quantity,
      stock: row.stock,
      sold: held.sold,
      reserved: held.reserved,
      uses: row.is_single ? 'single' : 'many',
      lines: row.lines.map((line) => ({ ...line, amount: unitsToNumber(line.amount, currency) })),
      dueAt: row.due_at === null ? null : isoTime(row.due_at),
      invoiceStatus,
      customerId: row.customer_id,
      fields: [...row.fields],
      expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
      successText: row.success_text,
      redirectUrl: row.redirect_url,
      ...(Object.keys(row.metadata).length > 0 && { metadata: row.metadata }),
      isActive: row.is_active,
      payments: row.presses,
      createdAt: isoTime(row.created_at),
      updatedAt: isoTime(row.updated_at),
    };
  }

  async function viewAll(reader: Reader, rows: readonly LinkRow[]): Promise<Link[]> {
    const held = await store.heldOf(
      reader,
      rows.map(({ id }) => id),
    );
    const invoices = rows.filter(({ lines }) => lines.length > 0);
    const { paid, partPaid } = await store.paidOf(
      reader,
      invoices.map(({ id }) => id),
    );
    const statusOf = (row: LinkRow): InvoiceStatus | null => {
      if (row.lines.length === 0) return null;
      if (paid.has(row.id)) return 'paid';
      if (row.due_at !== null && clock.now(scopeOf(row)) > row.due_at) return 'overdue';
      return partPaid.has(row.id) ? 'part_paid' : 'open';
    };
    return rows.map((row) => view(row, held(row.id), statusOf(row)));
  }

  const viewOne = async (reader: Reader, row: LinkRow): Promise<Link> =>
    orNotFound((await viewAll(reader, [row]))[0], 'payment link');

  async function withRedirect<Row extends Pick<LinkRow, 'redirect_url'>>(
    transaction: Transaction,
    actor: Actor,
    row: Row,
  ): Promise<Row> {
    const { redirect_origins: stored } = await merchants.settings(transaction, actor.merchantId);
    const origins = tables.merchants.columns.redirect_origins.read(stored);
    return { ...row, redirect_url: checkLinkRedirect(row.redirect_url, actor, origins) };
  }

  /** The customer of an invoice. Problem: `customer_not_allowed`. */
  async function customerOf(
    transaction: Transaction,
    scope: Scope,
    email: string | null | undefined,
    row: Pick<LinkRow, 'lines' | 'customer_id'>,
  ): Promise<string | null> {
    if (email === undefined) return row.lines.length > 0 ? row.customer_id : null;
    if (email === null) return null;
    if (row.lines.length === 0) throw invalidField('customerEmail', 'Is for an invoice, which has lines');
    return (await customers.link(transaction, scope, { email })).id;
  }

  /** The settings that matter to somebody who reads the audit log. */
  function audited(row: LinkRow): AuditFields {
    const currency = currencies.known(row.base_currency);
    return {
      title: row.title,
      price: row.amount === null ? 'chosen' : `${formatUnits(row.amount, currency)} ${currency.code}`,
      stock: row.stock,
      redirectUrl: row.redirect_url,
      isActive: row.is_active,
    };
  }

  return {
    /** Problems: `unsupported_currency`, `validation_error`. */
    async create(
      transaction: Transaction,
      actor: Actor,
      { baseCurrency, customerEmail, ...input }: NewLink,
      by: AuditActor,
    ): Promise<Link> {
      const currency = requireCurrency(currencies, baseCurrency, 'baseCurrency');
      const settings = changeSettings(noSettings, input, currency);
      const now = clock.now(actor);
      const id = newId();
      const row: LinkRow = {
        ...(await withRedirect(transaction, actor, settings)),
        id,
        merchant_id: actor.merchantId,
        mode: actor.mode,
        // 80 random bits: nobody finds it by trying.
        slug: newId().slice(-16).toLowerCase(),
        base_currency: currency.code,
        customer_id: await customerOf(transaction, actor, customerEmail, { ...settings, customer_id: null }),
        due_told: null,
        overdue_told: null,
        presses: 0,
        created_at: now,
        updated_at: now,
      };
      await store.insertLink(transaction, row);
      await auditLog.record(transaction, {
        merchantId: actor.merchantId,
        mode: actor.mode,
        actor: by,
        action: 'link.created',
        subjectId: id,
        after: audited(row),
      });
      return viewOne(transaction, row);
    },

    /** Changes only what is given. Problems: `not_found`, `validation_error`. */
    async update(
      transaction: Transaction,
      actor: Actor,
      id: string,
      changes: LinkChanges,
      by: AuditActor,
    ): Promise<Link> {
      const found = await store.lockLink(transaction, id);
      const isOwn = found?.merchant_id === actor.merchantId && found.mode === actor.mode;
      const before = orNotFound(isOwn ? found : undefined, 'payment link');
      const currency = currencies.known(before.base_currency);
      const changed = { ...before, ...changeSettings(before, changes, currency) };
      const hasOtherLines = linesText(changed) !== linesText(before);
      if (hasOtherLines && (await store.heldOf(transaction, [id]))(id).payments > 0)
        throw invalidState('A payer is paying it, or has paid it: its lines cannot change');
      const row = {
        ...(changes.redirectUrl === undefined ? changed : await withRedirect(transaction, actor, changed)),
        customer_id: await customerOf(transaction, actor, changes.customerEmail, changed),
        updated_at: clock.now(actor),
      };
      await store.updateLink(transaction, row);
      await auditLog.record(transaction, {
        merchantId: actor.merchantId,
        mode: actor.mode,
        actor: by,
        action: 'link.updated',
        subjectId: id,
        before: audited(before),
        after: audited(row),
      });
      return viewOne(transaction, row);
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Link> {
      const row = orNotFound(await store.findLink(database.reader, scope, id), 'payment link');
      return viewOne(database.reader, row);
    },

    async list(scope: Scope, query: PageRequest & store.LinkFilter): Promise<Page<Link>> {
      const { rows, total } = await store.listLinks(database.reader, scope, query);
      return { rows: await viewAll(database.reader, rows), total };
    },

    /** For operators: oldest first, at most 1000. */
    listAll: async (filter: Parameters<typeof store.listAllLinks>[1]): Promise<Link[]> =>
      viewAll(database.reader, await store.listAllLinks(database.reader, filter)),

    /** For operators: the merchant and mode of a link. Problem: `not_found`. */
    owner: async (id: string): Promise<Scope> =>
      scopeOf(orNotFound(await store.findAnyLink(database.reader, id), 'payment link')),
  };
}
