/** Merchant accounts, and the first one, which a new server creates. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database } from '../../src/core/db/database.js';
import { newId } from '../../src/core/shared/ids.js';
import { plainData } from '../support/plain-data.js';
import { createHooks } from '../../src/core/hooks.js';
import { createAuditLog } from '../../src/core/merchants/audit-log.js';
import { createKeys } from '../../src/core/merchants/keys.js';
import { bootstrap } from '../../src/core/merchants/bootstrap.js';
import { createMerchants, type MerchantChange } from '../../src/core/merchants/merchants.js';
import { enginesOfTurn, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';
import { clockAt } from '../support/clock.js';

const clock = clockAt(() => 1_800_000_000_000);
const randomKey = (start: string) => start + randomBytes(32).toString('base64url');

describe.each(enginesOfTurn)('Merchants on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  const merchants = createMerchants(clock, newId);
  const createMerchant = (change: MerchantChange = {}) =>
    database.write((transaction) => merchants.create(transaction, { name: 'Shop', ...change }));
  const start = (
    { publicKey, secretKey }: { publicKey?: string; secretKey?: string } = {},
    on = database,
    isTrial = true,
  ) =>
    bootstrap(
      on,
      merchants,
      createKeys(on, clock, newId),
      createAuditLog(clock, plainData, createHooks().emailsOf),
      { publicKey, secretKey },
      isTrial,
    );

  it('No account is made at the start where real money is taken, unless its keys are given', async () => {
    expect(await start({}, database, false)).toEqual({ merchantId: undefined, made: {} });
    expect(await merchants.list(database.reader)).toEqual([]);
    const { merchantId } = await start({ secretKey: randomKey('sk_test_') }, database, false);
    expect(await merchants.list(database.reader)).toMatchObject([{ id: merchantId }]);
  });

  it('A merchant has a name for payers, no logo and a fee of 1 % by default', async () => {
    expect(await createMerchant()).toMatchObject({
      name: 'Shop',
      businessName: 'Shop',
      logo: '',
      feeBasisPoints: 100,
    });
  });

  it('An update changes only the given fields of a merchant', async () => {
    const { id } = await createMerchant({ logo: 'https://shop.example/logo.svg' });
    const changed = await database.write((transaction) =>
      merchants.update(transaction, id, { businessName: 'The Shop', feeBasisPoints: 0 }),
    );
    expect(changed).toMatchObject({
      name: 'Shop',
      businessName: 'The Shop',
      logo: 'https://shop.example/logo.svg',
      feeBasisPoints: 0,
    });
    expect(await merchants.retrieve(database.reader, id)).toEqual(changed);
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['businessName', { businessName: '' }],
    ['logo', { logo: 'http://shop.example/logo.svg' }],
    ['logo', { logo: 'javascript:alert(1)' }],
    ['logo', { logo: 'https://user:pass@shop.example/' }],
    ['feeBasisPoints', { feeBasisPoints: -1 }],
    ['feeBasisPoints', { feeBasisPoints: 10_001 }],
    ['feeBasisPoints', { feeBasisPoints: 1.5 }],
  ])('A merchant with an invalid %s is refused: %o', async (field, change) => {
    await expect(createMerchant(change)).rejects.toMatchObject({
      code: 'validation_error',
      details: { param: field },
    });
  });

  it('The first account is created once at the start, with keys that are shown once', async () => {
    const first = await start();
    expect(first.made.publicKey).toMatch(/^pk_test_/);
    expect(first.made.secretKey).toMatch(/^sk_test_/);
    const [account] = await merchants.list(database.reader);
    expect(account).toMatchObject({ id: first.merchantId, name: 'Nightjar Lanterns' });
    const keys = createKeys(database, clock, newId);
    expect(await keys.authenticate(first.made.secretKey ?? '')).toMatchObject({
      kind: 'secret',
      mode: 'test',
    });
    expect(await start()).toEqual({ merchantId: first.merchantId, made: {} });
  });

  it('The first account gets the given keys, even if it already exists', async () => {
    const given = { publicKey: randomKey('pk_test_'), secretKey: randomKey('sk_test_') };
    expect((await start(given)).made).toEqual({});
    const second = { publicKey: randomKey('pk_test_'), secretKey: given.secretKey };
    const { merchantId } = await start(second);
    const keys = createKeys(database, clock, newId);
    for (const key of [given.publicKey, given.secretKey, second.publicKey]) {
      expect(await keys.authenticate(key)).toMatchObject({ merchantId });
    }
    expect(await keys.list()).toHaveLength(3);
    expect(await merchants.list(database.reader)).toHaveLength(1);
  });

  it('A given key that was revoked stays revoked after another start', async () => {
    const given = { publicKey: randomKey('pk_test_'), secretKey: randomKey('sk_test_') };
    await start(given);
    const keys = createKeys(database, clock, newId);
    for (const { id } of await keys.list())
      await database.write((transaction) => keys.revoke(transaction, id));
    await start(given);
    expect(await keys.authenticate(given.secretKey)).toBeUndefined();
  });

  // Waiting for SQLite's lock blocks the whole process, so main.long.test.ts tests this with several processes.
  if (engine.name === 'PostgreSQL')
    it('The first account is created once even if several servers start at once', async () => {
      const others = await Promise.all([openDatabase(testDatabase.url), openDatabase(testDatabase.url)]);
      const given = { publicKey: randomKey('pk_test_') };
      const started = await Promise.all([database, ...others].map((on) => start(given, on)));
      expect(new Set(started.map(({ merchantId }) => merchantId)).size).toBe(1);
      expect(started.filter(({ made }) => made.secretKey !== undefined)).toHaveLength(1);
      expect(await createKeys(database, clock, newId).list()).toHaveLength(2);
      await Promise.all(others.map((other) => other.close()));
    });
});
