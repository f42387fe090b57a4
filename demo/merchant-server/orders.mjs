/** The shop's orders, in the shop's own database: what was sold, for how much, and which payment paid for it. */
import Database from 'better-sqlite3';

/**
 * @typedef {object} Order
 * @property {string} reference the payment's `txRef`
 * @property {number} quantity
 * @property {string} amount a decimal in `currency`: the price that the shop set, which no browser can change
 * @property {string} currency
 * @property {string} paymentId the payment that the shop created for the order
 * @property {string} paymentUrl its page on the payment server
 * @property {string | null} paidBy the payment that paid for it; null while the order is open
 * @property {string | null} refundUrl where the payer asks for an excess; null if nothing goes back
 */

/**
 * @typedef {'paid' | 'already paid' | 'paid twice'} Settlement an order gets `paid` only once
 */

/** @param {string} file a SQLite file, or `:memory:` */
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
    paidBy text,
    refundUrl text
  )`);
  const insert = database.prepare(
    'insert into orders values (@reference, @quantity, @amount, @currency, @paymentId, @paymentUrl, @paidBy, @refundUrl)',
  );
  const select = database.prepare('select * from orders where reference = ?');
  const pay = database.prepare('update orders set paidBy = ? where reference = ? and paidBy is null');

  const refund = database.prepare('update orders set refundUrl = ? where reference = ?');

  /** @param {string} reference */
  const find = (reference) => /** @type {Order | undefined} */ (select.get(reference));

  return {
    find,

    /** @param {Order} order */
    add(order) {
      insert.run(order);
    },

    /**
     * Marks the order as paid. It is safe to call any number of times, also in parallel: only one call changes the row.
     *
     * @param {string} reference
     * @param {string} paymentId
     * @returns {Settlement}
     */
    settle(reference, paymentId) {
      if (pay.run(paymentId, reference).changes === 1) return 'paid';
      return find(reference)?.paidBy === paymentId ? 'already paid' : 'paid twice';
    },

    /** @param {string} reference @param {string} refundUrl anyone who has it decides where the money goes */
    setRefund(reference, refundUrl) {
      refund.run(refundUrl, reference);
    },

    close() {
      database.close();
    },
  };
}

/** @typedef {ReturnType<typeof openOrders>} Orders */
