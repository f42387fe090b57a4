/** Opens the database of the product: with the tables of the core and of all modules. */
import { openDatabase as open } from './db/open.js';
import type { Database, DatabaseOptions } from './db/database.js';
import { withCore } from './db/schema.js';
import type { Tables } from './db/table.js';
import { inOne } from './shared/in-one.js';
import { modules } from './modules.js';

export const productTables: Tables = withCore(inOne(modules.map(({ tables }) => tables)));

const queryParts = modules.map((module) => module.queries);

/** As `openDatabase` of `db/`, whose errors it throws. */
export const openDatabase = (url: string, options: Partial<DatabaseOptions> = {}): Promise<Database> =>
  open(url, { tables: productTables, queryParts, ...options });
