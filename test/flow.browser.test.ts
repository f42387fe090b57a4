/** The main job against the real server and its simulated networks: every step and ending that money can take. */
import { expect } from '@open-wc/testing';
import * as z from 'zod/mini';
import type { CryptoCheckout } from '../src/index.js';
import { copyOf, listen, part, payUpToAddress, place, press, reach, textOf } from './element.js';

const server = z.object({ publicKey: z.string(), secretKey: z.string() });
let keys: z.output<typeof server>;
let orders = 0;

before(async () => {
  keys = server.parse(await (await fetch('/__server')).json());
});
beforeEach(() => localStorage.clear());

async function control(path: string, body: object): Promise<void> {
  const headers = { Authorization: `Bearer ${keys.secretKey}`, 'Content-Type': 'application/json' };
  const reply = await fetch(`/sandbox/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`/sandbox/${path} answered ${reply.status}: ${await reply.text()}`);
}

/** Sends to the address that the element shows, read from it as a payer would. */
async function send(element: CryptoCheckout, amount: number | string): Promise<void> {
  const { currency, currencyNetwork: network } = element.payment ?? {};
  await control('transfers', {
    currency,
    network,
    amount,
    address: textOf(element, 'address').replace(/\s/g, ''),
  });
  await element.refresh();
}

async function mine(element: CryptoCheckout, count = 2): Promise<void> {
  await control('blocks', { network: element.payment?.currencyNetwork, count });
  await element.refresh();
}

function tag(): Promise<CryptoCheckout> {
  return place({
    'public-key': keys.publicKey,
    amount: '5000',
    'base-currency': 'NGN',
    'tx-ref': `flow-${Date.now()}-${(orders += 1)}`,
    'customer-email': 'ada@example.com',
    locale: 'en',
  });
}

describe('with the real server', () => {
  it('USDT on Tron is paid exactly, and every step is told once', async () => {
    const element = await tag();
    const events = listen(element);
    await payUpToAddress(element, 'USDT', 'tron');
    expect(textOf(element, 'amount')).to.equal('3.246754 USDT');
    expect(textOf(element, 'merchant')).to.equal('Example Shop');
    await send(element, 3.246754);
    await reach(element, 'confirming');
    expect(textOf(element, 'status')).to.contain('0 of 2 confirmations');
    await mine(element);
    await reach(element, 'success');
    expect(textOf(element, 'status')).to.match(/received 3\.246754\sUSDT/);
    expect(events).to.deep.equal(['created', 'currency-set', 'locked', 'detected', 'confirming', 'success']);
    expect(element.payment?.status).to.equal('success');
  });

  it('polling alone finds the payment', async () => {
    const element = await tag();
    await payUpToAddress(element, 'TRX', 'tron');
    const address = textOf(element, 'address').replace(/\s/g, '');
    await control('transfers', {
      currency: 'TRX',
      network: 'tron',
      amount: element.payment?.amount,
      address,
    });
    await reach(element, 'confirming');
    await control('blocks', { network: 'tron', count: 2 });
    await reach(element, 'success');
  });

  it('BTC is paid in two parts', async () => {
    const element = await tag();
    await payUpToAddress(element, 'BTC', 'bitcoin');
    await send(element, '0.00001');
    await reach(element, 'partially-paid');
    const rest = element.payment?.amountDue ?? 0;
    expect(textOf(element, 'amount')).to.equal(`${rest.toFixed(8).replace(/0+$/, '')} BTC`);
    expect(part(element, 'wallet').getAttribute('href')).to.match(/^bitcoin:tb1\w+\?amount=0\.0000\d+$/);
    await send(element, rest);
    await reach(element, 'confirming');
    await mine(element);
    await reach(element, 'success');
  });

  it('more than is due is a success that says where the excess is', async () => {
    const element = await tag();
    await payUpToAddress(element, 'USDT', 'bsc');
    await send(element, 5);
    await mine(element);
    await reach(element, 'success');
    expect(textOf(element, 'status')).to.match(/You sent 5\sUSDT, more than the 3\.246754\sUSDT/);
  });

  it('a reload in the middle goes on with the same payment', async () => {
    const element = await tag();
    await payUpToAddress(element, 'USDT', 'polygon');
    const address = textOf(element, 'address');
    const reloaded = copyOf(element);
    element.replaceWith(reloaded);
    await reach(reloaded, 'awaiting-funds');
    expect(textOf(reloaded, 'address')).to.equal(address);
  });

  it('cancelled is cancelled, and a new payment takes its place', async () => {
    const element = await tag();
    const { txRef } = element;
    await payUpToAddress(element, 'LTC');
    press(element, 'cancel');
    await reach(element, 'cancelled');
    const cancelled = element.payment?.id;
    press(element);
    await reach(element, 'choosing-currency');
    expect(element.payment?.id).not.to.equal(cancelled);
    expect(element.payment?.txRef).to.equal(`${txRef}:2`);
  });

  it('a payment of the merchant’s server starts by itself, and expires at the server’s word', async () => {
    const headers = { Authorization: `Bearer ${keys.secretKey}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ amount: 20, baseCurrency: 'USD' });
    const reply = await fetch('/v1/payments/checkout', { method: 'POST', headers, body });
    const { data } = z
      .object({ data: z.object({ payment: z.object({ id: z.string() }) }) })
      .parse(await reply.json());
    const element = await place({
      'public-key': keys.publicKey,
      'payment-id': data.payment.id,
      currency: 'ETH',
      network: 'base',
    });
    await reach(element, 'quoted');
    press(element);
    await reach(element, 'awaiting-funds');
    await control('clock', { advanceSeconds: 31 * 60 });
    // The deadline counts once the chain's next block is past it.
    await control('blocks', { network: 'base', count: 1 });
    await reach(element, 'expired');
  });
});
