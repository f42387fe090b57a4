/** The module that erases customers, and that encrypts personal data under another key. */
import { defineModule } from '../../core/module.js';
import { customerCommands, dataKeyCommands } from './commands.js';
import { createErasure } from './erasure.js';

export const erasure = defineModule({
  name: 'erasure',
  create: createErasure,
  commands: (rules) => [customerCommands(rules), dataKeyCommands],
});
