/** A list's rows, page after page, while others write to it. */
import type { Pagination } from '../contract/endpoint.js';

export type Row = Readonly<Record<string, unknown>>;

type Query = Readonly<Record<string, unknown>>;

interface Page {
  readonly data: readonly Row[];
  readonly serverTime: number | undefined;
  readonly pagination?: Pagination;
}

const mostRows = 100;

/**
 * Asks for page after page, from `query.page` on, and yields each row once. Rows that are created meanwhile would push
 * others onto the next page: so what was created after the first reply is left out, and what the page before
 * already had is skipped. A row that is deleted meanwhile may still hide another.
 */
export async function* rowsOf(
  list: (query: Query) => Promise<Page>,
  query: Query = {},
): AsyncGenerator<Row, void, void> {
  let to = query['to'];
  let before = new Set<unknown>();
  for (let page = Number(query['page'] ?? 1); ; page += 1) {
    const { data, serverTime, pagination } = await list({ skip: mostRows, ...query, page, to });
    const fresh = data.filter(({ id }) => !before.has(id));
    yield* fresh;
    // Without `meta` the end is a page that brings nothing new.
    const isLast = pagination ? pagination.to >= pagination.total : fresh.length === 0;
    if (isLast || data.length === 0) return;
    // `Date` names the second that has begun.
    if (serverTime !== undefined) to ??= new Date(serverTime + 999).toISOString();
    before = new Set(data.map(({ id }) => id));
  }
}
