/**
 * PSBTs that the merchant's wallet has paid in a form of its own: with another coin, another change, or its outputs in another
 * order. Transfers that such a transaction pays are neither paid again nor given back.
 */
import { hex } from '@scure/base';
import { p2wpkh } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { opened, openPayoutShop, type PayoutMerchant, type PayoutShop } from './fixture.js';

describe.skipIf(!hasLitecoind).each(enginesOfTurn)('A PSBT paid in another form, on $name', (engine) => {
  let node: LitecoinNode;
  let shop: PayoutShop;
  beforeAll(async () => {
    node = await startLitecoin();
    shop = await openPayoutShop(engine, node);
  });
  afterAll(async () => {
    await shop.close();
    await node.stop();
  });

  async function confirm(blocks = 2): Promise<void> {
    await shop.confirm(blocks);
    await shop.follow();
  }
  /** A look that a busy node answered too late is repeated by the server at its next pass, and so here. */
  async function expectSettled(rows: Parameters<PayoutShop['statuses']>[0]): Promise<void> {
    const statuses = async () => {
      await shop.follow();
      return shop.statuses(rows);
    };
    await expect.poll(statuses, { timeout: 20_000 }).toEqual(rows.map(() => 'success'));
  }
  /** The same for the PSBT itself. */
  async function expectShown(id: string, expected: object): Promise<void> {
    const shown = async () => {
      await shop.follow();
      return shop.show(id);
    };
    await expect.poll(shown, { timeout: 20_000 }).toMatchObject(expected);
  }
  async function include(raw: string): Promise<string> {
    await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [raw]);
    return String(await node.rpc<number>('getblockcount'));
  }
  const changeTo = ({ account }: PayoutMerchant, index: number) =>
    p2wpkh(account.derive(`m/1/${index}`).publicKey ?? new Uint8Array()).script;

  /** A merchant with one transfer in a PSBT, and another coin that the wallet could add. */
  async function prepare() {
    const merchant = await shop.merchant();
    await merchant.fund('0.5', '0.3');
    const rows = await merchant.transfers('0.1');
    const exported = await merchant.export();
    const [beside] = await merchant.transfers('0.05');
    const second = await merchant.export();
    await shop.discard(second.id);
    await shop.run('transfers fail --reason no', beside?.id ?? '');
    const paid = opened(exported.psbt).getOutput(0);
    const withBoth = merchant.signOther(
      [exported, second],
      [paid, { script: changeTo(merchant, 7), amount: 69_900_000n }],
    );
    return { merchant, rows, exported, paid, withBoth, first: rows[0]?.id ?? '' };
  }
  const settleWith = (hash: string, block: string) =>
    `transfers settle --tx-hash ${hash} --block ${block} --network-fee 0.001`;

  it('A PSBT settles automatically if the same coins pay its transfers, at another place and with another change', async () => {
    const { merchant, rows, exported, paid, first } = await prepare();
    await shop.import(merchant.sign(exported.psbt));
    const change = { script: changeTo(merchant, 9), amount: 39_950_000n };
    const signed = merchant.signOther([exported], [change, paid]);
    await include(signed.hex);
    await confirm(1);
    await expectSettled(rows);
    expect(await shop.transfer(first)).toMatchObject({ tx_hash: signed.id, network_fee: 50_000n });
    expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
    await expect(shop.discard(exported.id)).rejects.toThrow('It is settled');
    expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [] });
    await shop.expectBooksInOrder();
  });

  it.each([
    ['a text that carries no coins', `6a0d${Buffer.from('paid by hand!').toString('hex')}`, 0n],
    ['a script of an unknown kind', '5187', 10_000n],
    ['a version of segwit that is not used yet', `5310${'ab'.repeat(16)}`, 10_000n],
  ])('A PSBT settles its transfers although the wallet has added %s', async (_, script, amount) => {
    const { merchant, rows, exported, paid, first } = await prepare();
    await shop.import(merchant.sign(exported.psbt));
    const change = { script: changeTo(merchant, 9), amount: 39_940_000n - amount };
    const signed = merchant.signOther([exported], [change, paid, { script: hex.decode(script), amount }]);
    await include(signed.hex);
    await confirm(1);
    await expectSettled(rows);
    expect(await shop.transfer(first)).toMatchObject({ tx_hash: signed.id, network_fee: 60_000n });
    expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
    await shop.expectBooksInOrder();
  });

  it('A PSBT paid with another coin of unknown fee is neither discarded nor failed until it is settled by hand', async () => {
    const { merchant, exported, withBoth, first } = await prepare();
    await shop.import(merchant.sign(exported.psbt));
    const block = await include(withBoth.hex);
    await confirm(1);
    await expectShown(exported.id, { state: 'conflicted' });
    await expect(shop.discard(exported.id)).rejects.toThrow(
      `pays ${first}. Run transfers settle ID --tx-hash ${withBoth.id} --block ${block} for each, and discard the PSBT then`,
    );
    await expect(shop.run('transfers fail --reason no', first)).rejects.toThrow(
      `in the PSBT ${exported.id}, whose coins another transaction has spent`,
    );
    await shop.run(settleWith(withBoth.id, block), first);
    await shop.discard(exported.id);
    expect(await shop.transfer(first)).toMatchObject({ status: 'success', tx_hash: withBoth.id });
    expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [] });
    await shop.expectBooksInOrder();
  });

  it('A PSBT is not given back when a reorganisation puts another form of it into the place of the settled one', async () => {
    const { merchant, rows, exported, withBoth } = await prepare();
    await shop.import(merchant.sign(exported.psbt));
    await confirm();
    await expectSettled(rows);
    const height = await node.rpc<number>('getblockcount');
    await node.rpc('invalidateblock', await node.rpc<string>('getblockhash', height - 1));
    await include(withBoth.hex);
    await confirm();
    await expectShown(exported.id, { state: 'conflicted' });
    expect(await shop.statuses(rows)).toEqual(['success']);
    await shop.discard(exported.id);
    expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [] });
    await shop.expectBooksInOrder();
  });

  it('A discarded PSBT that is paid in another form is not paid again, and not given back', async () => {
    const { merchant, exported, withBoth, first } = await prepare();
    await shop.discard(exported.id);
    const block = await include(withBoth.hex);
    await confirm(1);
    const explanation = `pays ${first}. Run transfers settle ID --tx-hash ${withBoth.id} --block ${block} for each`;
    await expectShown(exported.id, { problem: expect.stringContaining(explanation) as string });
    await merchant.fund('0.4');
    expect(await merchant.export()).toMatchObject({
      psbt: null,
      skipped: [{ id: first, reason: expect.stringContaining(explanation) as string }],
    });
    await expect(shop.run('transfers fail --reason no', first)).rejects.toThrow(explanation);
    await shop.run(settleWith(withBoth.id, block), first);
    await expectShown(exported.id, { state: 'discarded', problem: null });
    await shop.expectBooksInOrder();
  });

  it('Only one of two equal transfers in two PSBTs is settled if one output is all that was paid', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5', '0.3');
    const to = await node.rpc<string>('getnewaddress');
    const rows = await merchant.transfers({ amount: '0.1', to }, { amount: '0.1', to });
    const [a = '', b = ''] = rows.map(({ id }) => id);
    const [one, two] = [await merchant.export({ transfer: a }), await merchant.export({ transfer: b })];
    await shop.import(merchant.sign(one.psbt));
    await shop.import(merchant.sign(two.psbt));
    const change = { script: changeTo(merchant, 7), amount: 69_900_000n };
    const signed = merchant.signOther([one, two], [opened(one.psbt).getOutput(0), change]);
    const block = await include(signed.hex);
    await confirm(1);
    await expect(shop.discard(one.id)).rejects.toThrow(`pays ${a}`);
    await expect(shop.discard(two.id)).rejects.toThrow(`pays ${b}`);
    await shop.run(settleWith(signed.id, block), a);
    await shop.discard(two.id);
    await merchant.fund('0.4');
    expect((await merchant.export()).transfers.map(({ id }) => id)).toEqual([b]);
  });
});
