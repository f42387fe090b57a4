/** The calls of the provider that Medusa's own flows rarely make. */
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect, it } from 'vitest';
import { parseOptions } from '../../src/options.js';
import { CryptoCheckoutProvider } from '../../src/providers/crypto-checkout/service.js';
import { parseSession } from '../../src/session.js';
import { pay, send } from '../support/customer.js';
import type { Stage } from '../support/stage.js';

export function provider(stage: () => Stage): void {
  const options = () => ({ apiUrl: stage().api.url, ...stage().eu.keys });

  it('another price gives a session another payment, and only a paid one counts as captured', async () => {
    const ours = new CryptoCheckoutProvider({}, options());
    const price = { amount: '10.005', currency_code: 'eur' };
    const { data = {} } = await ours.initiatePayment({ ...price, data: { session_id: 'payses_01PRICE' } });
    expect(data).toMatchObject({ price: '10.01', tx_ref: 'payses_01PRICE' });
    const same = await ours.updatePayment({ ...price, data });
    expect(same.data).toEqual(data);
    const changed = await ours.updatePayment({ amount: 12, currency_code: 'eur', data });
    const session = parseSession(changed.data);
    expect(session).toMatchObject({ price: '12.00', tx_ref: 'payses_01PRICE' });
    const paymentOf = async (of: unknown) => {
      const payment_id = parseSession(of)?.payment_id ?? '';
      return (await stage().eu.client.payments.retrieve({ params: { payment_id } })).data;
    };
    expect(await paymentOf(data)).toMatchObject({ status: 'cancelled', baseAmount: 10.01 });
    expect(await paymentOf(session)).toMatchObject({ status: 'in progress', baseAmount: 12 });

    const asked = { data: { ...session } };
    expect((await ours.getPaymentStatus(asked)).status).toBe('pending_authorization');
    await expect(ours.capturePayment(asked)).rejects.toThrow('not complete');
    await pay(stage(), stage().eu, session?.payment_id ?? '');
    expect((await ours.getPaymentStatus(asked)).status).toBe('captured');
    expect((await ours.capturePayment(asked)).data).toMatchObject({ price: '12.00' });
    expect((await ours.retrievePayment(asked)).data).toMatchObject({ status: 'success' });
    await expect(ours.updatePayment({ amount: 13, currency_code: 'eur', ...asked })).rejects.toThrow(
      'Money has come',
    );
    await expect(ours.deletePayment(asked)).rejects.toThrow('Money has come');
    // Medusa cancels what it could not complete: the money stays, and goes back by a refund.
    expect((await ours.cancelPayment(asked)).data).toMatchObject({ price: '12.00' });
    expect(await paymentOf(session)).toMatchObject({ status: 'success' });
    await expect(ours.authorizePayment({ data: {} })).rejects.toThrow('no payment');
    expect(await ours.deletePayment({})).toEqual({});
  });

  it('looks at each attempt of the payer before it drops a session, and ends those without money', async () => {
    const ours = new CryptoCheckoutProvider({}, options());
    const tag = createCheckoutClient({ apiUrl: stage().api.url, publicKey: stage().eu.keys.publicKey });
    const started = async (session_id: string) => {
      const first = { amount: 10, currency_code: 'eur', data: { session_id } };
      const { data = {} } = await ours.initiatePayment(first);
      return data;
    };
    const ownOf = (data: unknown) => parseSession(data)?.payment_id ?? '';
    const attemptOf = async (data: unknown, amount: string, count = 2) => {
      const { txRef = '' } = (await tag.retrieve(ownOf(data))).data;
      return (await tag.create({ amount, baseCurrency: 'EUR', txRef: `${txRef}:${count}` })).data.payment.id;
    };
    const statusOf = async (id: string) => (await tag.retrieve(id)).data.status;

    const empty = await started('payses_01EMPTY');
    await tag.cancel(ownOf(empty));
    const [left, cheap] = [await attemptOf(empty, '10.00'), await attemptOf(empty, '0.50', 3)];
    // Somebody else's price says nothing about this cart.
    await pay(stage(), stage().eu, cheap);
    await ours.deletePayment({ data: empty });
    expect([await statusOf(left), await statusOf(cheap)]).toEqual(['cancelled', 'success']);

    // The second price has a counter in its own reference.
    const before = await started('payses_01SECOND');
    const { data = {} } = await ours.updatePayment({ amount: 12, currency_code: 'eur', data: before });
    await tag.cancel(ownOf(data));
    const attempt = await attemptOf(data, '12.00');
    const { address, amount } = await pay(stage(), stage().eu, attempt, 0.5);
    await expect(ours.deletePayment({ data })).rejects.toThrow('Money has come');
    await expect(ours.updatePayment({ amount: 13, currency_code: 'eur', data })).rejects.toThrow(
      'Money has come',
    );
    expect((await ours.getPaymentStatus({ data })).status).toBe('pending_authorization');
    await send(stage(), stage().eu, address, amount * 0.5);
    expect((await ours.getPaymentStatus({ data })).status).toBe('captured');
    await expect(ours.deletePayment({ data })).rejects.toThrow('Money has come');
  });

  it('names an option that is wrong, and never its value', () => {
    const refused = (given: object) => () => parseOptions({ ...options(), ...given });
    expect(refused({ publicKey: 'pk_live_x' })).toThrow('publicKey: must be of the same mode as secretKey');
    expect(refused({ secretKey: 'pk_test_x' })).toThrow('secretKey: must begin with sk_test_ or sk_live_');
    expect(refused({ apiUrl: 'ftp://pay.example.com' })).toThrow('apiUrl');
    expect(refused({ webhookSecret: [] })).toThrow('webhookSecret');
    expect(refused({ webhookSecret: 'of nobody' })).not.toThrow('of nobody');
    expect(() => {
      CryptoCheckoutProvider.validateOptions({});
    }).toThrow(/apiUrl.*secretKey.*publicKey.*webhookSecret/);
    expect(parseOptions(options())).toMatchObject({ orderBeforePayment: true, refundDelivery: 'link' });
  });
}
