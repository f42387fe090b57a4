/**
 * Quarantine keeps every shape of transfer that a chain can report, of every family of networks: nothing of it stops
 * the network.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Chain, ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';
import type { Network } from '../../src/core/chains/networks.js';
import { enginesOfTurn } from '../support/engines.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

const minuteMs = 60_000;
const asset = { minAmount: '0', withdrawalFee: '0' };

/** The fields that an adapter reports of a transfer, apart from its address and its amount in units of the books. */
type Shape = (units: bigint) => Omit<ChainTransfer, 'address'>;

/** BSC counts USDT with 18 decimals, the books with 6: dust below a unit stays with the chain's own amount. */
const bscToken: Shape = (units) => ({
  txHash: '0xbb',
  outputIndex: 7,
  currency: 'USDT',
  senders: ['0x01'],
  amount: units,
  chainAmount: units * 10n ** 12n + 1n,
});
const plain =
  (currency: string, outputIndex: number, senders: readonly string[]): Shape =>
  (amount) => ({ txHash: 'ab'.repeat(32), outputIndex, currency, senders, amount });
/** A transfer that only a balance showed. */
const byBalance =
  (shape: Shape): Shape =>
  (units) => ({ ...shape(units), outputIndex: -1_234, senders: [], foundAbove: 0 });

const shapes: readonly (readonly [string, Network['family'] | 'simulated', string, Shape])[] = [
  ['a coin of an EVM network', 'evm', 'BNB', plain('BNB', 2_000_000, ['0x01'])],
  ['a token with the decimals of the books', 'evm', 'USDT', plain('USDT', 3, ['0x01'])],
  ['a token with more decimals than the books', 'evm', 'USDT', bscToken],
  ['a token with more decimals that a balance showed', 'evm', 'USDT', byBalance(bscToken)],
  ['a coin that a balance showed', 'evm', 'BNB', byBalance(plain('BNB', 0, []))],
  ['an output of Bitcoin with several senders', 'bitcoin', 'BTC', plain('BTC', 1, ['bc1a', 'bc1b'])],
  ['an output of Litecoin without a sender', 'litecoin', 'LTC', plain('LTC', 0, [])],
  ['a coin of Tron', 'tron', 'TRX', plain('TRX', 0, ['T1'])],
  ['a token of Tron', 'tron', 'USDT', plain('USDT', 2, ['T1'])],
  ['a coin of the simulated Tron', 'simulated', 'TRX', plain('TRX', 0, ['T1'])],
  ['a token of the simulated Tron', 'simulated', 'USDT', plain('USDT', 0, ['T1'])],
];

/** A network of a family whose blocks the test makes. */
function networkOf(family: Network['family'], currency: string, decimals: number | undefined) {
  const blocks: ChainBlock[] = [{ height: 0, hash: 'block-0', parentHash: '', time: 0, transfers: [] }];
  const network: Network = {
    mode: 'test',
    code: 'scripted',
    name: 'Scripted',
    family,
    confirmations: 2,
    assets: { [currency]: { ...asset, ...(decimals !== undefined && { decimals }) } },
  };
  const chain: Chain = {
    mode: 'test',
    network: 'scripted',
    head: () => Promise.resolve({ height: blocks.length - 1, hash: `block-${blocks.length - 1}` }),
    block: (height) => Promise.resolve(blocks[height]),
    pending: () => Promise.resolve([]),
  };
  const mine = (time: number, transfers: readonly ChainTransfer[]) => {
    const height = blocks.length;
    blocks.push({ height, hash: `block-${height}`, parentHash: `block-${height - 1}`, time, transfers });
  };
  return { network, chain, mine };
}

describe.each(enginesOfTurn)('Quarantine on $name', (engine) => {
  let shop: SteppedShop;
  afterEach(() => shop.close());

  /** A network of the family, and how the test makes its blocks. */
  async function openNetwork(family: Network['family'] | 'simulated', currency: string, shape: Shape) {
    if (family === 'simulated') {
      shop = await openSteppedShop(engine);
      const mine = async (transfers: readonly ChainTransfer[]) => {
        for (const { address, amount } of transfers) await shop.send('tron', currency, address, amount);
        await shop.mine('tron', 1);
      };
      return { code: 'tron', mine };
    }
    const { network, chain, mine } = networkOf(
      family,
      currency,
      shape(1n).chainAmount === undefined ? undefined : 18,
    );
    shop = await openSteppedShop(engine, { networks: [{ network, chain }] });
    return {
      code: network.code,
      mine: async (transfers: readonly ChainTransfer[]) => {
        mine(shop.time.now, transfers);
        await shop.scan(network.code);
      },
    };
  }

  it.each(shapes)('Quarantine keeps %s until its receipt can be stored, then credits all', async (...of) => {
    const [, family, currency, shape] = of;
    const { code, mine } = await openNetwork(family, currency, shape);
    const merchant = await shop.merchant();
    await shop.scan(code);
    const [bad, good] = [
      await shop.lock(merchant, { currency, network: code }),
      await shop.lock(merchant, { currency, network: code }),
    ];
    const setBase = (base_currency: string) =>
      shop.database.write((transaction) =>
        transaction.updateTable('payments').set({ base_currency }).where('id', '=', bad.id).execute(),
      );
    // No rate can be looked up for it, so its receipt cannot be made.
    await setBase('GONE');
    const toBad = { ...shape(bad.amount), address: bad.address };
    const toGood = { ...shape(good.amount), address: good.address, txHash: 'cd'.repeat(32) };
    await mine([toBad, toGood]);
    await mine([]);
    await mine([]);
    expect((await shop.payment(good.id)).state).toBe('settled');
    expect((await shop.payment(bad.id)).state).toBe('awaiting_funds');
    const rows = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
    expect(rows).toMatchObject([{ network: code, payment_id: bad.id }]);
    expect(rows[0]?.transfer).toContain(bad.address);

    await setBase('USD');
    await shop.pass(2 * minuteMs, [code]);
    await mine([]);
    expect((await shop.payment(bad.id)).state).toBe('settled');
    expect(await shop.database.reader.selectFrom('quarantine').selectAll().execute()).toEqual([]);
    const receipts = await shop.database.reader
      .selectFrom('receipts')
      .select(['amount', 'chain_amount', 'output_index', 'found_above'])
      .where('payment_id', '=', bad.id)
      .execute();
    if (family !== 'simulated') {
      expect(receipts).toEqual([
        {
          amount: toBad.amount.toString(),
          chain_amount: (toBad.chainAmount ?? toBad.amount).toString(),
          output_index: toBad.outputIndex,
          found_above: toBad.foundAbove ?? null,
        },
      ]);
    }
    await shop.expectBooksInOrder();
  });

  it('An output that cannot be read does not stop the others of its transaction, which then need the greatest depth', async () => {
    const { network, chain, mine: add } = networkOf('evm', 'USDT', undefined);
    const depths = [{ upTo: { amount: '1000', currency: 'USD' }, confirmations: 2 }, { confirmations: 4 }];
    shop = await openSteppedShop(engine, { networks: [{ network: { ...network, depths }, chain }] });
    const mine = async (...transfers: readonly ChainTransfer[]) => {
      add(shop.time.now, transfers);
      await shop.scan(network.code);
    };
    const merchant = await shop.merchant();
    await shop.scan(network.code);
    const of = { currency: 'USDT', network: network.code };
    const [bad, good] = [await shop.lock(merchant, of), await shop.lock(merchant, of)];
    const pay = plain('USDT', 3, ['0x01']);
    await mine(
      ...[bad, good].map(({ address, amount }, output) => ({ ...pay(amount), address, outputIndex: output })),
    );
    const setAmount = (amount: string) =>
      shop.database.write((transaction) =>
        transaction.updateTable('receipts').set({ amount }).where('payment_id', '=', bad.id).execute(),
      );
    await setAmount('broken');
    await mine();
    await mine();
    expect((await shop.payment(good.id)).state).toBe('confirming');
    await mine();
    expect((await shop.payment(good.id)).state).toBe('settled');
    const rows = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
    expect(rows).toMatchObject([
      { id: bad.id, reason: expect.stringContaining('receipts.amount') as string },
    ]);
    await setAmount(String(bad.amount));
    await shop.pass(5 * minuteMs, [network.code]);
    expect((await shop.payment(bad.id)).state).toBe('settled');
    await shop.expectBooksInOrder();
  });
});
