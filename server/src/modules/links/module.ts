/** The module of payment links: pages that sell without code. */
import { links as endpoints } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import { wasAway } from '../../core/db/removed-modules.js';
import { defineModule } from '../../core/module.js';
import { linkCommands } from './commands.js';
import { createLinkHandlers } from './handlers.js';
import { createLinks, type LinksDeps } from './links.js';
import { createReminders } from './reminders.js';
import { createSales } from './sales.js';
import { linkParts } from './store.js';
import { linkTables } from './tables.js';

export const links = defineModule({
  name: 'links',
  contract: { links: endpoints },
  resources: {
    links: {
      title: 'Payment links',
      noun: 'payment link',
      record: 'Link',
      description: 'Pages that sell without code. Each press of their button is an ordinary payment.',
    },
  },
  tables: linkTables,
  queries: linkParts,
  create(core: LinksDeps & Pick<Core, 'payments' | 'hooks' | 'keys' | 'config'>) {
    const rules = createLinks(core);
    const sales = createSales(core);
    const reminders = createReminders(core);
    return {
      ...rules,
      sales,
      reminders,
      async pages() {
        const { linkPages } = await import('./link-page.js');
        return { router: linkPages(core, sales), links: {} };
      },
      async prepare() {
        if (await wasAway(core.database.reader, 'links')) await sales.followMissed();
      },
      jobs: () => [
        { name: 'links', intervalMs: 3_600_000, run: () => sales.forgetVisitors() },
        { name: 'due invoices', intervalMs: 60_000, run: reminders.remind },
      ],
      handlers: { links: createLinkHandlers(rules) },
      answers: { ...sales.answers, openInvoice: reminders.openInvoice, onClockMoved: reminders.remind },
    };
  },
  commands: (rules) => [linkCommands(rules)],
});
