/** `sandbox reset`: wipes one merchant's test data, and nothing else. */
import { HDKey } from '@scure/bip32';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfTurn } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';
import { violationsOf } from '../support/violations.js';

describe.each(enginesOfTurn)('sandbox reset on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const rowsOf = async (merchantId: string) => {
    const { reader } = server.database;
    const counts: Record<string, number> = {};
    for (const table of [
      'payments',
      'receipts',
      'customers',
      'wallets',
      'subscribers',
      'payment_plans',
      'transfers',
      'payouts',
      'wallet_addresses',
      'bank_accounts',
      'outbox',
      'ledger_accounts',
      'test_clocks',
      'simulated_transfers',
      'idempotency',
      'list_checkpoints',
    ] as const) {
      const rows = await reader
        .selectFrom(table)
        .select('merchant_id')
        .where('merchant_id', '=', merchantId)
        .execute();
      counts[table] = rows.length;
    }
    return counts;
  };
  const violations = () => violationsOf(server.database);

  it('sandbox reset deletes all test data after --yes, keeps other merchants and the keys, and the books add up', async () => {
    const records = createRecords(server);
    const { merchantId } = server.bootstrapped;
    const otherKey = await server.foreignKey('secret', 'test');
    const other = createRecords(server, otherKey);
    await records.shop.setWebhookUrl('http://127.0.0.1:9/hook');
    for (const each of [records, other]) {
      await each.payout();
      await each.subscriber();
      await each.wallet();
      await each.bankAccount();
      await each.lockedPayment();
      await each.shop.advance(3600);
    }
    const reversed = await records.paidPayment();
    await records.shop.sandbox('reorgs', { network: 'tron', depth: 5 });
    await server.api('POST', '/v1/customers', {
      body: { email: 'ada@example.com' },
      headers: { 'Idempotency-Key': 'one' },
    });
    expect(await violations()).toEqual([]);
    const owner = await server.database.reader
      .selectFrom('payments')
      .select('merchant_id')
      .where('merchant_id', '!=', merchantId)
      .executeTakeFirstOrThrow();
    const [before, others] = [await rowsOf(merchantId), await rowsOf(owner.merchant_id)];
    expect(
      Object.entries(before).filter(([table, count]) => count === 0 && table !== 'list_checkpoints'),
    ).toEqual([]);

    const run = (...args: string[]) =>
      runCommandLine(server.databaseUrl, ['sandbox', 'reset', '--merchant', merchantId, ...args]);
    const unconfirmed = await run();
    expect([unconfirmed.exitCode, unconfirmed.stderr]).toEqual([2, expect.stringMatching(/--yes/)]);
    expect(await rowsOf(merchantId)).toEqual(before);

    const { exitCode, stderr, stdout } = await run('--yes', '--json');
    expect(exitCode, stderr).toBe(0);
    const { deleted } = JSON.parse(stdout) as { deleted: Record<string, number> };
    expect(deleted).toMatchObject({ payments: before['payments'], receipts: before['receipts'] });
    expect(Object.values(await rowsOf(merchantId)).filter((count) => count > 0)).toEqual([]);
    expect(await rowsOf(owner.merchant_id)).toEqual(others);
    expect(await violations()).toEqual([]);
    const audit = await runCommandLine(server.databaseUrl, ['audit', 'list', '--merchant', merchantId]);
    expect(audit.stdout).toContain('sandbox.reset');

    expect((await server.api('GET', `/v1/transactions/${reversed}`)).status).toBe(404);
    const date = async () =>
      Date.parse((await server.api('GET', '/v1/currencies')).headers.get('date') ?? '');
    await expect.poll(date, { timeout: 5000 }).toBeLessThan(Date.now() + 60_000);
    const again = await records.paidPayment();
    expect((await server.api('GET', `/v1/transactions/${again}/verify`)).body.data['status']).toBe('success');
    expect(await violations()).toEqual([]);
  });

  it('sandbox reset leaves nothing of test mode in any table but the keys, and keeps the next index of deposit keys', async () => {
    const merchantId = (await server.app.merchants.list(server.database.reader)).at(-1)?.id ?? '';
    const scope = { merchantId, mode: 'test' } as const;
    const key = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { ...scope, kind: 'secret' }),
    );
    const records = createRecords(server, key.key);
    await records.wallet();
    const paid = await records.paidPayment();
    const { reader } = server.database;
    const { publicExtendedKey: extendedPublicKey } = HDKey.fromMasterSeed(new Uint8Array(32).fill(3)).derive(
      "m/44'/60'/0'",
    );
    const wallet = await reader
      .selectFrom('addresses')
      .innerJoin('wallets', 'wallets.id', 'addresses.wallet_id')
      .select('addresses.address')
      .where('wallets.merchant_id', '=', merchantId)
      .executeTakeFirstOrThrow();
    await server.database.write(async (transaction) => {
      await server.app.depositKeys.set(transaction, scope, 'evm', { extendedPublicKey, script: undefined });
      await transaction.insertInto('derivations').values({ source_id: 'a-key', next_index: 7 }).execute();
      const failed = { mode: 'test', network: 'tron', reason: '', tries: 1, failed_at: 0 } as const;
      const transfer = JSON.stringify({ transfer: { address: wallet.address } });
      const stranger = JSON.stringify({ transfer: { address: 'TOther' } });
      await transaction
        .insertInto('quarantine')
        .values([
          { ...failed, id: paid, payment_id: paid, transfer: null, retry_at: 9e15 },
          { ...failed, id: 'tx:0', payment_id: null, transfer, retry_at: 9e15 },
          { ...failed, id: 'tx:1', payment_id: null, transfer: stranger, retry_at: 9e15 },
        ])
        .execute();
    });
    const { exitCode } = await runCommandLine(server.databaseUrl, [
      ...['sandbox', 'reset', '--merchant', merchantId, '--yes'],
    ]);
    expect(exitCode).toBe(0);

    const kept: Record<string, number> = {};
    for (const { name, columns } of await reader.introspection.getTables()) {
      const has = new Set(columns.map((column) => column.name));
      if (!has.has('merchant_id') || !has.has('mode')) continue;
      const { rows } = await sql<{ count: number | string }>`select count(*) as count from ${sql.table(name)}
        where merchant_id = ${merchantId} and mode = 'test'`.execute(reader);
      if (Number(rows[0]?.count) > 0) kept[name] = Number(rows[0]?.count);
    }
    expect(
      Object.keys(kept)
        .filter((name) => name !== 'audit_log')
        .sort(),
    ).toEqual(['api_keys', 'deposit_keys']);
    expect(await reader.selectFrom('quarantine').select('id').execute()).toEqual([{ id: 'tx:1' }]);
    const left = reader.selectFrom('addresses').select('id').where('address', '=', wallet.address);
    expect(await left.execute()).toEqual([]);
    const count = reader.selectFrom('derivations').select('next_index').where('source_id', '=', 'a-key');
    expect(await count.execute()).toEqual([{ next_index: 7 }]);
    await server.database.write((transaction) => transaction.deleteFrom('quarantine').execute());
  });

  it('sandbox reset refuses a merchant that does not exist', async () => {
    const { exitCode, stderr } = await runCommandLine(server.databaseUrl, [
      'sandbox',
      'reset',
      '--merchant',
      'NOBODY',
      '--yes',
    ]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/merchant/)]);
  });
});
