/** The shop's orders, in a database of its own: what was sold, for how much, and which payment paid it. */
import Database from 'better-sqlite3';

/**
 * @typedef {object} Order
 * @property {string} reference the payment's `txRef`
 * @property {number} quantity
 * @property {string} amount a decimal in `currency`: the shop's own price, which no browser can change
 * @property {string} currency
 * @property {string} paymentId the payment that was created with the order
 * @property {string} paymentUrl its page on the payment server
 * @property {string | null} paidBy the payment that paid it; null while it is open
 */

/**
 * @typedef {'paid' | 'paid before' | 'paid twice'} Settlement `paid` is answered once in an order's life
 */

/** @param {string} file SQLite's, or `:memory:` */
export function openOrders(file) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec(`create table if not exists orders (
    reference text primary key,
    quantity integer not null,
    amount text not null,
    currency text not null,
    paymentId text not null,
    paymentUrl text not null,
    paidBy text
  )`);
  const insert = database.prepare(
    'insert into orders values (@reference, @quantity, @amount, @currency, @paymentId, @paymentUrl, @paidBy)',
  );
  const select = database.prepare('select * from orders where reference = ?');
  const pay = database.prepare('update orders set paidBy = ? where reference = ? and paidBy is null');

  /** @param {string} reference */
  const find = (reference) => /** @type {Order | undefined} */ (select.get(reference));

  return {
    find,

    /** @param {Order} order */
    add(order) {
      insert.run(order);
    },

    /**
     * Marks the order as paid, however often and from wherever it is called: of all calls one changes the row.
     *
     * @param {string} reference
     * @param {string} paymentId
     * @returns {Settlement}
     */
    settle(reference, paymentId) {
      if (pay.run(paymentId, reference).changes === 1) return 'paid';
      return find(reference)?.paidBy === paymentId ? 'paid before' : 'paid twice';
    },

    close() {
      database.close();
    },
  };
}

/** @typedef {ReturnType<typeof openOrders>} Orders */
