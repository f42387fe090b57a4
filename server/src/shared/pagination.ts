/** Where a page of a list stands among all its rows. */
import type { Pagination } from 'crypto-checkout/contract';

/** Which rows of a list are asked for. */
export interface PageRequest {
  /** 1-based. */
  readonly page: number;
  /** Rows per page. */
  readonly skip: number;
  /** On the time of creation, inclusive, epoch milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** `from` and `to` are 1-based row numbers, both 0 when the page is empty. */
export function paginate(
  { page, skip }: { readonly page: number; readonly skip: number },
  count: number,
  total: number,
): Pagination {
  const from = count === 0 ? 0 : (page - 1) * skip + 1;
  return { total, count, from, to: count === 0 ? 0 : from + count - 1 };
}
