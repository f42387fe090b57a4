/** The wallet of an extended key may move on at once what a contract sent it: the payment is credited anyway. */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { addressFrom, contractTx, gasPrice, gasUsed, walletTx } from '../support/evm-model.js';
import { openWorld, type World } from './liars.js';

const { signal } = new AbortController();
const network = 'evm-dev';
const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(6)).derive("m/44'/60'/0'");

describe.each(enginesOfTurn)('coins that a wallet moves on at once, on $name', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(engine);
  });
  afterAll(() => world.close());

  async function block(): Promise<void> {
    const { shop, model } = world;
    shop.time.now += 1000;
    model.mine(1, shop.time.now / 1000);
    await shop.app.scanner.scanNow({ mode: 'test', network });
    await reconciliationModule.rules(shop.app).advance(signal);
  }

  async function openPayment() {
    const { shop } = world;
    const actor = await shop.merchant();
    const { merchantId } = actor;
    const key = { extendedPublicKey: account.publicExtendedKey, script: undefined };
    await shop.database.write((transaction) =>
      shop.app.depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', key),
    );
    await shop.app.depositKeys.refresh();
    await block();
    return shop.lock(actor, { currency: 'ETH', network });
  }

  const received = async (address: string) =>
    (
      await world.shop.database.reader
        .selectFrom('receipts')
        .select('chain_amount')
        .where('address', '=', address)
        .where('status', 'in', ['seen', 'confirmed'])
        .execute()
    ).reduce((sum, { chain_amount: units }) => sum + BigInt(units), 0n);

  it('coins that a wallet moves on are credited if they were seen after one block', async () => {
    const { shop, model } = world;
    const { id, address, amount } = await openPayment();
    model.send(contractTx({ name: `pays ${id}` }, [{ address, currency: 'ETH', amount }]));
    await block();
    const rest = amount - gasPrice * gasUsed;
    const away = { address: addressFrom('elsewhere'), currency: 'ETH', amount: rest } as const;
    model.send(walletTx({ name: `moves ${id}`, from: address, nonce: 0 }, away));
    for (let count = 0; count < 8; count += 1) await block();
    expect(await received(address)).toBe(amount);
    expect((await shop.payment(id)).state).toBe('settled');
    expect(await reconciliationModule.rules(shop.app).differences()).toEqual([]);
  });

  it('coins are credited if their wallet pays others in the same block', async () => {
    const { shop, model } = world;
    const first = await openPayment();
    model.send(walletTx({ name: `first ${first.id}` }, { ...first, currency: 'ETH' }));
    for (let count = 0; count < 5; count += 1) await block();
    const { address, amount } = first;
    const gas = gasPrice * gasUsed;
    // More leaves in that block than comes, and in another history less.
    for (const [nonce, { more, spent }] of [
      { more: amount / 2n, spent: amount - gas },
      { more: amount, spent: amount / 4n },
    ].entries()) {
      const before = await received(address);
      const away = { address: addressFrom('elsewhere'), currency: 'ETH', amount: spent } as const;
      model.send(
        contractTx({ name: `more ${nonce} ${address}` }, [{ address, currency: 'ETH', amount: more }]),
      );
      model.send(walletTx({ name: `away ${nonce} ${address}`, from: address, nonce }, away));
      // The round through all addresses comes again after an hour.
      shop.time.now += 3_700_000;
      for (let count = 0; count < 12; count += 1) await block();
      expect((await received(address)) - before).toBe(more);
    }
    expect(await reconciliationModule.rules(shop.app).differences()).toEqual([]);
  });

  it.each([
    ['coins are no longer credited if a reorganisation drops both their payment and their move', false],
    ['coins are credited again if their payment and move return in one block after a reorganisation', true],
  ])('%s', async (_what, doReturn) => {
    const { shop, model } = world;
    const { id, address, amount } = await openPayment();
    model.send(contractTx({ name: `lost ${id}` }, [{ address, currency: 'ETH', amount }]));
    for (let count = 0; count < 6; count += 1) await block();
    const rest = { address: addressFrom('elsewhere'), currency: 'ETH', amount: amount / 2n } as const;
    model.send(walletTx({ name: `lost move ${id}`, from: address, nonce: 0 }, rest));
    shop.time.now += 3_700_000;
    for (let count = 0; count < 8; count += 1) await block();
    expect(await received(address)).toBe(amount);
    model.reorg(15, 1, shop.time.now / 1000, () => doReturn);
    shop.time.now += 3_700_000;
    for (let count = 0; count < 14; count += 1) await block();
    expect(await received(address)).toBe(doReturn ? amount : 0n);
  });

  it('coins are not credited if only one node ever showed them', async () => {
    const { shop, nodes } = world;
    const { address } = await openPayment();
    const { tip } = world.model;
    const { model } = world;
    const forged = contractTx({ name: `forged ${address}` }, [
      { address, currency: 'ETH', amount: 10n ** 18n },
    ]);
    for (const node of nodes.slice(0, 1)) node.lies = { tip: model.add(tip, shop.time.now / 1000, [forged]) };
    await shop.app.scanner.scanNow({ mode: 'test', network });
    await reconciliationModule.rules(shop.app).advance(signal);
    for (const node of nodes) node.lies = {};
    model.give(address, 'coin', gasPrice * gasUsed);
    model.send(
      walletTx(
        { name: `empty ${address}`, from: address, nonce: 0 },
        { address, currency: 'ETH', amount: 0n },
      ),
    );
    for (let count = 0; count < 8; count += 1) await block();
    expect(await received(address)).toBe(0n);
  });
});
