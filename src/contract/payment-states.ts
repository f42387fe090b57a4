/** The states of a payment, and which of them belong together: the only place that says so. */

/** The statuses of the specification. */
export const paymentStatuses = ['in progress', 'error', 'cancelled', 'success'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** The detailed states behind the statuses, by group: our addition to the specification. */
export const paymentStates = {
  /** The price in coins is not fixed. From `currency_set` on there is an address, which no payer has seen yet. */
  choosing: ['created', 'currency_set'],
  /** Price and address are fixed: funds may arrive, or are being confirmed. */
  payable: ['awaiting_funds', 'partially_paid', 'confirming'],
  success: ['settled', 'settled_over', 'settled_late'],
  /** Out of time: nothing arrived, less than the amount due (`expired_partial`), or all of it but too late (`expired_late`). */
  expired: ['expired', 'expired_partial', 'expired_late'],
  /** Only wrong assets arrived (`invalid`), or a reorg removed a settled transaction (`reversed`). */
  failed: ['invalid', 'reversed'],
  /** `cancelled_paid`: funds arrived after the cancellation, and were credited. */
  cancelled: ['cancelled', 'cancelled_paid'],
} as const;

export type PaymentStateGroup = keyof typeof paymentStates;
export type PaymentState = (typeof paymentStates)[PaymentStateGroup][number];

const statuses: Readonly<Record<PaymentStateGroup, PaymentStatus>> = {
  choosing: 'in progress',
  payable: 'in progress',
  success: 'success',
  expired: 'error',
  failed: 'error',
  cancelled: 'cancelled',
};

const groups = Object.keys(paymentStates) as PaymentStateGroup[];

export function isInGroup(state: PaymentState | undefined, group: PaymentStateGroup): boolean {
  const states: readonly (PaymentState | undefined)[] = paymentStates[group];
  return states.includes(state);
}

/** The status that the specification has for a state. */
export function statusOf(state: PaymentState): PaymentStatus {
  return statuses[groups.find((group) => isInGroup(state, group)) ?? 'failed'];
}

/** The states that have this status. */
export function statesWith(status: PaymentStatus): PaymentState[] {
  return groups.filter((group) => statuses[group] === status).flatMap((group) => [...paymentStates[group]]);
}
