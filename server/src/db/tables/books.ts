/** What bookings were worth, and what balances were when months began: books/. Rows are never changed. */
import { books, table, text, time, units } from '../table.js';

export const bookTables = {
  /** The rates of one moment, taken soon after something was booked. */
  book_rates: table(
    {
      /** When they were taken: real time. */
      at: time(),
      currency: text(),
      /** What one of it was worth in US dollars: an integer fraction `numerator/denominator`. */
      price: text(),
      source: text(),
      /** How old the rate was then. */
      rate_at: time(),
    },
    books,
  ).primaryKey('at', 'currency'),

  /** What a merchant had in all when a month began (UTC), in live mode: its months are read without those before. */
  book_balances: table(
    {
      merchant_id: text(),
      /** The first moment of the month. */
      at: time(),
      /** Empty in a row that says that there was nothing yet. */
      currency: text(),
      total: units(),
    },
    books,
  ).primaryKey('merchant_id', 'at', 'currency'),
};
