/** Two servers compare the same balances at the same moments: a transfer that no block showed is credited once. */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { HDKey } from '@scure/bip32';
import { expect, it } from 'vitest';
import { lastEngine } from '../support/engines.js';
import { contractTx } from '../support/evm-model.js';
import { openWorld } from './liars.js';

const { signal } = new AbortController();
const network = 'evm-dev';
const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(8)).derive("m/44'/60'/0'");

it(`Two servers that reconcile on ${lastEngine.name} credit each payment once`, async () => {
  const world = await openWorld(lastEngine);
  const { shop, model } = world;
  try {
    const actor = await shop.merchant(0);
    const { merchantId } = actor;
    const key = { extendedPublicKey: account.publicExtendedKey, script: undefined };
    await shop.database.write((transaction) =>
      shop.app.depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', key),
    );
    const first = shop.app;
    await shop.switchServer();
    const servers = [first, shop.app];
    async function block(): Promise<void> {
      shop.time.now += 1000;
      model.mine(1, shop.time.now / 1000);
      for (const app of servers) await app.scanner.scanNow({ mode: 'test', network });
      await Promise.all(
        [...servers, ...servers].map((app) => reconciliationModule.rules(app).advance(signal)),
      );
    }
    for (const app of servers) await app.depositKeys.refresh();
    await block();
    const locked = [];
    for (let count = 0; count < 5; count += 1) {
      locked.push(await shop.lock(actor, { currency: 'ETH', network }));
    }
    for (const { id, address, amount } of locked) {
      model.send(contractTx({ name: `pays ${id}` }, [{ address, currency: 'ETH', amount }]));
    }
    for (let count = 0; count < 8; count += 1) await block();
    const receipts = await shop.database.reader
      .selectFrom('receipts')
      .select(['address', 'amount'])
      .execute();
    expect(receipts.map(({ address, amount }) => `${address} ${amount}`).sort()).toEqual(
      locked.map(({ address, amount }) => `${address} ${amount}`).sort(),
    );
    for (const { id } of locked) expect((await shop.payment(id)).state).toBe('settled');
    await shop.expectBooksInOrder();
  } finally {
    await world.close();
  }
});
