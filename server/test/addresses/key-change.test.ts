/**
 * Another deposit key takes effect after a day: the owner is notified, and a thief's key is withdrawn before it is
 * used.
 */
import { HDKey } from '@scure/bip32';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDepositKeyChanges,
  type DepositKeyChanges,
} from '../../src/core/addresses/deposit-key-changes.js';
import {
  createDepositKeys,
  isOpen,
  waitMs,
  type DepositKeys,
} from '../../src/core/addresses/deposit-keys.js';
import { createTestClock } from '../../src/core/chains/simulated/test-clock.js';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';
import { createHooks } from '../../src/core/hooks.js';
import { createAuditLog, type AuditLog } from '../../src/core/merchants/audit-log.js';
import { createMerchants } from '../../src/core/merchants/merchants.js';
import { newId } from '../../src/core/shared/ids.js';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { createOutbox } from '../../src/core/webhooks/outbox.js';
import { enginesOfTurn, type TestDatabase } from '../support/engines.js';
import { plainData } from '../support/plain-data.js';

const xpub = (seed: number) =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive("m/44'/60'/0'").publicExtendedKey;
const key = (seed: number) => ({ extendedPublicKey: xpub(seed), script: undefined });
const owners = 1;
const thiefs = 66;
const hour = 3_600_000;

interface Server {
  readonly keys: DepositKeys;
  readonly changes: DepositKeyChanges;
  /** One round of its job. */
  tick(): Promise<void>;
}

describe.each(enginesOfTurn)('a change of the deposit key on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let auditLog: AuditLog;
  let merchantId: string;
  let time = Date.UTC(2030, 0, 1);
  let one: Server;
  let other: Server;

  const live = () => ({ merchantId, mode: 'live' }) as const;
  /** The seed whose addresses a server gives out. */
  const used = ({ keys }: Server) => {
    const given = keys.sources.find(live(), 'evm')?.derive(0);
    return [owners, thiefs, 3, 4].find(
      (seed) => keys.preview(live(), 'evm', key(seed), undefined).derive(0) === given,
    );
  };
  const set = (seed: number, isAtOnce = false) => {
    time += 1;
    return database.write((transaction) =>
      one.changes.set(transaction, live(), 'evm', key(seed), { actor: `shell of ${seed}`, isAtOnce }),
    );
  };
  const withdraw = () =>
    database.write((transaction) => one.changes.withdraw(transaction, live(), 'evm', 'shell of the owner'));

  async function start(): Promise<Server> {
    const clock = await createTestClock(database, () => time);
    const keys = await createDepositKeys(database, clock.real, newId, createForwarderSource);
    const outbox = createOutbox(clock, newId, plainData);
    const changes = createDepositKeyChanges({
      database,
      depositKeys: keys,
      auditLog,
      outbox,
      log: pino({ level: 'silent' }),
    });
    return {
      keys,
      changes,
      async tick() {
        await keys.refresh();
        await changes.report();
      },
    };
  }

  async function later(hours: number, servers: readonly Server[] = [one, other]): Promise<void> {
    time += hours * hour;
    await Promise.all(servers.map((server) => server.tick()));
  }

  /** The events for the merchant's server. */
  async function notifications(): Promise<string[]> {
    const rows = await database.reader
      .selectFrom('outbox')
      .select(['type', 'data'])
      .where('merchant_id', '=', merchantId)
      .orderBy('sequence')
      .execute();
    return rows.map(({ type, data }) => {
      const { status, changedBy } = JSON.parse(data) as Record<string, string>;
      return `${type}: ${status} by ${changedBy}`;
    });
  }

  const audited = async () =>
    (await auditLog.list(database.reader, { merchantId }))
      .filter(({ action }) => action.startsWith('deposit_key'))
      .map(({ action, actor }) => `${action} by ${actor}`);

  beforeAll(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.dispose();
  });
  beforeEach(async () => {
    const clock = await createTestClock(database, () => time);
    auditLog = createAuditLog(clock, plainData, createHooks().emailsOf);
    const merchants = createMerchants(clock, newId);
    ({ id: merchantId } = await database.write((transaction) =>
      merchants.create(transaction, { name: 'Shop' }),
    ));
    await database.write((transaction) =>
      transaction
        .insertInto('webhook_endpoints')
        .values({
          merchant_id: merchantId,
          mode: 'live',
          url: 'https://shop.example/hooks',
          secret: 'whsec_x',
          former_secrets: '[]',
          disabled_at: null,
          updated_at: time,
        })
        .execute(),
    );
    one = await start();
    other = await start();
    await set(owners);
    await later(0);
  });

  it('A first key is in use at once', () => {
    expect([used(one), used(other)]).toEqual([owners, owners]);
  });

  it("A thief with a minute's shell sets a key: the owner is notified, cancels in time, and no address was the thief's", async () => {
    await set(thiefs);
    await later(0);
    expect([used(one), used(other)]).toEqual([owners, owners]);
    expect(await notifications()).toEqual([
      `account.deposit_key_changed: in_use by shell of ${owners}`,
      `account.deposit_key_changed: pending by shell of ${thiefs}`,
    ]);
    await later(23.9);
    expect([used(one), used(other)]).toEqual([owners, owners]);
    expect(await withdraw()).toMatchObject({ state: 'withdrawn', extendedPublicKey: xpub(thiefs) });
    await later(48);
    expect([used(one), used(other)]).toEqual([owners, owners]);
    expect(await withdraw()).toBeUndefined();
    expect((await notifications()).slice(2)).toEqual([
      'account.deposit_key_changed: withdrawn by shell of the owner',
    ]);
    expect(await audited()).toEqual([
      `deposit_key.set by shell of ${owners}`,
      `deposit_key.set by shell of ${thiefs}`,
      'deposit_key.withdrawn by shell of the owner',
    ]);
    expect(
      (await one.keys.list(database.reader, merchantId)).map(({ state, replacedAt }) => [
        state,
        replacedAt === null,
      ]),
    ).toEqual([
      ['in_use', true],
      ['withdrawn', false],
    ]);
  });

  it('A key takes effect after a day in two servers at once, and is announced once', async () => {
    await set(3);
    await later(0);
    time += waitMs - 1;
    expect([used(one), used(other)]).toEqual([owners, owners]);
    time += 1;
    // Neither has read anything since.
    expect([used(one), used(other)]).toEqual([3, 3]);
    await later(0);
    await later(1);
    expect((await notifications()).slice(2)).toEqual(['account.deposit_key_changed: in_use by server']);
    expect((await audited()).slice(2)).toEqual(['deposit_key.took_effect by server']);
  });

  it('A server that was down when a key took effect uses it from its start, and announces it', async () => {
    await set(3);
    time += 3 * waitMs;
    const started = await start();
    expect(used(started)).toBe(3);
    await started.tick();
    expect((await notifications()).at(-1)).toBe('account.deposit_key_changed: in_use by server');
    await set(4);
    await later(1, [started]);
    expect(used(started)).toBe(3);
  });

  it('A key that took effect while nothing ran is announced before it is replaced', async () => {
    await set(3);
    time += 3 * waitMs;
    await set(4, true);
    // Both at the same millisecond.
    expect(new Set((await notifications()).slice(2))).toEqual(
      new Set([
        'account.deposit_key_changed: in_use by server',
        'account.deposit_key_changed: in_use by shell of 4',
      ]),
    );
  });

  it('The key in use, set again, withdraws a pending one', async () => {
    await set(thiefs);
    expect(await set(owners)).toMatchObject([{ state: 'withdrawn' }]);
    expect(await set(owners)).toEqual([]);
    await later(25);
    expect(used(one)).toBe(owners);
  });

  it('Another pending key waits a day of its own, and the same one does not wait longer', async () => {
    await set(3);
    await later(20);
    expect(await set(3)).toEqual([]);
    expect((await set(4)).map(({ state }) => state)).toEqual(['withdrawn', 'pending']);
    await later(5);
    expect(used(one)).toBe(owners);
    await later(19);
    expect(used(one)).toBe(4);
  });

  it.each([false, true])(
    'A key that is set at once does not wait, and the owner is notified (it was pending: %s)',
    async (isPending) => {
      if (isPending) await set(3);
      await set(3, true);
      await later(0);
      expect([used(one), used(other)]).toEqual([3, 3]);
      expect((await notifications()).at(-1)).toBe('account.deposit_key_changed: in_use by shell of 3');
      expect((await audited()).at(-1)).toBe('deposit_key.set by shell of 3');
      await later(48);
      expect(used(one)).toBe(3);
      expect((await notifications()).at(-1)).toBe('account.deposit_key_changed: in_use by shell of 3');
    },
  );

  it('A treasury from before the secret gets new forwarders once, and keeps the old ones', async () => {
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const before = createForwarderSource(live(), treasury);
    await database.write((transaction) =>
      one.changes.set(transaction, live(), 'evm', { treasury }, { actor: 'owner', isAtOnce: true }),
    );
    // As the previous release stored it.
    await database.write((transaction) =>
      transaction
        .updateTable('deposit_keys')
        .set({ salt_secret: null, source_id: before.id })
        .where('merchant_id', '=', merchantId)
        .execute(),
    );
    const reopen = () => createDepositKeys(database, () => time, newId, createForwarderSource);
    const upgraded = await reopen();
    const now = upgraded.sources.find(live(), 'evm');
    expect(now?.derive(0)).not.toBe(before.derive(0));
    expect((await reopen()).sources.find(live(), 'evm')?.id).toBe(now?.id);
    const all = await upgraded.list(database.reader, merchantId);
    const ofTreasury = all.filter((key) => key.treasury === treasury);
    expect(ofTreasury.map(({ state }) => state).sort()).toEqual(['in_use', 'replaced']);
    const [old, current] = ['replaced', 'in_use'].map((state) =>
      ofTreasury.find((key) => key.state === state),
    );
    if (!old) throw new Error('The treasury of the previous release is gone');
    // Addresses given out earlier are exported, and so swept, with the salt of that time.
    const kept = upgraded.preview(live(), 'evm', old, undefined);
    expect([kept.derive(7), kept.forwarder?.salt(7)]).toEqual([before.derive(7), before.forwarder?.salt(7)]);
    const secret = current && 'salts' in current ? current.salts?.secret : undefined;
    expect(now?.id).not.toContain(secret ?? '-');
  });

  it('A restore gives a treasury new forwarders at once, and lets a pending one wait', async () => {
    const [inUse, next] = [
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    ];
    for (const [treasury, isAtOnce] of [
      [inUse, true],
      [next, false],
    ] as const) {
      await database.write((transaction) =>
        one.changes.set(transaction, live(), 'evm', { treasury }, { actor: 'owner', isAtOnce }),
      );
    }
    const open = (await one.keys.list(database.reader, merchantId)).filter(({ state }) => isOpen(state));
    await database.write((transaction) => one.keys.raiseEpoch(transaction, open, 1));
    await later(0);
    const treasuryOf = ({ keys }: Server) => keys.sources.find(live(), 'evm')?.forwarder?.treasury;
    expect(treasuryOf(one)).toBe(inUse);
    await later(23);
    expect(treasuryOf(other)).toBe(inUse);
    await later(1);
    expect([treasuryOf(one), treasuryOf(other)]).toEqual([next, next]);
    const epochs = (await one.keys.list(database.reader, merchantId)).filter(
      ({ state }) => state === 'in_use',
    );
    expect(epochs).toMatchObject([{ treasury: next, salts: { epoch: 1 } }]);
  });
});
