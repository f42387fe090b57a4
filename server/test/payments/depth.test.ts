/**
 * Confirmations that money needs before it counts: by its value, and for large amounts as two nodes have confirmed it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaymentRecord } from 'crypto-checkout/contract';
import type { ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';
import { readCursor } from '../../src/core/scanning/cursors.js';
import type { Network } from '../../src/core/chains/networks.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn } from '../support/engines.js';
import { openSteppedShop, type LockedPayment, type SteppedShop } from '../support/stepped-shop.js';
import { TwoNodeChain } from '../support/two-node-chain.js';

const network: Network = {
  mode: 'test',
  code: 'scripted',
  name: 'Scripted',
  family: 'litecoin',
  confirmations: 2,
  depths: [
    { upTo: { amount: '100', currency: 'USD' }, confirmations: 2 },
    { upTo: { amount: '1000', currency: 'USD' }, confirmations: 4 },
    { confirmations: null },
  ],
  finalitySeconds: 60,
  blockSeconds: 10,
  assets: { LTC: { minAmount: '0.0001', withdrawalFee: '0' } },
};

describe.each(enginesOfTurn)('Depth by value on $name', (engine) => {
  let chain: TwoNodeChain;
  let shop: SteppedShop;
  let merchant: Awaited<ReturnType<SteppedShop['merchant']>>;

  async function startShop(more: Partial<Network> = {}): Promise<void> {
    chain = new TwoNodeChain(network.code);
    chain.mine(0);
    shop = await openSteppedShop(engine, { networks: [{ network: { ...network, ...more }, chain }] });
    merchant = await shop.merchant();
    await shop.scan(network.code);
  }
  beforeEach(() => startShop());
  afterEach(() => shop.close());

  const lock = (dollars: string) =>
    shop.lock(merchant, { amount: dollars, currency: 'LTC', network: network.code });
  const paying = ({ address, amount }: LockedPayment, txHash = 'tx'): ChainTransfer => ({
    txHash,
    outputIndex: 0,
    currency: 'LTC',
    senders: [],
    address,
    amount,
  });
  async function mine(transfers: readonly ChainTransfer[] = []): Promise<void> {
    shop.time.now += 1000;
    chain.mine(shop.time.now, transfers);
    await shop.scan(network.code);
  }
  const stateOf = async ({ id }: LockedPayment) => (await shop.payment(id)).state;
  const read = ({ id }: LockedPayment): Promise<PaymentRecord> =>
    shop.app.payments.verify({ ...merchant, kind: 'public' }, id);

  it('A payment needs the confirmations of its amount, which its payer sees', async () => {
    const [small, middle] = [await lock('100'), await lock('100.01')];
    expect(await read(small)).toMatchObject({ confirmationsRequired: 2 });
    expect(await read(middle)).toMatchObject({ confirmationsRequired: 4 });
    await mine([paying(small), paying(middle, 'middle')]);
    expect(await read(middle)).toMatchObject({
      confirmations: 1,
      confirmationsRequired: 4,
      receipts: [{ confirmations: 1, requiredConfirmations: 4 }],
    });
    await mine();
    expect([await stateOf(small), await stateOf(middle)]).toEqual(['settled', 'confirming']);
    await mine();
    expect(await stateOf(middle)).toBe('confirming');
    await mine();
    expect(await stateOf(middle)).toBe('settled');
    await shop.expectBooksInOrder();
  });

  it('The options of a payment say what holds for its amount', async () => {
    const { currencyOptions = [] } = await shop.database.write((transaction) =>
      shop.app.payments.create(transaction, merchant, { baseUnits: 50_000n, baseCurrency: 'USD' }),
    );
    const option = currencyOptions.find(({ network: code }) => code === network.code);
    expect(option).toMatchObject({ confirmations: 4 });
  });

  it('A large payment waits until its block is final, and shows the usual number until then', async () => {
    const payment = await lock('5000');
    expect(await read(payment)).toMatchObject({ confirmationsRequired: 6 });
    await mine([paying(payment)]);
    for (let block = 1; block < 12; block += 1) await mine();
    expect(await read(payment)).toMatchObject({ state: 'confirming', confirmations: 5 });
    const status = async () => (await runWith(commandContext(shop), 'chains status')).text;
    expect(await status()).toContain(
      `payment ${payment.id}: waits until the transfers are in a final block, since block 1`,
    );
    chain.finalized = chain.blocks_[1];
    await mine();
    expect(await read(payment)).toMatchObject({ state: 'settled', confirmations: 6 });
    expect(await status()).not.toContain(payment.id);
    await shop.expectBooksInOrder();
  });

  it('The number fixed at the lock stays, and a receipt that is worth more than its payment needs more', async () => {
    const [payment, over] = [await lock('90'), await lock('90')];
    shop.cents.set('LTC', 1000n);
    expect(await read(payment)).toMatchObject({ confirmationsRequired: 2 });
    shop.cents.set('LTC', 100n);
    await mine([paying(payment), { ...paying(over, 'over'), amount: over.amount * 5n }]);
    await mine();
    expect([await stateOf(payment), await stateOf(over)]).toEqual(['settled', 'confirming']);
    expect(await read(over)).toMatchObject({ confirmationsRequired: 4 });
    await mine();
    await mine();
    expect(await stateOf(over)).toBe('settled_over');
  });

  describe('With two nodes', () => {
    const cursor = () => readCursor(shop.database.reader, chain);
    const large = 'What is worth more than the limit';
    beforeEach(async () => {
      await shop.close();
      await startShop({ crossCheckAbove: { amount: '50', currency: 'USD' } });
    });

    it(`${large} counts when the second one has confirmed it, and the rest without`, async () => {
      const [payment, small] = [await lock('60'), await lock('40')];
      chain.isAlone = true;
      await mine([paying(payment), paying(small, 'small')]);
      await mine();
      expect([await stateOf(payment), await stateOf(small)]).toEqual(['confirming', 'settled']);
      expect(await read(payment)).toMatchObject({ confirmations: 1, confirmationsRequired: 2 });
      chain.isAlone = false;
      chain.second = () => undefined;
      await mine();
      expect(await stateOf(payment)).toBe('confirming');
      expect(await cursor()).toMatchObject({ disagreement: null });
      chain.second = (block) => block;
      await shop.scan(network.code);
      expect(await stateOf(payment)).toBe('settled');
      chain.asked = 0;
      await mine();
      expect(chain.asked).toBe(0);
      await shop.expectBooksInOrder();
    });

    it.each<[string, string, (block: ChainBlock | undefined) => ChainBlock | undefined]>([
      ['another block', 'has block other at height 1', (block) => block && { ...block, hash: 'other' }],
      [
        'the block without it',
        'does not have the transfer tx',
        (block) => block && { ...block, transfers: [] },
      ],
      [
        'another amount',
        'does not have the transfer tx',
        (block) =>
          block && {
            ...block,
            transfers: block.transfers.map((one) => ({ ...one, amount: one.amount * 2n })),
          },
      ],
    ])(`${large} is not credited while the second one shows %s`, async (_, text, second) => {
      const payment = await lock('60');
      chain.second = second;
      await mine([paying(payment)]);
      for (let block = 1; block < 5; block += 1) await mine();
      expect(await stateOf(payment)).toBe('confirming');
      expect(await shop.balance(merchant, 'LTC')).toMatchObject({ custody: 0n });
      expect((await cursor())?.disagreement).toContain(`node 2 ${text}`);
      expect(shop.app.scanner.status().find((one) => one.network === network.code)).toMatchObject({
        disagreement: expect.stringContaining('node 2') as string,
      });
      chain.second = (block) => block;
      await shop.scan(network.code);
      expect(await stateOf(payment)).toBe('settled');
      expect(await cursor()).toMatchObject({ disagreement: null });
    });
  });
});
