/** Complete payments against the real server and its simulated networks. */
import { expect } from '@open-wc/testing';
import * as z from 'zod/mini';
import type { CryptoCheckout } from '../src/index.js';
import {
  cloneElement,
  recordEvents,
  getPart,
  goToAddress,
  hasPart,
  mount,
  press,
  waitForStatus,
  textOf,
  waitFor,
} from './support/element.js';

const server = z.object({ publicKey: z.string(), secretKey: z.string() });
let keys: z.output<typeof server>;
let orderCount = 0;

before(async () => {
  keys = server.parse(await (await fetch('/__server')).json());
});
beforeEach(() => localStorage.clear());

async function callSandbox(path: string, body: object): Promise<void> {
  const headers = { Authorization: `Bearer ${keys.secretKey}`, 'Content-Type': 'application/json' };
  const reply = await fetch(`/sandbox/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`/sandbox/${path} answered ${reply.status}: ${await reply.text()}`);
}

/** Sends funds to the address that the element shows. */
async function sendFunds(element: CryptoCheckout, amount: number | string): Promise<void> {
  const { currency, currencyNetwork: network } = element.payment ?? {};
  await callSandbox('transfers', {
    currency,
    network,
    amount,
    address: textOf(element, 'address').replace(/\s/g, ''),
  });
  await element.refresh();
}

async function mineBlocks(element: CryptoCheckout, count = 2): Promise<void> {
  await callSandbox('blocks', { network: element.payment?.currencyNetwork, count });
  await element.refresh();
}

function mountOrder(): Promise<CryptoCheckout> {
  return mount({
    'public-key': keys.publicKey,
    amount: '5000',
    'base-currency': 'NGN',
    'tx-ref': `flow-${Date.now()}-${(orderCount += 1)}`,
    'customer-email': 'ada@example.com',
    locale: 'en',
  });
}

describe('with the real server', () => {
  it('USDT on Tron is paid exactly, and each event fires once', async () => {
    const element = await mountOrder();
    const events = recordEvents(element);
    await goToAddress(element, 'USDT', 'tron');
    expect(textOf(element, 'amount')).to.equal('3.25 USDT');
    expect(textOf(element, 'merchant')).to.equal('Nightjar Lanterns');
    await sendFunds(element, 3.25);
    await waitForStatus(element, 'confirming');
    await waitFor(() => textOf(element, 'status').includes('0 of 2 confirmations'));
    await mineBlocks(element);
    await waitForStatus(element, 'success');
    expect(textOf(element, 'status')).to.match(/received 3\.25\sUSDT/);
    expect(events).to.deep.equal(['created', 'currency-set', 'locked', 'detected', 'confirming', 'success']);
    expect(element.payment?.status).to.equal('success');
  });

  it('polling finds the payment', async () => {
    const element = await mountOrder();
    await goToAddress(element, 'TRX', 'tron');
    const address = textOf(element, 'address').replace(/\s/g, '');
    await callSandbox('transfers', {
      currency: 'TRX',
      network: 'tron',
      amount: element.payment?.amount,
      address,
    });
    await waitForStatus(element, 'confirming');
    await callSandbox('blocks', { network: 'tron', count: 2 });
    await waitForStatus(element, 'success');
  });

  it('BTC is paid in two parts', async () => {
    const element = await mountOrder();
    await goToAddress(element, 'BTC', 'bitcoin');
    await sendFunds(element, '0.00001');
    await waitForStatus(element, 'partially-paid');
    const rest = element.payment?.amountDue ?? 0;
    expect(textOf(element, 'amount')).to.equal(`${rest.toFixed(8).replace(/0+$/, '')} BTC`);
    expect(getPart(element, 'wallet').getAttribute('href')).to.match(/^bitcoin:tb1\w+\?amount=0\.0000\d+$/);
    await sendFunds(element, rest);
    await waitForStatus(element, 'confirming');
    await mineBlocks(element);
    await waitForStatus(element, 'success');
  });

  it('an overpayment succeeds and says who has the excess', async () => {
    const element = await mountOrder();
    await goToAddress(element, 'USDT', 'bsc');
    await sendFunds(element, 5);
    await mineBlocks(element);
    await waitForStatus(element, 'success');
    expect(textOf(element, 'status')).to.match(/You sent 5\.00\sUSDT; 3\.25\sUSDT was due/);
  });

  it('a reload resumes the payment', async () => {
    const element = await mountOrder();
    await goToAddress(element, 'USDT', 'polygon');
    const address = textOf(element, 'address');
    const reloaded = cloneElement(element);
    element.replaceWith(reloaded);
    await waitForStatus(reloaded, 'awaiting-funds');
    expect(textOf(reloaded, 'address')).to.equal(address);
  });

  it('a cancelled payment can be replaced by a new one', async () => {
    const element = await mountOrder();
    const { txRef } = element;
    await goToAddress(element, 'LTC');
    press(element, 'cancel');
    await waitFor(() => hasPart(element, 'confirm'));
    press(element, 'confirm');
    await waitForStatus(element, 'cancelled');
    await waitFor(() => hasPart(element, 'action'));
    const cancelledId = element.payment?.id;
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(element.payment?.id).not.to.equal(cancelledId);
    expect(element.payment?.txRef).to.equal(`${txRef}:2`);
  });

  it('a payment that the merchant’s server created starts automatically, and expires', async () => {
    const headers = { Authorization: `Bearer ${keys.secretKey}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ amount: 20, baseCurrency: 'USD' });
    const reply = await fetch('/v1/payments/checkout', { method: 'POST', headers, body });
    const { data } = z
      .object({ data: z.object({ payment: z.object({ id: z.string() }) }) })
      .parse(await reply.json());
    const element = await mount({
      'public-key': keys.publicKey,
      'payment-id': data.payment.id,
      currency: 'ETH',
      network: 'base',
    });
    await waitForStatus(element, 'awaiting-funds');
    await callSandbox('clock', { advanceSeconds: 31 * 60 });
    // A payment expires with the first block after its deadline.
    await callSandbox('blocks', { network: 'base', count: 1 });
    await waitForStatus(element, 'expired');
  });
});
