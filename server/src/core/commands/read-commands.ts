/** Commands that list and show records of any merchant, by the filters and the rules of the API's endpoints. */
import * as z from 'zod/mini';
import type { Scope } from '../shared/scope.js';
import { command, type Command, type Output } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';
import type { Option } from './options.js';
import { filtersOf, queryOptions, readQuery } from './query-options.js';
import { listInColumns, listRecords, type Columns } from './records.js';

/** The query of a list whose only filter is the merchant. */
export const noFilters = z.object({});

interface Listing<Q extends z.ZodMiniObject, Row> {
  readonly summary: string;
  readonly details?: string;
  /** The records, in the plural: `transfers`. */
  readonly what: string;
  /** The text if there are none, if it is not "There are no transfers". */
  readonly none?: string;
  readonly rows: (
    context: CommandContext,
    filter: z.output<Q> & { readonly merchantId: string | undefined },
  ) => Promise<readonly Row[]>;
  /** A record for programs; as it is by default. */
  readonly json?: (row: Row) => unknown;
}

/** A record for people: a line of text, or a row of a table. */
type Shown<Row> = { readonly line: (row: Row) => string } | { readonly columns: Columns<Row> };

/** @param query that of an endpoint. Its page is left out: operators see the first rows of all merchants */
export function listCommand<Q extends z.ZodMiniObject, Row>(
  query: Q,
  listing: Listing<Q, Row> & Shown<Row>,
): Command {
  const { summary, details = '', what, none = `There are no ${what}`, rows, json = asItIs } = listing;
  return command({
    summary,
    details,
    options: {
      merchant: option.merchant(`only ${what} of this merchant`),
      ...queryOptions(query, filtersOf(query)),
    },
    async run(context, given) {
      const found = await rows(context, { ...readQuery(query, given), merchantId: given.merchant });
      return 'line' in listing
        ? listRecords(found, json, listing.line, none)
        : listInColumns(found, json, listing.columns, none);
    },
  });
}

const asItIs = (row: unknown): unknown => row;

interface Owned<Row> {
  readonly owner: (id: string) => Promise<Scope>;
  readonly retrieve: (scope: Scope, id: string) => Promise<Row>;
}

/** @param rules finds the rules of a running command */
export const showCommand = <Row>(
  summary: string,
  id: Option<string | undefined>,
  rules: (context: CommandContext) => Owned<Row>,
  show: (row: Row) => Output,
): Command =>
  command({
    summary,
    args: { id },
    async run(context, given) {
      const { owner, retrieve } = rules(context);
      return show(await retrieve(await owner(given.id), given.id));
    },
  });
