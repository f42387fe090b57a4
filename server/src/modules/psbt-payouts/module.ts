/** The module of payouts by PSBT, on Bitcoin and Litecoin: the server writes the transaction, and the merchant's wallet signs it. */
import { psbts } from 'crypto-checkout/contract';
import { defineModule } from '../../core/module.js';
import { psbtCommands } from './commands.js';
import type { PsbtDeps } from './context.js';
import { createPsbtHandlers } from './psbt-handlers.js';
import { createPsbtPayouts } from './psbt-payouts.js';
import { psbtParts } from './queries.js';
import { psbtTables } from './tables.js';

export const psbtPayouts = defineModule({
  name: 'psbt-payouts',
  requires: ['networks'],
  consoleContract: { psbts },
  tables: psbtTables,
  queries: psbtParts,
  create(core: PsbtDeps) {
    const rules = createPsbtPayouts(core);
    return {
      ...rules,
      consoleHandlers: createPsbtHandlers(rules, core.currencies),
      answers: {
        beforeSettle: rules.ensureFree,
        beforeFail: rules.ensureUnpaid,
        untouchedCoins: rules.untouchedCoins,
        sumUnspent: () => rules.sumUnspent,
        async chainStatus() {
          const psbts = await rules.inTrouble();
          const lines = psbts.map(
            ({ id, mode, network, problem }) => `${mode}  ${network}  PSBT ${id}: ${problem}`,
          );
          return [{ lines, json: { psbts }, hasFailed: psbts.length > 0 }];
        },
      },
    };
  },
  commands: (rules) => [psbtCommands(rules)],
});
