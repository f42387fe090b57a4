/** Deposit keys: set from the command line, used by running servers, replaced, refused, listed and exported. */
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { createDepositKeys, type DepositKeys } from '../../src/core/addresses/deposit-keys.js';
import { exportAddresses } from '../../src/core/addresses/export.js';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';
import { createTestClock } from '../../src/core/chains/simulated/test-clock.js';
import { createMerchants } from '../../src/core/merchants/merchants.js';
import { newId } from '../../src/core/shared/ids.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';

const account = (seed: number) => HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive("m/44'/60'/0'");
const xpub = (seed: number) => account(seed).publicExtendedKey;
const key = (seed: number) => ({ extendedPublicKey: xpub(seed), script: undefined });
const evm = (seed: number) => createAddressSource('live', 'evm', xpub(seed));

describe.each(enginesOfQuick)('deposit keys on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let keys: DepositKeys;
  let merchantId: string;

  beforeAll(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    keys = await createDepositKeys(database, () => 1000, newId, createForwarderSource);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.dispose();
  });
  beforeEach(async () => {
    merchantId = await newMerchant();
  });

  async function newMerchant(): Promise<string> {
    const merchants = createMerchants(await createTestClock(database), newId);
    const { id } = await database.write((transaction) => merchants.create(transaction, { name: 'Shop' }));
    return id;
  }

  const live = () => ({ merchantId, mode: 'live' }) as const;
  const set = (seed: number, on = keys) =>
    database.write((transaction) => on.set(transaction, live(), 'evm', key(seed), true));
  const current = (on = keys) => on.sources.find(live(), 'evm')?.id;

  it('A merchant has no addresses before it has a key, and afterwards only those of its key', async () => {
    expect(current()).toBeUndefined();
    expect(await set(1)).toHaveLength(1);
    await keys.refresh();
    expect(keys.sources.find(live(), 'evm')?.derive(7)).toBe(evm(1).derive(7));
    expect(keys.sources.find(live(), 'tron')).toBeUndefined();
    expect(keys.sources.find({ merchantId, mode: 'test' }, 'evm')).toBeUndefined();
    expect(keys.sources.find({ merchantId: await newMerchant(), mode: 'live' }, 'evm')).toBeUndefined();
  });

  it('Another process sees a new key at its next refresh', async () => {
    const replica = await createDepositKeys(database, () => 2000, newId, createForwarderSource);
    await set(2);
    expect(current(replica)).toBeUndefined();
    await replica.refresh();
    expect(current(replica)).toBe(evm(2).id);
    await set(3);
    await replica.refresh();
    expect(current(replica)).toBe(evm(3).id);
  });

  it('The same key again changes nothing', async () => {
    expect([await set(4), await set(4)]).toEqual([[expect.any(String)], []]);
    expect(await keys.list(database.reader, merchantId)).toHaveLength(1);
  });

  it('A replaced key stays in the list, and can be set again', async () => {
    for (const seed of [5, 6, 5]) expect(await set(seed)).toHaveLength(1);
    const listed = await keys.list(database.reader, merchantId);
    expect(listed.map(({ sourceId, replacedAt }) => [sourceId, replacedAt]).sort()).toEqual(
      [
        [evm(5).id, 1000],
        [evm(6).id, 1000],
        [evm(5).id, null],
      ].sort(),
    );
    await keys.refresh();
    expect(current()).toBe(evm(5).id);
  });

  it('Keys that are set at the same time leave one in use', async () => {
    await Promise.all([7, 8, 9, 10].map((seed) => set(seed)));
    const listed = await keys.list(database.reader, merchantId);
    expect(listed.filter(({ replacedAt }) => replacedAt === null)).toHaveLength(1);
  });

  it.each([
    ['an extended private key', () => account(11).privateExtendedKey, /private key/],
    ['no key', () => 'hunter2', /extended public key/],
    ['a key with a wrong character', () => `${xpub(11).slice(0, -1)}1`, /checksum of this key/],
  ])('%s is refused, and not shown', async (_, given, reason) => {
    const refused = { extendedPublicKey: given(), script: undefined };
    const work = database.write((transaction) => keys.set(transaction, live(), 'evm', refused));
    await expect(work).rejects.toThrow(reason);
    await expect(work).rejects.not.toThrow(refused.extendedPublicKey);
    expect(await keys.list(database.reader, merchantId)).toEqual([]);
  });

  it('The export of a merchant without addresses is empty', async () => {
    await set(12);
    const scope = live();
    const found = await exportAddresses({
      reader: database.reader,
      depositKeys: keys,
      scope,
      family: undefined,
    });
    expect(found).toEqual({ keys: [], addresses: [] });
  });
});
