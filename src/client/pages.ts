/** Iterates over a list page by page while it may be changing. */
import type { Pagination } from '../contract/endpoint.js';

export type Row = Readonly<Record<string, unknown>>;

type Query = Readonly<Record<string, unknown>>;

interface Page {
  readonly data: readonly Row[];
  readonly serverTime: number | undefined;
  readonly pagination?: Pagination;
}

const maxRowsPerPage = 100;

/**
 * Requests one page after another, starting at `query.page`, and yields each row once. New rows push older ones onto
 * the next page, so rows created after the first reply are left out, and rows already seen on the previous page are
 * skipped. A row that is deleted during the iteration can still hide another one.
 */
export async function* iterateRows(
  list: (query: Query) => Promise<Page>,
  query: Query = {},
): AsyncGenerator<Row, void, void> {
  let to = query['to'];
  let previousIds = new Set<unknown>();
  for (let page = Number(query['page'] ?? 1); ; page += 1) {
    const { data, serverTime, pagination } = await list({ skip: maxRowsPerPage, ...query, page, to });
    const fresh = data.filter(({ id }) => !previousIds.has(id));
    yield* fresh;
    // A server that sends no `meta` is at the end when a page has nothing new.
    const isLast = pagination ? pagination.to >= pagination.total : fresh.length === 0;
    if (isLast || data.length === 0) return;
    // `Date` is cut to whole seconds: include the rest of this one.
    if (serverTime !== undefined) to ??= new Date(serverTime + 999).toISOString();
    previousIds = new Set(data.map(({ id }) => id));
  }
}
