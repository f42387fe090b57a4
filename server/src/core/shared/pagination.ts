/** Pagination of lists. */
import type { Pagination } from 'crypto-checkout/contract';

/** The rows that a caller asked for. */
export interface PageRequest {
  /** 1-based. */
  readonly page: number;
  /** Rows per page. */
  readonly skip: number;
  /** The range of creation times, inclusive, in epoch milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: Row[];
  /** The number of rows in the whole list. */
  readonly total: number;
}

/** Computes `meta.pagination`. `from` and `to` are 1-based row numbers; both are 0 if the page is empty. */
export function paginate(
  { page, skip }: { readonly page: number; readonly skip: number },
  count: number,
  total: number,
): Pagination {
  const from = count === 0 ? 0 : (page - 1) * skip + 1;
  return { total, count, from, to: count === 0 ? 0 : from + count - 1 };
}
