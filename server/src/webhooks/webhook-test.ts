/** Sends a signed sample of every event to a merchant's endpoint, so that its receiver can be tried before real events. */
import { api, type WebhookEventType } from 'crypto-checkout/contract';
import { isoTime, type Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';
import type { DataKeys } from '../shared/data-keys.js';
import { signingSecrets } from './endpoint-secrets.js';
import { requireEndpoint } from './endpoints.js';
import type { Outcome, Sender } from './send.js';

export interface SampleResult extends Outcome {
  readonly type: WebhookEventType;
  /** The `webhook-id` that was sent. */
  readonly id: string;
}

export function createWebhookTest(sender: Sender, clock: Clock, newId: NewId, dataKeys: DataKeys) {
  return {
    /**
     * Sends samples of the types at once, and returns the answers in their order. Nothing is stored or repeated.
     * Problem: `webhook_not_configured`.
     */
    async run(
      reader: Reader,
      scope: Scope,
      types: readonly WebhookEventType[],
      signal: AbortSignal,
    ): Promise<SampleResult[]> {
      const endpoint = await requireEndpoint(reader, scope);
      const now = clock.real();
      return Promise.all(
        types.map(async (type) => {
          const id = newId();
          const data = { ...sampleData(type, scope.mode), mode: scope.mode, sequence: now, isSample: true };
          const body = JSON.stringify({ type, timestamp: isoTime(clock.now(scope)), data });
          const secrets = signingSecrets(dataKeys, endpoint, now);
          const delivery = { url: endpoint.url, mode: scope.mode, id, body, secrets, now };
          return { type, id, ...(await sender.send(delivery, signal)) };
        }),
      );
    },
  };
}

/** References that no order has, so that a receiver that does not know `isSample` finds nothing to deliver. */
const txRef = 'webhook-test';

function sampleData(type: WebhookEventType, mode: Mode): Record<string, unknown> {
  const payment = { ...api.transactions.verify.sample.data, txRef, mode };
  const refund = { ...api.refunds.retrieve.sample.data, txRef };
  const transfer = api.transfers.retrieve.sample.data;
  const subscriber = api.subscribers.retrieve.sample.data;
  const samples: Readonly<Record<WebhookEventType, Record<string, unknown>>> = {
    'payment.success': payment,
    'payment.overpaid': payment,
    'payment.error': { ...payment, status: 'error', state: 'expired' },
    'payment.late': { ...payment, status: 'error', state: 'expired_late' },
    'payment.unaccepted': {
      ...payment,
      unaccepted: { reason: 'wrong_coin', currency: 'TRX', network: 'tron', amount: 5, total: 5 },
    },
    'payment.reversed': { ...payment, status: 'error', state: 'reversed' },
    'payment.cancelled': { ...payment, status: 'cancelled', state: 'cancelled' },
    'payment.partial': { ...payment, status: 'in progress', state: 'partially_paid' },
    'payment.updated': { ...payment, status: 'in progress', state: 'partially_paid' },
    'wallet.transaction': { transaction: payment, wallet: api.wallets.retrieve.sample.data },
    'transfer.success': { ...transfer, status: 'success' },
    'transfer.failed': { ...transfer, status: 'failed', failureReason: 'A sample' },
    'refund.created': { ...refund, status: 'awaiting_address' },
    'refund.address_set': { ...refund, status: 'awaiting_approval' },
    'refund.approved': { ...refund, status: 'approved' },
    'refund.paid': { ...refund, status: 'paid' },
    'refund.failed': { ...refund, status: 'failed' },
    'refund.cancelled': { ...refund, status: 'cancelled' },
    'refund.expired': { ...refund, status: 'expired' },
    'subscription.payment_due': {
      ...subscriber,
      cycle: 1,
      payment,
      url: api.payments.create.sample.data.url,
    },
    'subscription.ended': { ...subscriber, isActive: false, reason: 'completed' },
    'account.deposit_key_changed': {
      ...{ id: txRef, family: 'bitcoin', status: 'pending', key: 'zpub6rFR7y4Q2…c8BEh6', formerKey: null },
      ...{ effectiveAt: isoTime(0), changedBy: 'A sample' },
    },
  };
  return samples[type];
}
