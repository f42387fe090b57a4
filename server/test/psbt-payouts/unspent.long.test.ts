/**
 * The coins that a payout by PSBT looks at: those that no confirmed one has spent, found without reading all that there
 * ever were.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markUnspent, unspentPages } from '../../src/core/addresses/unspent-coins.js';
import { migrations } from '../../src/core/db/migrations.js';
import { unspentCoins } from '../../src/core/db/table.js';
import { enginesOfSoak } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { watchStatements } from '../support/statements.js';
import { network, openPayoutShop, type PayoutShop } from './fixture.js';
import { violationsOf } from '../support/violations.js';

describe.skipIf(!hasLitecoind).each(enginesOfSoak)('The coins that payouts look at, on $name', (engine) => {
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

  /** The amounts of a merchant's marks, largest first, and the branches of their keys. */
  async function marks(merchantId: string) {
    const rows = await shop.server.database.reader
      .selectFrom('unspent_coins')
      .select(['amount', 'branch'])
      .where('merchant_id', '=', merchantId)
      .orderBy('amount', 'desc')
      .execute();
    return rows.map(({ amount, branch }) => `${amount / 1e8} at ${branch}`);
  }
  const violations = () => violationsOf(shop.server.database);

  it('Coins are unspent until a payout of them is confirmed, then its change is, and again when the chain drops it', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5', '0.25', '0.125');
    expect(await marks(merchant.id)).toEqual(['0.5 at 0', '0.25 at 0', '0.125 at 0']);
    await merchant.transfers('0.3');
    const exported = await merchant.export();
    await shop.import(merchant.sign(exported.psbt));
    expect(await marks(merchant.id)).toEqual(['0.5 at 0', '0.25 at 0', '0.125 at 0']);
    await shop.confirm();
    const change = `${exported.versions[0]?.change ?? ''} at 1`;
    expect(await marks(merchant.id)).toEqual(['0.25 at 0', change, '0.125 at 0']);
    await shop.expectBooksInOrder();
    await node.reorg(2, 'waiting');
    await shop.scan();
    await shop.follow();
    // The change is still expected, and its transaction waits.
    expect(await marks(merchant.id)).toEqual(['0.5 at 0', '0.25 at 0', change, '0.125 at 0']);
    await shop.confirm();
    expect((await shop.show(exported.id)).state).toBe('settled');
    expect(await marks(merchant.id)).toEqual(['0.25 at 0', change, '0.125 at 0']);
    await shop.expectBooksInOrder();
  });

  it('Coins are each free or not, also two of one transaction', async () => {
    const merchant = await shop.merchant();
    const till = () =>
      merchant.ask<{ addresses: { network: string; address: string }[] }>('POST', '/v1/wallets', {
        currency: 'LTC',
        label: 'Till',
      });
    const addresses = [await till(), await till()].map(
      (wallet) => wallet.addresses.find((one) => one.network === network)?.address ?? '',
    );
    await node.rpc('sendmany', '', Object.fromEntries(addresses.map((address) => [address, '0.5'])));
    await shop.confirm();
    await merchant.transfers('0.1');
    const first = await merchant.export();
    await merchant.transfers('0.1');
    const second = await merchant.export();
    const spent = [first, second].flatMap(({ inputs }) => inputs);
    expect(new Set(spent.map(({ txHash }) => txHash)).size).toBe(1);
    expect(new Set(spent.map(({ outputIndex }) => outputIndex)).size).toBe(2);
  });

  it('Coins are read page by page, largest first, each page from where the last one ended', async () => {
    const { database } = shop.server;
    const merchant = await shop.merchant();
    const of = { mode: 'test', network: 'paged', merchantId: merchant.id } as const;
    const coins = Array.from({ length: 2400 }, (_, index) => ({
      mode: of.mode,
      network: of.network,
      merchant_id: merchant.id,
      source_id: `key ${index % 2}`,
      tx_hash: String(index).padStart(64, '0'),
      output_index: index % 3,
      amount: index % 7,
      branch: 0 as const,
      derivation_index: index,
    }));
    await database.write((transaction) => markUnspent(transaction, coins));
    const watch = watchStatements(() => false);
    for (const sourceId of ['key 1', undefined]) {
      const found: string[] = [];
      const amounts: number[] = [];
      for await (const page of unspentPages(database.reader, { ...of, sourceId })) {
        found.push(...page.map((coin) => coin.tx_hash));
        amounts.push(...page.map(({ amount }) => amount));
      }
      const own = coins.filter(({ source_id: source }) => sourceId === undefined || source === sourceId);
      expect(found.sort()).toEqual(own.map((coin) => coin.tx_hash).sort());
      if (sourceId !== undefined) expect(amounts).toEqual(amounts.toSorted((a, b) => b - a));
    }
    const plans = watch.take().flatMap(({ sql, plan }) => (sql.includes(') < (') ? [plan.join()] : []));
    watch.stop();
    if (engine.name === 'SQLite') {
      expect(plans).toEqual([
        expect.stringContaining('source_id=? AND (amount,tx_hash,output_index)<(?,?,?)'),
        expect.stringContaining('merchant_id=? AND (source_id,amount,tx_hash,output_index)<(?,?,?,?)'),
      ]);
    }
    await database.write((transaction) =>
      transaction.deleteFrom('unspent_coins').where('network', '=', of.network).execute(),
    );
  });

  it('Coins of the simulated networks are not among those of payouts', async () => {
    const merchant = await shop.merchant();
    const { addresses } = await merchant.ask<{ addresses: { network: string; address: string }[] }>(
      'POST',
      '/v1/wallets',
      { currency: 'BTC', label: 'Sandbox' },
    );
    const { address = '' } = addresses.find((one) => one.network === 'bitcoin') ?? {};
    const transfer = { network: 'bitcoin', currency: 'BTC', address, amount: '9000000000' };
    await merchant.ask('POST', '/sandbox/transfers', transfer);
    await merchant.ask('POST', '/sandbox/blocks', { network: 'bitcoin', count: 3 });
    const { reader } = shop.server.database;
    const receipt = reader.selectFrom('receipts').select('status').where('address', '=', address);
    expect(await receipt.execute()).toEqual([{ status: 'confirmed' }]);
    expect(await marks(merchant.id)).toEqual([]);
  });

  it('Unspent coins are marked by the upgrade, and a missing mark fails the check of the ledger', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5', '0.25');
    await merchant.transfers('0.3');
    const exported = await merchant.export();
    await shop.import(merchant.sign(exported.psbt));
    await shop.confirm();
    const { database } = shop.server;
    const all = () =>
      database.reader
        .selectFrom('unspent_coins')
        .selectAll()
        .orderBy('tx_hash')
        .orderBy('output_index')
        .execute();
    const before = await all();
    const own = before.filter((coin) => coin.merchant_id === merchant.id);
    expect(own.map(({ branch }) => branch).sort()).toEqual([0, 1]);
    await database.write((transaction) => transaction.deleteFrom('unspent_coins').execute());
    expect((await violations()).sort()).toEqual(
      before
        .map(
          ({ tx_hash: hash, output_index: index }) =>
            `No PSBT would find the coin ${hash}:${index} on ${network} in test mode, which none has spent`,
        )
        .sort(),
    );
    await database.write(async (transaction) => {
      for (const name of [
        'psbts_merchant',
        'psbts_time',
        'psbt_inputs_coin',
        'psbt_versions_hash',
        'deposit_keys_source',
      ])
        await transaction.schema.dropIndex(name).execute();
      await transaction.schema.dropTable('unspent_coins').execute();
      await migrations(database.engine, database.tables)[unspentCoins]?.up(transaction);
    });
    expect(await all()).toEqual(before);
    expect(await violations()).toEqual([]);
  });
});
