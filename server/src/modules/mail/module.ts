/** The module for e-mail to payers. */
import { defineModule } from '../../core/module.js';
import { mailCommands } from './commands.js';
import { createMail } from './mail.js';
import { mailSettings } from './settings.js';
import { mailTables } from './tables.js';

const hourMs = 3_600_000;

export const mail = defineModule({
  name: 'mail',
  settings: mailSettings,
  tables: mailTables,
  create(core) {
    const rules = createMail(core);
    return {
      ...rules,
      async pages() {
        const { offPage } = await import('./off-page.js');
        return { router: offPage(core.publicUrl, rules), links: {} };
      },
      jobs: () => [
        ...(rules.isOn ? [{ name: 'mail', intervalMs: 1000, run: rules.send }] : []),
        { name: 'old mail', intervalMs: hourMs, run: rules.prune },
      ],
      notices: () => {
        const trouble = rules.trouble();
        return trouble === undefined ? [] : [`The mail server takes no messages: ${trouble}`];
      },
      answers: {
        hears: rules.hears,
        onEvent: rules.onEvent,
        onRefundLink: rules.onRefundLink,
      },
    };
  },
  commands: (rules) => [mailCommands(rules)],
});
