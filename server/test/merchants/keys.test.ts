/** API keys: their format, how they are stored, and which caller they authenticate. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Database } from '../../src/core/db/database.js';
import { newId } from '../../src/core/shared/ids.js';
import { createKeys, parseKey, type Keys } from '../../src/core/merchants/keys.js';
import { createMerchants } from '../../src/core/merchants/merchants.js';
import { Problem } from '../../src/core/shared/problem.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';
import { clockAt } from '../support/clock.js';

const clock = clockAt(() => 1_800_000_000_000);

describe.each(enginesOfQuick)('Keys on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let keys: Keys;
  let merchantId: string;
  beforeAll(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    keys = createKeys(database, clock, newId);
    const merchants = createMerchants(clock, newId);
    merchantId = (await database.write((transaction) => merchants.create(transaction, { name: 'Shop' }))).id;
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  afterEach(() => vi.useRealTimers());

  const createKey = (kind: 'secret' | 'public', mode: 'test' | 'live') =>
    database.write((transaction) => keys.create(transaction, { merchantId, kind, mode }));

  it.each([
    ['secret', 'test', /^sk_test_[A-Za-z0-9_-]{43}$/],
    ['secret', 'live', /^sk_live_[A-Za-z0-9_-]{43}$/],
    ['public', 'test', /^pk_test_[A-Za-z0-9_-]{43}$/],
    ['public', 'live', /^pk_live_[A-Za-z0-9_-]{43}$/],
  ] as const)('A %s %s key has its format, and authenticates its merchant', async (kind, mode, form) => {
    const { key } = await createKey(kind, mode);
    expect(key).toMatch(form);
    expect(parseKey(key)).toEqual({ kind, mode });
    const keyLast4 = key.slice(-4);
    expect(await keys.authenticate(key)).toEqual({ merchantId, kind, mode, keyScope: 'full', keyLast4 });
  });

  it('Secret keys are stored as digests, public keys in full', async () => {
    const secret = await createKey('secret', 'test');
    const publicKey = await createKey('public', 'test');
    const rows = await database.reader.selectFrom('api_keys').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret.key);
    expect(rows.find(({ id }) => id === secret.id)).toMatchObject({
      public_key: null,
      last4: secret.key.slice(-4),
    });
    expect(rows.find(({ id }) => id === publicKey.id)).toMatchObject({ public_key: publicKey.key });
    const listed = await keys.list();
    expect(listed.find(({ id }) => id === secret.id)?.key).toBe(`sk_test_…${secret.key.slice(-4)}`);
    expect(listed.find(({ id }) => id === publicKey.id)?.key).toBe(publicKey.key);
  });

  it.each(['', 'sk_test_', 'sk_test_short', `sk_prod_${'a'.repeat(43)}`, `sk_test_${'a'.repeat(44)}`])(
    '%j is not formatted like a key, and authenticates nobody',
    async (key) => {
      expect(parseKey(key)).toBeUndefined();
      expect(await keys.authenticate(key)).toBeUndefined();
    },
  );

  it('A key with one changed character authenticates nobody', async () => {
    const { key } = await createKey('secret', 'test');
    const other = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    expect(await keys.authenticate(other)).toBeUndefined();
  });

  it('A revoked key authenticates nobody, at once here and within 5 s elsewhere', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const elsewhere = createKeys(database, clock, newId);
    const { id, key } = await createKey('secret', 'test');
    expect(await elsewhere.authenticate(key)).toBeDefined();
    await database.write((transaction) => keys.revoke(transaction, id));
    expect(await keys.authenticate(key)).toBeUndefined();
    vi.advanceTimersByTime(4999);
    expect(await elsewhere.authenticate(key)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(await elsewhere.authenticate(key)).toBeUndefined();
    await database.write((transaction) => keys.revoke(transaction, id));
    expect((await keys.list()).find((record) => record.id === id)?.revokedAt).toBe(clock.real());
  });

  it('The last use of a key is written now and then, and never goes back', async () => {
    let now = 1_850_000_000_000;
    const moving = clockAt(() => now);
    const [here, elsewhere] = [createKeys(database, moving, newId), createKeys(database, moving, newId)];
    const { id, key } = await createKey('secret', 'test');
    const lastUse = async () => (await keys.list()).find((record) => record.id === id)?.lastUsedAt;
    await elsewhere.authenticate(key);
    now += 60_000;
    await here.authenticate(key);
    expect(await lastUse()).toBeNull();
    await here.writeUses();
    expect(await lastUse()).toBe(now);
    await elsewhere.writeUses();
    expect(await lastUse()).toBe(now);
    now += 60_000;
    await here.writeUses();
    expect(await lastUse()).toBe(now - 60_000);
  });

  it('Revoking an unknown key is a problem', async () => {
    await expect(database.write((transaction) => keys.revoke(transaction, 'NOTHING'))).rejects.toSatisfy(
      (error) => error instanceof Problem && error.code === 'not_found',
    );
  });

  it('The public key for pages is the newest one that is not revoked', async () => {
    let now = 1_900_000_000_000;
    const later = createKeys(
      database,
      clockAt(() => (now += 1)),
      newId,
    );
    const make = () =>
      database.write((transaction) =>
        later.create(transaction, { merchantId, kind: 'public', mode: 'live' }),
      );
    const [first, second] = [await make(), await make()];
    expect(await keys.publicKey(merchantId, 'live')).toBe(second.key);
    await database.write((transaction) => keys.revoke(transaction, second.id));
    expect(await keys.publicKey(merchantId, 'live')).toBe(first.key);
    expect(await keys.publicKey('NOBODY', 'live')).toBeUndefined();
  });

  it('An ephemeral key is known only to its own process', async () => {
    const key = keys.addEphemeral(merchantId, 'test');
    expect(await keys.authenticate(key)).toMatchObject({ merchantId, kind: 'secret', mode: 'test' });
    expect(await createKeys(database, clock, newId).authenticate(key)).toBeUndefined();
  });

  it('All keys work, even if there are more than the cache can hold', async () => {
    const made = await database.write(async (transaction) => {
      const all: string[] = [];
      for (let index = 0; index < 1100; index += 1) {
        all.push((await keys.create(transaction, { merchantId, kind: 'secret', mode: 'test' })).key);
      }
      return all;
    });
    for (const key of made) expect(await keys.authenticate(key)).toBeDefined();
    expect(await keys.authenticate(made[0] ?? '')).toBeDefined();
  });
});
