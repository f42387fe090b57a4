/** The module for setting up a shop: one command makes it, one says what is missing, one shows its webhooks. */
import { defineModule } from '../../core/module.js';
import { doctor } from './doctor.js';
import { init } from './init.js';
import { listen } from './listen.js';

export const setup = defineModule({
  name: 'setup',
  create: () => ({}),
  commands: () => [
    { name: '', summary: 'Setting up a shop.', commands: { init, doctor } },
    { name: 'webhooks', summary: 'Events that are sent to merchants.', commands: { listen } },
  ],
});
