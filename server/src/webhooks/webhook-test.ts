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
  switch (type) {
    case 'payment.success':
    case 'payment.overpaid':
      return payment;
    case 'payment.error':
      return { ...payment, status: 'error', state: 'expired' };
    case 'payment.late':
      return { ...payment, status: 'error', state: 'expired_late' };
    case 'payment.reversed':
      return { ...payment, status: 'error', state: 'reversed' };
    case 'payment.cancelled':
      return { ...payment, status: 'cancelled', state: 'cancelled' };
    case 'payment.partial':
    case 'payment.updated':
      return { ...payment, status: 'in progress', state: 'partially_paid' };
    case 'wallet.transaction':
      return { transaction: payment, wallet: api.wallets.retrieve.sample.data };
    case 'transfer.success':
      return { ...api.transfers.retrieve.sample.data, status: 'success' };
    case 'transfer.failed':
      return { ...api.transfers.retrieve.sample.data, status: 'failed', failureReason: 'A sample' };
    case 'refund.created':
      return { ...refund, status: 'awaiting_address' };
    case 'refund.address_set':
      return { ...refund, status: 'awaiting_approval' };
    case 'refund.approved':
    case 'refund.paid':
    case 'refund.failed':
    case 'refund.cancelled':
    case 'refund.expired':
      return { ...refund, status: type.slice('refund.'.length) };
    case 'subscription.payment_due': {
      const { url } = api.payments.create.sample.data;
      return { ...api.subscribers.retrieve.sample.data, cycle: 1, payment, url };
    }
    case 'subscription.ended':
      return { ...api.subscribers.retrieve.sample.data, isActive: false, reason: 'completed' };
    case 'account.deposit_key_changed':
      return {
        ...{ id: txRef, family: 'bitcoin', status: 'pending', key: 'zpub6rFR7y4Q2…c8BEh6', formerKey: null },
        ...{ effectiveAt: isoTime(0), changedBy: 'A sample' },
      };
    default:
      return type satisfies never;
  }
}
