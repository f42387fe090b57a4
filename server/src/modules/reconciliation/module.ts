/** The module that compares the balances of addresses with the books, and books what blocks did not show. */
import { chainChecks } from 'crypto-checkout/contract';
import { coinOf } from '../../core/chains/assets.js';
import type { Core } from '../../core/core.js';
import { defineModule } from '../../core/module.js';
import { balanceStatus, reconcileCommands } from './commands.js';
import type { ReconcileDeps } from './reconcile-deps.js';
import { createReconciliation } from './reconciliation.js';
import { forgetSpending } from './store.js';
import { createCheckHandlers } from './handlers.js';
import { createOwnChecks } from './own-checks.js';
import { reconciliationTables } from './tables.js';

export const reconciliation = defineModule({
  name: 'reconciliation',
  requires: ['networks'],
  consoleContract: { chainChecks },
  tables: reconciliationTables,
  create(
    core: Omit<ReconcileDeps, 'sink' | 'now'> & Pick<Core, 'receipts' | 'clock' | 'auditLog' | 'currencies'>,
  ) {
    const rules = createReconciliation({ ...core, sink: core.receipts, now: core.clock.real });
    return {
      ...rules,
      consoleHandlers: createCheckHandlers(createOwnChecks({ ...core, reconciliation: rules })),
      answers: {
        attention: async (scope) => [
          { code: 'books_differ', count: await rules.shortages(scope), list: null },
        ],
        async onBatch(transaction, batch) {
          const { mode, network, orphanedAbove } = batch;
          const { chainAssets = {} } =
            core.connected.find((one) => one.network.mode === mode && one.network.code === network) ?? {};
          const coin = coinOf(chainAssets);
          if (orphanedAbove === undefined || !coin) return;
          const of = { mode, network, currency: coin.currency };
          await forgetSpending(transaction, of, orphanedAbove, core.clock.real());
        },
        chainStatus: async () => [await balanceStatus(rules)],
      },
    };
  },
  commands: (rules) => [reconcileCommands(rules)],
});
