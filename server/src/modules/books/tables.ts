/** The worth of bookings, and balances at the ends of days: books/. Rows are never changed. */
import { deletedWith, kept } from '../../core/db/data-policy.js';
import type { Rows } from '../../core/db/schema.js';
import { books, table, text, time, units } from '../../core/db/table.js';
import type { Mode } from '../../core/shared/scope.js';

export const bookTables = {
  /** The rates of one moment, taken soon after something was booked. */
  book_rates: table(
    kept('of no merchant'),
    {
      /** When they were taken: real time. */
      at: time(),
      currency: text(),
      /** The price of one of it in US dollars: an integer fraction `numerator/denominator`. */
      price: text(),
      source: text(),
      /** The time of the rate that was used. */
      rate_at: time(),
    },
    books,
  ).primaryKey('at', 'currency'),

  /** A merchant's whole balance at the end of a day (UTC) with bookings: a period is read without earlier bookings. */
  book_balances: table(
    deletedWith('the last transaction of a reset'),
    {
      merchant_id: text(),
      mode: text<Mode>(),
      /** The first moment after the day, by the merchant's clock. */
      at: time(),
      /** Empty in a row that records that there was nothing yet. */
      currency: text(),
      total: units(),
    },
    books,
  ).primaryKey('merchant_id', 'mode', 'at', 'currency'),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof bookTables> {}
}

export type BookRateTable = Rows<typeof bookTables>['book_rates'];
