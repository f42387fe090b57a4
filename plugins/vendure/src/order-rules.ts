/** Rules of an order: its amount due, if it can be paid, and how much of it is delivered. */
import {
  orderItemsAreDelivered,
  orderItemsArePartiallyDelivered,
  orderItemsArePartiallyShipped,
  orderItemsAreShipped,
  totalCoveredByPayments,
  type Order,
  type OrderState,
} from '@vendure/core';

/**
 * In the smallest unit of the order's currency; below 0 if more was paid than it costs. Counted as Vendure does, which moves an
 * order on only once this is covered: settled refunds are due again.
 */
export const amountDue = (order: Order): number =>
  order.totalWithTax - totalCoveredByPayments(order, ['Settled', 'Authorized']);

/** In the last of them, the shop's staff has made a paid order dearer. */
const payable = ['AddingItems', 'ArrangingPayment', 'ArrangingAdditionalPayment'];

/** Undefined if the order can be paid now. */
export function notReadyReason(order: Order): string | undefined {
  if (!payable.includes(order.state)) return 'The order is paid or closed';
  if (order.lines.length === 0) return 'The order is empty';
  if (!order.customer) return 'The order needs its customer first: setCustomerForOrder';
  if (order.shippingLines.length === 0) return 'The order needs a shipping method first';
  if (amountDue(order) <= 0) return 'Nothing is due';
  return undefined;
}

/** By its fulfillments, as Vendure itself decides it; undefined while nothing is on its way. */
export function deliveryState(order: Order): OrderState | undefined {
  if (order.fulfillments.length === 0) return undefined;
  if (orderItemsAreDelivered(order)) return 'Delivered';
  if (orderItemsArePartiallyDelivered(order)) return 'PartiallyDelivered';
  if (orderItemsAreShipped(order)) return 'Shipped';
  if (orderItemsArePartiallyShipped(order)) return 'PartiallyShipped';
  return undefined;
}
