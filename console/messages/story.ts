/** Texts of a payment's life: the sentence at its top, and its steps. */
import { pick } from './pick.js';

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/** `16 days`, rounded down, in the largest unit that fits. */
function span(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  if (minutes < 60) return counted(minutes, 'minute', 'minutes');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, 'hour', 'hours') : counted(Math.floor(hours / 24), 'day', 'days');
}

export const texts = pick({
  en: {
    over: (sum: string) => `${sum} more than the price came. Refund the excess: it is the payer’s.`,
    taken: (came: string, due: string) => `${came} of ${due} came, and the shop accepted it as paid.`,
    paidLate: (lateMs: number) => `The money came ${span(lateMs)} late. The order counts as paid.`,
    late: (came: string, due: string, lateMs: number) =>
      `${came} of ${due} came ${span(lateMs)} late, and the order is not paid. Refund it, ask for the rest, or accept it as paid.`,
    lateWhole: (came: string, lateMs: number) =>
      `${came} came ${span(lateMs)} late, and the order is not paid. Refund it, or accept it as paid.`,
    short: (came: string, due: string) =>
      `${came} of ${due} came before the time was up, and the order is not paid. Refund it, ask for the rest, or accept it as paid.`,
    open: (came: string, due: string) => `${came} of ${due} came. The payer can still send the rest.`,
    afterCancel: (came: string) =>
      `${came} came for an order that is cancelled. Refund it, or deliver the order anyway.`,
    wrong: (came: string) =>
      `${came} came in another coin, or on another network, and the order is not paid. Refund it.`,
    reversed: 'The network has reverted the transaction. The order is not paid: do not deliver it.',
    life: 'Life of the payment',
    steps: {
      created: 'Started',
      chosen: 'Coin chosen',
      locked: 'Price fixed',
      seen: 'Money seen',
      confirmed: 'Confirmed',
      settled: 'Paid',
      notified: 'Shop notified',
      refunded: 'Refunded',
    },
    failing: 'The shop’s server refuses it',
  },
});
