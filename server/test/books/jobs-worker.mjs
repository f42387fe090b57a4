/** A process that does the jobs of the books without a pause, for `two-servers.long.test.ts`, which kills it. */
import { pino } from 'pino';

/** @type {(path: string) => Promise<unknown>} */
const load = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { createApp } = /** @type {typeof import('../../src/app.js')} */ (await load('app.js'));
const { readConfig } = /** @type {typeof import('../../src/core/config.js')} */ (
  await load('core/config.js')
);
const { openDatabase } = /** @type {typeof import('../../src/database.js')} */ (await load('database.js'));

const { books } = /** @type {typeof import('../../src/modules/books/module.js')} */ (
  await load('modules/books/module.js')
);

const url = process.env['DATABASE_URL'] ?? '';
const { signal } = new AbortController();
const app = await createApp({
  config: readConfig({ DATABASE_URL: url }),
  database: await openDatabase(url),
  log: pino({ level: 'silent' }),
  publicUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
  stopping: signal,
  overrides: {
    rates: { latest: () => ({ numerator: 1n, denominator: 1n, source: 'test', at: Date.now() }) },
  },
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
for (;;)
  await Promise.all(
    books
      .rules(app)
      .jobs()
      .map((job) => job.run(signal)),
  );
