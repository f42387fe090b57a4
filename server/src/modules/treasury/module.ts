/** The module of treasuries: contracts that payers pay to, sweeps of them, and payouts that a treasury makes, on EVM networks. */
import { payoutExports, sweeps } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import { isEvm } from '../../core/families/kinds.js';
import { defineModule } from '../../core/module.js';
import { sweepCommands } from './commands/sweeps.js';
import { transferExportCommands } from './commands/transfer-export.js';
import { treasuryStatus } from './commands/status.js';
import type { TreasuryDeps } from './context.js';
import { createPayoutExportHandlers } from './export-handlers.js';
import { treasuryParts } from './queries.js';
import { gasKeyOf, treasurySettings } from './settings.js';
import { createSweepHandlers } from './sweep-handlers.js';
import { treasuryTables } from './tables.js';
import { createTreasury } from './treasury.js';

export const treasury = defineModule({
  name: 'treasury',
  requires: ['networks'],
  consoleContract: { payoutExports, sweeps },
  access: {
    payoutExports: {
      // Only an owner releases, without proof, transfers that a wallet may still send.
      manager: ['list', 'create', 'write', 'handOver', 'keepAnswer', 'release', 'explain'],
    },
  },
  settings: treasurySettings,
  tables: treasuryTables,
  queries: treasuryParts,
  create(core: Omit<TreasuryDeps, 'gasKey'> & Pick<Core, 'config'>) {
    const rules = createTreasury({ ...core, gasKey: gasKeyOf(core.config) });
    return {
      ...rules,
      consoleHandlers: {
        ...createPayoutExportHandlers(rules, core.currencies),
        ...createSweepHandlers(rules.sweeps, core.currencies),
      },
      answers: {
        // A shop whose own wallet has the keys of its addresses needs no treasury.
        goLiveSteps(scope) {
          const networks = core.connected.map(({ network }) => network);
          const sources = networks
            .filter(({ family, mode }) => isEvm(family) && mode === scope.mode)
            .map(({ family }) => core.depositKeys.sources.find(scope, family))
            .filter((source) => !source || source.forwarder !== undefined);
          const step = { code: 'treasury' as const, isDone: !sources.includes(undefined) };
          return Promise.resolve(sources.length === 0 ? [] : [step]);
        },
        beforeFail: rules.payoutExports.ensureUnpaid,
        forgetWallets: rules.payoutExports.forgetWallets,
        async hold(transaction, transfers, actor) {
          await rules.payoutExports.hold(transaction, transfers, actor);
          return true;
        },
        payer: () => ({
          ...rules.settledByHand,
          ensureUnpaidOnChain: rules.payoutExports.ensureUnpaidOnChain,
        }),
        compareWithChain: rules.compareWithChain,
        ensureTreasury: rules.ensureUsable,
        checkNetwork: rules.check,
        isOwnAddress: rules.isOwnAccount,
        isOffered: rules.isOffered,
        chainStatus: async () => [treasuryStatus(await rules.status())],
      },
    };
  },
  commands: (rules) => [transferExportCommands(rules), sweepCommands(rules)],
});
