/** The module for e-mail to payers and to a merchant's people. */
import { mailApi } from 'crypto-checkout/contract';
import { defineModule } from '../../core/module.js';
import { mailCommands } from './commands.js';
import { createMailHandlers } from './handlers.js';
import { createMail, type MailDeps } from './mail.js';
import { mailSettings } from './settings.js';
import { mailTables } from './tables.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const mail = defineModule({
  name: 'mail',
  consoleContract: mailApi,
  access: { ownMail: { support: 'all', accountant: 'all' }, receiptMail: { support: 'all' } },
  settings: mailSettings,
  tables: mailTables,
  create(core: MailDeps) {
    const rules = createMail(core);
    const { staff } = rules;
    return {
      ...rules,
      consoleHandlers: createMailHandlers(core.database.reader, rules),
      async pages() {
        const { offPage } = await import('./off-page.js');
        return { router: offPage(core.publicUrl, rules), links: {} };
      },
      jobs: () => [
        ...(rules.isOn
          ? [
              { name: 'mail', intervalMs: 1000, run: rules.send },
              { name: 'networks behind', intervalMs: minuteMs, run: staff.lookAtNetworks },
              { name: 'digests', intervalMs: minuteMs, run: staff.addDigests },
            ]
          : []),
        { name: 'old mail', intervalMs: hourMs, run: rules.prune },
        { name: 'mail of those who left', intervalMs: hourMs, run: staff.forget },
      ],
      // Without the reason, which names hosts and accounts: anybody can read notices.
      notices: () =>
        rules.trouble() === undefined ? [] : ['The mail server takes no messages: "mail list" says why'],
      answers: {
        hears: rules.hears,
        onEvent: rules.onEvent,
        onRefundLink: rules.onRefundLink,
        onInvoiceDue: rules.onInvoiceDue,
        ...(rules.isOn && { onTrouble: staff.onTrouble, onAudited: staff.onAudited }),
      },
    };
  },
  commands: (rules) => [mailCommands(rules)],
});
