/** Opens the database of the product: with the tables of the core and of all modules. */
import { openDatabase as open } from './core/db/open.js';
import type { Database, DatabaseOptions } from './core/db/database.js';
import { withCore } from './core/db/schema.js';
import type { Tables } from './core/db/table.js';
import { inOne } from './core/shared/in-one.js';
import { modules } from './modules.js';

export const productTables: Tables = withCore(inOne(modules.map(({ tables }) => tables)));

const queryParts = modules.map((module) => module.queries);

/** As `openDatabase` of `db/`, whose errors it throws. */
export const openDatabase = (url: string, options: Partial<DatabaseOptions> = {}): Promise<Database> =>
  open(url, { tables: productTables, queryParts, ...options });
