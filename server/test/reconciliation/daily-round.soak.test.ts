/** The slow round of reconciliation on a moved clock: each address is visited within a day, no matter whose it is. */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { expect, it } from 'vitest';
import type { BalanceSource } from '../../src/modules/networks/evm/balances.js';
import { createReconciliation } from '../../src/modules/reconciliation/reconciliation.js';
import type { Reconciled } from '../../src/modules/reconciliation/reconcile-deps.js';
import { engines } from '../support/engines.js';
import { addressFrom } from '../support/evm-model.js';
import { openWorld } from './liars.js';

const { signal } = new AbortController();
const place = { mode: 'test', network: 'evm-dev' } as const;
const day = 24 * 3_600_000;
const blockMs = 45_000;
/** With a page of one address, more pages than a day has minutes. */
const counts = [1480, 20];

it.each(engines)('visits each address once a day on $name', { timeout: 240_000 }, async (engine) => {
  const world = await openWorld(engine);
  const { shop } = world;
  const { database } = shop;
  try {
    await shop.app.scanner.scanNow(place);
    for (const [merchant, count] of counts.entries()) {
      const actor = await shop.merchant();
      const { id: wallet_id } = await database.write((transaction) =>
        shop.app.wallets.create(transaction, actor, { currency: 'BTC', label: '' }),
      );
      const rows = Array.from({ length: count }, (_, index) => ({
        ...place,
        id: `${merchant}-${index}`,
        wallet_id,
        payment_id: null,
        currency: `C${index}`,
        address: addressFrom(`${merchant}-${index}`),
        source_id: 'x',
        derivation_index: index,
        created_at: shop.time.now,
      }));
      for (let from = 0; from < count; from += 100) {
        const some = rows.slice(from, from + 100);
        await database.write((transaction) => transaction.insertInto('addresses').values(some).execute());
      }
    }
    const visited = new Map<string, number>();
    const [on] = reconciliationModule.rules(shop.app).networks;
    if (!on) throw new Error('The network reports no balances');
    const balances: BalanceSource = {
      ...on.balances,
      pageSize: 1,
      read: (asked, { height, hash }) => {
        for (const address of new Set(asked.map((one) => one.address)))
          visited.set(address, (visited.get(address) ?? 0) + 1);
        return Promise.resolve({ node: 'node 1', height, hash, amounts: asked.map(() => 0n) });
      },
    };
    let now = shop.time.now;
    const network: Reconciled = { ...on, balances };
    const { sink, log } = { sink: undefined as never, log: undefined as never };
    const reconciliation = createReconciliation({
      database,
      sink,
      log,
      hooks: { onTrouble: () => Promise.resolve() },
      now: () => now,
      connected: [network],
    });
    for (const end = now + day; now < end; now += blockMs) {
      await database.write((transaction) =>
        transaction
          .updateTable('chain_cursors')
          .set((e) => ({ height: e('height', '+', 1), head_height: e('head_height', '+', 1) }))
          .where((e) => e.and(place))
          .execute(),
      );
      await reconciliation.advance(signal);
    }
    const times = counts.map((count, merchant) =>
      Array.from({ length: count }, (_, index) => visited.get(addressFrom(`${merchant}-${index}`)) ?? 0),
    );
    expect(times.map((list) => list.filter((found) => found === 0).length)).toEqual([0, 0]);
  } finally {
    await world.close();
  }
});
