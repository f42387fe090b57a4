/** Invoices that are due soon, or overdue: each is reported once for each date, to the module that writes to customers. */
import type { Core } from '../../core/core.js';
import type { Reader } from '../../core/db/engine.js';
import type { OpenInvoice } from '../../core/hooks.js';
import { price } from '../../core/money/shown.js';
import { unitsToNumber } from '../../core/money/units.js';
import { scopeOf } from '../../core/shared/scope.js';
import * as store from './store.js';
import type { LinkRow } from './tables.js';

/** The time before it is due. */
const reminderMs = 3 * 86_400_000;

type RemindersDeps = Pick<Core, 'database' | 'clock' | 'currencies' | 'hooks' | 'publicUrl'>;

export function createReminders({ database, clock, currencies, hooks, publicUrl }: RemindersDeps) {
  async function view(reader: Reader, row: LinkRow | undefined): Promise<OpenInvoice | undefined> {
    if (!row?.is_active || row.customer_id === null || row.due_at === null || row.amount === null)
      return undefined;
    const { paid } = await store.paidOf(reader, [row.id]);
    if (paid.has(row.id)) return undefined;
    const currency = currencies.known(row.base_currency);
    return {
      ...scopeOf(row),
      id: row.id,
      customerId: row.customer_id,
      title: row.title,
      dueAt: row.due_at,
      amount: price(unitsToNumber(row.amount, currency), currency.code),
      url: `${publicUrl}/l/${row.slug}`,
      isOverdue: clock.now(scopeOf(row)) > row.due_at,
    };
  }

  return {
    openInvoice: async (reader: Reader, id: string) => view(reader, await store.findAnyLink(reader, id)),

    /** Several servers may do so at once. */
    async remind(signal: AbortSignal): Promise<void> {
      for (const scope of await store.invoiceScopes(database.reader)) {
        const now = clock.now(scope);
        for (const id of await store.dueInvoices(database.reader, scope, now, now + reminderMs)) {
          if (signal.aborted) return;
          await database.write(async (transaction) => {
            const row = await store.lockLink(transaction, id);
            const isOverdue = row?.due_at != null && now > row.due_at;
            // Another server was faster.
            if (!row || row[isOverdue ? 'overdue_told' : 'due_told'] === row.due_at) return;
            const notified = isOverdue ? { overdue_told: row.due_at } : { due_told: row.due_at };
            await store.updateLink(transaction, { ...row, ...notified });
            const invoice = await view(transaction, row);
            if (invoice) await hooks.onInvoiceDue(transaction, invoice);
          });
        }
      }
    },
  };
}
