/** Messages to the customers of invoices: once before one is due, and once when it is overdue. */
import type { Core } from '../../core/core.js';
import type { Transaction } from '../../core/db/engine.js';
import type { OpenInvoice } from '../../core/hooks.js';
import { dayOf } from '../../core/merchants/time-zone.js';
import type { Scope } from '../../core/shared/scope.js';
import { composeForInvoice, shortened, type Message } from './compose.js';
import type { MailStore } from './store.js';
import type { MailRow, MailTable } from './tables.js';

interface Dropped {
  readonly dropped: string;
}

/** Another date is news. */
const newsOf = (kind: string, id: string, dueAt: number) => [kind, id, dueAt].join(' ');

export type InvoiceMailDeps = Pick<Core, 'hooks' | 'customers' | 'database' | 'merchants'>;

/** @param rowOf a new message of a scope */
export function createInvoiceMail(
  { hooks, customers, database, merchants }: InvoiceMailDeps,
  store: MailStore,
  rowOf: (scope: Scope) => MailRow,
) {
  return {
    async add(transaction: Transaction, { merchantId, mode, id, customerId, dueAt, isOverdue }: OpenInvoice) {
      const kind = isOverdue ? 'overdue' : 'reminder';
      await store.insertOnce(transaction, {
        ...rowOf({ merchantId, mode }),
        kind,
        customer_id: customerId,
        about: id,
        once: newsOf(kind, id, dueAt),
      });
    },

    /** The message as it is now, and its receiver; why it is not sent any more. */
    async letter(
      { kind, about, once, customer_id: customerId, merchant_id: merchantId, mode }: MailTable,
      {
        shop,
        offUrl,
        publicUrl,
        language,
      }: Readonly<Record<'shop' | 'offUrl' | 'publicUrl' | 'language', string>>,
    ): Promise<(Message & { readonly to: string }) | Dropped> {
      const invoice = about === null ? undefined : await hooks.openInvoice(database.reader, about);
      const isNews = invoice && once === newsOf(kind, invoice.id, invoice.dueAt);
      if (!isNews || customerId === null || (kind === 'reminder' && invoice.isOverdue))
        return { dropped: 'It was out of date' };
      if (await store.isRefused(database.reader, customerId))
        return { dropped: 'The payer wants no messages' };
      const { email: to } = await customers.payer(database.reader, customerId);
      const { time_zone: zone } = await merchants.settings(database.reader, merchantId);
      const values = {
        shop: shortened(shop),
        title: shortened(invoice.title),
        amount: invoice.amount,
        date: dayOf(zone ?? 'UTC', invoice.dueAt),
        origin: new URL(publicUrl).host,
      };
      const facts = { language, mode, offUrl, values, url: invoice.url };
      return { ...composeForInvoice({ ...facts, kind: kind === 'overdue' ? kind : 'reminder' }), to };
    },
  };
}
