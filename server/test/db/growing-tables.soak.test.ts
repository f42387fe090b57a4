/** The statements of a server among the payments of two years, on both engines: minutes each, so only `npm run soak` runs them. */
import { engines } from '../support/engines.js';
import { testGrowingTables } from './growing-tables.js';

for (const engine of engines) testGrowingTables(engine, Number(process.env['N'] ?? 200_000));
