/**
 * A wrong block that all nodes of a network show in the same way: nothing is credited for it, and nothing stays lost.
 */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { walletTx } from '../support/evm-model.js';
import type { Lies } from '../support/lying-node.js';
import { openWorld, type World } from './liars.js';

const { signal } = new AbortController();
const network = 'evm-dev';
const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(8)).derive("m/44'/60'/0'");

describe.each(enginesOfTurn)('a wrong block that both nodes show, on $name', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(engine);
  });
  afterAll(() => world.close());

  function lie(lies: Lies): void {
    for (const node of world.nodes) node.lies = lies;
  }
  async function read(): Promise<void> {
    await world.shop.app.scanner.scanNow({ mode: 'test', network });
    await reconciliationModule.rules(world.shop.app).advance(signal);
  }
  async function block(): Promise<void> {
    const { shop, model } = world;
    shop.time.now += 1000;
    model.mine(1, shop.time.now / 1000);
    await read();
  }
  async function blocks(count: number): Promise<void> {
    for (let mined = 0; mined < count; mined += 1) await block();
  }

  async function openPayment() {
    const { shop } = world;
    const actor = await shop.merchant();
    const key = { extendedPublicKey: account.publicExtendedKey, script: undefined };
    await shop.database.write((transaction) =>
      shop.app.depositKeys.set(transaction, { merchantId: actor.merchantId, mode: 'test' }, 'evm', key),
    );
    await shop.app.depositKeys.refresh();
    await block();
    return shop.lock(actor, { currency: 'USDT', network });
  }
  type Opened = Awaited<ReturnType<typeof openPayment>>;
  const paying = (name: string, { id, address, amount }: Opened) =>
    walletTx({ name: `${name} ${id}` }, { address, currency: 'USDT', amount });

  const receiptsOf = ({ address }: Opened) =>
    world.shop.database.reader
      .selectFrom('receipts')
      .select(['status', 'chain_amount'])
      .where('address', '=', address)
      .execute();
  const stateOf = async ({ id }: Opened) => (await world.shop.payment(id)).state;

  it('A wrong block hides no payment: later blocks show what the address holds, and it is credited once', async () => {
    const payment = await openPayment();
    lie({ logs: 'all', hasNoBloom: true, saysZero: true });
    world.model.send(paying('hidden', payment));
    await block();
    expect(await receiptsOf(payment)).toEqual([]);
    lie({});
    await blocks(1);
    // One look is a rumour.
    expect(await stateOf(payment)).not.toBe('settled');
    await blocks(8);
    expect(await receiptsOf(payment)).toEqual([
      { status: 'confirmed', chain_amount: payment.amount.toString() },
    ]);
    expect(await stateOf(payment)).toBe('settled');
    expect(await reconciliationModule.rules(world.shop.app).differences()).toEqual([]);
  });

  it('A wrong block invents no payment: it is seen, and reverted with its block', async () => {
    const payment = await openPayment();
    const { shop, model } = world;
    lie({ tip: model.add(model.tip, shop.time.now / 1000, [paying('forged', payment)]) });
    await read();
    expect(await receiptsOf(payment)).toMatchObject([{ status: 'seen' }]);
    expect(await stateOf(payment)).not.toBe('settled');
    lie({});
    await blocks(8);
    expect(await receiptsOf(payment)).toMatchObject([{ status: 'dropped' }]);
    expect(await stateOf(payment)).toBe('awaiting_funds');
    expect(await reconciliationModule.rules(shop.app).differences()).toEqual([]);
  });
});
