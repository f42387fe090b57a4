/** Descriptions and samples of the webhook events of refunds. */
import { refunds, type RefundStatus } from 'crypto-checkout/contract';
import { sampleTxRef, type EventType, type EventTypes } from '../../core/webhooks/event-types.js';

const eventType = (status: RefundStatus, summary: string): EventType => ({
  summary,
  sample: () => ({ ...refunds.retrieve.sample.data, txRef: sampleTxRef, status }),
});

export const refundEventTypes: EventTypes = {
  'refund.created': eventType('awaiting_address', 'A refund was created'),
  'refund.address_set': eventType(
    'awaiting_approval',
    'The payer gave the address of a refund, or changed it',
  ),
  'refund.approved': eventType('approved', 'A refund was approved: a transfer pays it'),
  'refund.paid': eventType('paid', 'A refund was paid, and its transaction is confirmed'),
  'refund.failed': eventType('failed', 'The transfer of a refund failed, and its amount is available again'),
  'refund.cancelled': eventType('cancelled', 'A refund was cancelled'),
  'refund.expired': eventType('expired', 'Nobody gave an address in time, and the refund ended'),
};
