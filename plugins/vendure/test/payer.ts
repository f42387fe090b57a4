/** The payer and the network, played through the sandbox of a checkout server. */
import type { Payment } from 'crypto-checkout/contract';
import { expect } from 'vitest';
import type { ShopKeys } from './processes.js';

/** An address on the simulated Tron network that belongs to nobody here. */
const payersAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

export interface Payer {
  /** Chooses USDT on Tron, and gets the address and the amount. */
  lock(paymentId: string): Promise<Payment>;
  send(payment: Payment, amount?: number, currency?: string): Promise<void>;
  /** Chooses, and sends the exact amount. */
  pay(paymentId: string): Promise<Payment>;
  advanceClock(seconds: number): Promise<void>;
  /** Replaces the last blocks, without the transfers to this payment. */
  reorganize(payment: Payment): Promise<void>;
  /** Resolves once the server says that it is in this state. */
  reach(paymentId: string, state: string): Promise<void>;
  /** Gives an address for a refund, has the shop approve it, and waits until it is paid. */
  claim(claimUrl: string, refundId: string): Promise<void>;
}

export function payerOf(url: string, { client, secretKey }: ShopKeys): Payer {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const payer: Payer = {
    async lock(paymentId) {
      await client.payments.setCurrency({
        params: { payment_id: paymentId, currency: 'USDT', network: 'tron' },
      });
      return (await client.payments.lockCurrency({ params: { payment_id: paymentId } })).data;
    },
    send: (payment, amount = payment.amount ?? 0, currency = 'USDT') =>
      post('/sandbox/transfers', {
        network: 'tron',
        currency,
        amount,
        address: payment.addressInformation?.address,
      }),
    async pay(paymentId) {
      const payment = await payer.lock(paymentId);
      await payer.send(payment);
      return payment;
    },
    advanceClock: (advanceSeconds) => post('/sandbox/clock', { advanceSeconds }),
    reorganize: (payment) =>
      post('/sandbox/reorgs', {
        network: 'tron',
        depth: 20,
        keep: false,
        address: payment.addressInformation?.address,
      }),
    async reach(paymentId, state) {
      const current = async () =>
        (await client.transactions.verify({ params: { transaction_id: paymentId } })).data.state;
      await expect.poll(current).toBe(state);
    },
    async claim(claimUrl, refundId) {
      await post('/v1/refund-claims/address', { token: claimUrl.split('#')[1], address: payersAddress });
      await client.refunds.approve({ params: { refund_id: refundId }, body: {} });
      const status = async () =>
        (await client.refunds.retrieve({ params: { refund_id: refundId } })).data.status;
      await expect.poll(status).toBe('paid');
    },
  };
  return payer;
}
