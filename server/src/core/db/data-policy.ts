/**
 * Policies for the rows of a table: how they are wiped with a merchant's test data, and how a customer is erased from them. Copies have
 * all tables, whole.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely';

type Condition = RawBuilder<SqlBool>;

export interface WipedRows {
  /** Rows of a merchant's test data. Those of each condition are deleted on their own, so that each can use an index. */
  rows(merchantId: string): readonly Condition[];
  /** Tables that the conditions read: their rows are deleted later. */
  readonly reads: readonly string[];
  /** Tables whose rows are deleted before, for another reason than a foreign key. */
  readonly after?: readonly string[];
  /** Deleted before all other rows, even the books. */
  readonly isFirst?: true;
  /** Deleted after all other rows. */
  readonly isLast?: true;
}

/**
 * - `replaced`: by the rule that finds the customer.
 * - `text`, `json`: the email is replaced, in rows of the customer's payments.
 * - `searched`: JSON, in which the customer is searched for in all rows of the merchant.
 * - `emptied`: with the row that a foreign key names, if that was found by the search.
 * - `kept`: it is not a customer's.
 */
type Erased = 'replaced' | 'text' | 'json' | 'searched' | 'emptied' | 'kept';

/** The rule by which the index columns of a row follow from its personal data: db/personal-data.ts. */
export type PersonalIndex = 'payer' | 'person' | 'earlierEmail' | 'account' | 'colleague' | 'identity';

/** Columns that are encrypted if there is a data key: db/personal-data.ts. */
export interface Personal {
  readonly columns: Readonly<Record<string, Erased>>;
  readonly index?: PersonalIndex;
  /** The column with the id of the customer's payment. */
  readonly payment?: string;
  /** A value is bound to these columns of its row: it cannot be read in another row. */
  readonly boundTo?: readonly string[];
  /** Tells rows apart where there is no primary key. */
  readonly key?: readonly string[];
}

export interface DataPolicy {
  readonly wiped:
    | WipedRows
    /** Why a reset keeps it. */
    | { readonly kept: string }
    /** Deleted with other rows, or by another rule. */
    | { readonly with: string };
  readonly personal?: Personal;
}

export const isOwn = (merchantId: string): Condition =>
  sql<SqlBool>`merchant_id = ${merchantId} and mode = 'test'`;

/** @param table that the column has an id of */
export const namesOwn = (merchantId: string, column: string, table: string): Condition =>
  sql<SqlBool>`${sql.ref(column)} in (select id from ${sql.table(table)} where ${isOwn(merchantId)})`;

/** Rows with a merchant and a mode. */
export const own: DataPolicy = { wiped: { rows: (merchantId) => [isOwn(merchantId)], reads: [] } };

/** Rows that name one of the merchant's by its id. @param tables by column */
export const ofOwn = (tables: Readonly<Record<string, string>>): DataPolicy => ({
  wiped: {
    rows: (merchantId) =>
      Object.entries(tables).map(([column, table]) => namesOwn(merchantId, column, table)),
    reads: Object.values(tables),
  },
});

/** @param why such as `of no merchant` */
export const kept = (why: string): DataPolicy => ({ wiped: { kept: why } });

export const deletedWith = (rows: string): DataPolicy => ({ wiped: { with: rows } });

/** A merchant's rows with personal data. */
export const ownPersonal = (personal: Personal): DataPolicy => ({ ...own, personal });
