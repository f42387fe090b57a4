/** The module that erases customers, and that encrypts personal data under another key. */
import { erasure as erasureApi } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import { defineModule } from '../../core/module.js';
import { customerCommands, dataKeyCommands } from './commands.js';
import { createErasure, type ErasureDeps } from './erasure.js';
import { createErasureHandlers } from './handlers.js';

export const erasure = defineModule({
  name: 'erasure',
  consoleContract: { erasure: erasureApi },
  create(core: ErasureDeps & Pick<Core, 'customers'>) {
    const rules = createErasure(core);
    return { ...rules, consoleHandlers: createErasureHandlers(core.customers, rules) };
  },
  commands: (rules) => [customerCommands(rules), dataKeyCommands],
});
