/** A Vendure server with the plugin, on the port PORT and the SQLite file DATABASE. Prints a line when it is ready. */
import { env } from 'node:process';
import { bootstrap, DefaultLogger, DefaultSchedulerPlugin, LogLevel } from '@vendure/core';
import { CryptoCheckoutPlugin } from '../dist/index.js';

const logger = new DefaultLogger({ level: env.SHOP_LOG ? LogLevel.Info : LogLevel.Error, timestamp: false });

await bootstrap({
  apiOptions: {
    hostname: '127.0.0.1',
    port: Number(env.PORT),
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: ['bearer', 'cookie'],
    superadminCredentials: { identifier: 'superadmin', password: 'only for tests' },
    cookieOptions: { secret: 'for tests' },
  },
  dbConnectionOptions: { type: 'better-sqlite3', database: env.DATABASE ?? '', synchronize: true },
  paymentOptions: { paymentMethodHandlers: [] },
  // In one process, so that a test can have a task run.
  schedulerOptions: { runTasksInWorkerOnly: false },
  plugins: [CryptoCheckoutPlugin, DefaultSchedulerPlugin.init({ manualTriggerCheckInterval: 500 })],
  logger,
});
process.stdout.write('ready\n');
