/**
 * Effects of a chain's finality and its blocks' times on payments: on a chain whose blocks, times and finality the test
 * sets.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlockId, Chain, ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';
import type { Network } from '../../src/core/chains/networks.js';
import { enginesOfTurn } from '../support/engines.js';
import { openSteppedShop, type LockedPayment, type SteppedShop } from '../support/stepped-shop.js';

const network: Network = {
  mode: 'test',
  code: 'scripted',
  name: 'Scripted',
  family: 'litecoin',
  confirmations: 6,
  assets: { LTC: { minAmount: '0.0001', withdrawalFee: '0' } },
};
const { signal } = new AbortController();
const minuteMs = 60_000;

class ScriptedChain implements Chain {
  readonly mode = network.mode;
  readonly network = network.code;
  finalized: BlockId | undefined;
  waiting: ChainTransfer[] = [];
  blocks_: ChainBlock[] = [];
  #made = 0;

  /** Adds a block on top of a height, in place of those that were above it. */
  mine(time: number, transfers: readonly ChainTransfer[] = [], above = this.blocks_.length - 1): void {
    this.blocks_ = this.blocks_.slice(0, above + 1);
    const parentHash = this.blocks_.at(-1)?.hash ?? '';
    const height = this.blocks_.length;
    this.#made += 1;
    this.blocks_.push({ height, hash: `block-${this.#made}`, parentHash, time, transfers });
  }

  head = () =>
    Promise.resolve({
      height: this.blocks_.length - 1,
      hash: this.blocks_.at(-1)?.hash ?? '',
      finalized: this.finalized,
    });
  block = (height: number) => Promise.resolve(this.blocks_[height]);
  pending = () => Promise.resolve(this.waiting);
}

describe.each(enginesOfTurn)('Finality and block times on $name', (engine) => {
  let chain: ScriptedChain;
  let shop: SteppedShop;
  let merchant: Awaited<ReturnType<SteppedShop['merchant']>>;

  beforeEach(async () => {
    chain = new ScriptedChain();
    chain.mine(0);
    shop = await openSteppedShop(engine, { networks: [{ network, chain }] });
    merchant = await shop.merchant();
    await shop.scan(network.code);
  });
  afterEach(() => shop.close());

  const lock = () => shop.lock(merchant, { currency: 'LTC', network: network.code });
  const paying = ({ address, amount }: LockedPayment, txHash = 'tx'): ChainTransfer => ({
    txHash,
    outputIndex: 0,
    currency: 'LTC',
    senders: [],
    address,
    amount,
  });
  /** Adds a block of the present time, and reads it. */
  async function mine(transfers: readonly ChainTransfer[] = [], above?: number): Promise<void> {
    shop.time.now += 1000;
    chain.mine(shop.time.now, transfers, above);
    await shop.scan(network.code);
  }
  const stateOf = async ({ id }: LockedPayment) => (await shop.payment(id)).state;

  it('A finalized block confirms before the count is met, and the block after it does not', async () => {
    const [payment, next] = [await lock(), await lock()];
    await mine([paying(payment)]);
    await mine([paying(next, 'next')]);
    expect(await stateOf(payment)).toBe('confirming');
    chain.finalized = chain.blocks_[1];
    await mine();
    expect(await stateOf(payment)).toBe('settled');
    expect(await stateOf(next)).toBe('confirming');
    await shop.expectBooksInOrder();
  });

  it('A block that was not read, or another than the one that was read, is not final', async () => {
    const payment = await lock();
    chain.finalized = { height: 1_000_000_000, hash: 'far' };
    await mine([paying(payment)]);
    expect(await stateOf(payment)).toBe('confirming');
    chain.finalized = { height: 1, hash: 'other' };
    await mine();
    expect(await stateOf(payment)).toBe('confirming');
    chain.finalized = chain.blocks_[1];
    await mine();
    expect(await stateOf(payment)).toBe('settled');
  });

  it('A block that was final, and is not any longer, confirms nothing more', async () => {
    const payment = await lock();
    await mine();
    chain.finalized = chain.blocks_[1];
    await mine();
    chain.finalized = undefined;
    await mine([paying(payment)], 0);
    expect(await stateOf(payment)).toBe('confirming');
  });

  it('The count confirms where nothing was finalized yet', async () => {
    const payment = await lock();
    chain.finalized = chain.blocks_[0];
    await mine([paying(payment)]);
    for (let block = 2; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('confirming');
    await mine();
    expect(await stateOf(payment)).toBe('settled');
  });

  it('A settled payment whose block stays on the chain keeps its success while the blocks above it are replaced', async () => {
    const payment = await lock();
    await mine([paying(payment)]);
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('settled');
    const before = await shop.logOf(payment.id);
    await mine([], 1);
    expect(chain.blocks_).toHaveLength(3);
    expect(await stateOf(payment)).toBe('settled');
    expect(await shop.logOf(payment.id)).toEqual(before);
    await shop.expectBooksInOrder();
  });

  it('A settled payment that moves to a block which is not deep enough is settled again when that one is', async () => {
    const payment = await lock();
    await mine([paying(payment)]);
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    await mine([paying(payment)], 0);
    expect(await stateOf(payment)).toBe('reversed');
    expect(await shop.balance(merchant, 'LTC')).toMatchObject({ net: 0n, custody: 0n });
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('settled');
    expect(await shop.balance(merchant, 'LTC')).toMatchObject({ custody: payment.amount });
    await shop.expectBooksInOrder();
  });

  it('A late payment in a block whose time is set back to before the deadline stays late', async () => {
    const payment = await lock();
    await shop.pass(30 * minuteMs - 1000, [network.code]);
    shop.cents.set('LTC', 50n);
    await shop.pass(2 * minuteMs, []);
    await mine();
    await shop.app.payments.expireOverdue(signal);
    expect(await stateOf(payment)).toBe('expired');
    chain.mine(payment.expiresAt - 20 * minuteMs, [paying(payment)]);
    await shop.scan(network.code);
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('expired_late');
  });

  it('A payment made in time while nobody read the chain is in time, by the time of its block', async () => {
    const payment = await lock();
    shop.cents.set('LTC', 50n);
    chain.mine(payment.expiresAt - minuteMs, [paying(payment)]);
    for (let block = 1; block < network.confirmations; block += 1) chain.mine(payment.expiresAt + block);
    shop.time.now = payment.expiresAt + 60 * minuteMs;
    await shop.scan(network.code);
    expect(await stateOf(payment)).toBe('settled');
  });

  it('While nobody read the chain, a block dated before its parent counts as late as its parent', async () => {
    const [payment, other] = [await lock(), await lock()];
    shop.cents.set('LTC', 50n);
    // The parent is the last of one step of catching up, or the one before in the same step.
    for (let block = 1; block <= 50; block += 1) chain.mine(payment.expiresAt + block);
    chain.mine(payment.expiresAt - minuteMs, [paying(payment)]);
    chain.mine(payment.expiresAt + 51);
    chain.mine(payment.expiresAt - minuteMs, [paying(other, 'other')]);
    for (let block = 1; block < network.confirmations; block += 1) chain.mine(payment.expiresAt + 60);
    shop.time.now = payment.expiresAt + 60 * minuteMs;
    await shop.scan(network.code);
    await shop.app.payments.expireOverdue(signal);
    expect(await stateOf(payment)).toBe('expired_late');
    expect(await stateOf(other)).toBe('expired_late');
  });

  it('A block whose time is ahead does not make a payment later than it was seen', async () => {
    const payment = await lock();
    chain.mine(shop.time.now + 120 * minuteMs, [paying(payment)]);
    await shop.scan(network.code);
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('settled');
  });

  it('A head that lags makes no payment late: it expires when a block timed after the deadline was read', async () => {
    const [payment, other] = [await lock(), await lock()];
    shop.cents.set('LTC', 50n);
    await shop.pass(30 * minuteMs + 45_000, [network.code]);
    expect(await stateOf(payment)).toBe('awaiting_funds');
    chain.mine(payment.expiresAt - 1000, [paying(payment)]);
    await shop.pass(0, [network.code]);
    expect([await stateOf(payment), await stateOf(other)]).toEqual(['confirming', 'awaiting_funds']);
    await mine();
    await shop.pass(0, []);
    expect(await stateOf(other)).toBe('expired');
    for (let block = 2; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('settled');
  });

  it('A chain that stops leaves payments open', async () => {
    const payment = await lock();
    await shop.pass(7 * 24 * 60 * minuteMs, [network.code]);
    expect(await stateOf(payment)).toBe('awaiting_funds');
  });

  it.each([
    { mined: 'within', hours: 5, state: 'settled' },
    { mined: 'after', hours: 7, state: 'expired_late' },
  ])(
    'A payment that was seen in time, and mined $mined the hours for that, is $state at half the price',
    async (one) => {
      const payment = await lock();
      chain.waiting = [paying(payment)];
      await shop.scan(network.code);
      await shop.pass(30 * minuteMs + one.hours * 60 * minuteMs, []);
      shop.cents.set('LTC', 50n);
      await mine();
      await shop.app.payments.expireOverdue(signal);
      expect(await stateOf(payment)).toBe(one.state === 'settled' ? 'confirming' : 'expired');
      chain.waiting = [];
      await mine([paying(payment)]);
      for (let block = 1; block < network.confirmations; block += 1) await mine();
      expect(await stateOf(payment)).toBe(one.state);
      await shop.expectBooksInOrder();
    },
  );

  it('A payment that comes days late is a success if it is still worth enough', async () => {
    const payment = await lock();
    chain.waiting = [paying(payment)];
    await shop.scan(network.code);
    await shop.pass(13 * 24 * 60 * minuteMs, []);
    chain.waiting = [];
    await mine([paying(payment)]);
    for (let block = 1; block < network.confirmations; block += 1) await mine();
    expect(await stateOf(payment)).toBe('settled_late');
  });

  it('A part that waits for a block holds a payment open, and dust does not', async () => {
    const [payment, dusted] = [await lock(), await lock()];
    chain.waiting = [
      { ...paying(payment), amount: payment.amount / 2n },
      { ...paying(dusted, 'dust'), amount: 1n },
    ];
    await shop.scan(network.code);
    await shop.pass(31 * minuteMs, []);
    await mine();
    await shop.app.payments.expireOverdue(signal);
    expect(await stateOf(payment)).toBe('partially_paid');
    expect(await stateOf(dusted)).toBe('expired');
  });
});
