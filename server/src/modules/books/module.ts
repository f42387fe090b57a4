/** The module of the books: what changed a merchant's balances, for its accountant. */
import { books as endpoints } from 'crypto-checkout/contract';
import { defineModule } from '../../core/module.js';
import { createBookHandlers } from './books-handlers.js';
import { createBooks, type BooksDeps } from './books.js';
import { bookCommands } from './commands.js';
import { bookTables } from './tables.js';

export const books = defineModule({
  name: 'books',
  contract: { books: endpoints },
  resources: {
    books: {
      title: 'Books',
      noun: 'booking',
      description: 'The changes of your balances, for your accountant. Read-only.',
    },
  },
  tables: bookTables,
  create(core: BooksDeps) {
    const rules = createBooks(core);
    return { ...rules, handlers: { books: createBookHandlers(rules) }, answers: { onWiped: rules.forget } };
  },
  commands: (rules) => [bookCommands(rules)],
});
