/** The audit log: complete, append-only and without secrets. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecords } from '../support/records.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface Entry {
  readonly action: string;
  readonly actor: string;
  readonly merchantId: string;
  readonly mode: string | null;
  readonly subjectId: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly time: string;
}

describe.each(enginesOfTurn)('the audit log on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({
      engine,
      overrides: { paidByOperator: ['tron'] },
    });
    merchant = openShop(server);
  });
  afterAll(() => server.stop());

  const list = async (...options: string[]) =>
    (await merchant.command('audit', 'list', ...options)) as Entry[];
  const latest = async (count: number) => (await list()).slice(-count);
  const byCommandLine = expect.stringMatching(/^command line, user \S+$/) as string;

  it('The audit log begins with the account and the keys that the server made', async () => {
    const { merchantId } = server.bootstrapped;
    expect((await list()).slice(0, 3)).toMatchObject([
      { action: 'merchant.created', merchantId, actor: 'server, at its start' },
      { action: 'key.created', after: { kind: 'public', last4: server.publicKey.slice(-4) } },
      { action: 'key.created', after: { kind: 'secret', last4: server.secretKey.slice(-4) } },
    ]);
  });

  it('The audit log has changes of keys, webhooks and settings, with actor, before and after, and no secret', async () => {
    const { id, webhookSecret } = (await merchant.command(
      ...[
        'merchants',
        'create',
        '--name',
        'Audited',
        '--webhook-url',
        'https://shop.example/in?token=hidden',
        '--mode',
        'test',
      ],
    )) as { id: string; webhookSecret: string };
    await merchant.command('merchants', 'update', id, '--fee-basis-points', '50', '--transfers', 'saved');
    // Changes nothing, so it leaves no entry.
    await merchant.command('merchants', 'update', id, '--fee-basis-points', '50');
    const { webhookSecret: rotated } = (await merchant.command(
      ...['merchants', 'update', id, '--rotate-webhook-secret', '--mode', 'test'],
    )) as { webhookSecret: string };
    await merchant.command('merchants', 'update', id, '--webhook-url', '', '--mode', 'test');
    const key = (await merchant.command(
      ...['keys', 'create', '--merchant', id, '--kind', 'secret', '--mode', 'live', '--scope', 'read'],
    )) as { id: string; key: string };
    await merchant.command('keys', 'revoke', key.id);
    await merchant.command('keys', 'revoke', key.id);
    const last4 = key.key.slice(-4);
    const entries = await list('--merchant', id);
    const by = { actor: byCommandLine, merchantId: id };
    expect(entries).toMatchObject([
      { ...by, action: 'merchant.created', mode: null, after: { name: 'Audited', feeBasisPoints: 100 } },
      { ...by, action: 'webhook.set', mode: 'test', after: { url: 'https://shop.example/in?…' } },
      {
        ...by,
        action: 'merchant.updated',
        before: { feeBasisPoints: 100, transfers: 'any' },
        after: { feeBasisPoints: 50, transfers: 'saved' },
      },
      { ...by, action: 'webhook.secret_rotated', mode: 'test', before: null, after: null },
      { ...by, action: 'webhook.removed', before: { url: 'https://shop.example/in?…' }, after: null },
      { ...by, action: 'key.created', mode: 'live', subjectId: key.id, after: { scope: 'read', last4 } },
      { ...by, action: 'key.revoked', mode: 'live', subjectId: key.id, before: { last4 } },
    ]);
    expect(entries).toHaveLength(7);
    const whole = JSON.stringify(await list());
    for (const secret of [webhookSecret, rotated, key.key, server.secretKey, 'hidden']) {
      expect(whole).not.toContain(secret);
    }
  });

  it('The audit log has wallet addresses saved with the API, by the last 4 characters of the key', async () => {
    const address = createRecords(server).evmAddress();
    const body = { address, currency: 'USDT', network: 'ethereum' };
    const { id } = await merchant.ask<{ id: string }>('POST', '/v1/wallet-addresses', { body });
    await merchant.ask('GET', `/v1/wallet-addresses/primary/${id}`);
    await merchant.ask('GET', `/v1/wallet-addresses/primary/${id}`);
    const actor = `secret key sk_test_…${server.secretKey.slice(-4)}`;
    const after = { address: expect.stringMatching(new RegExp(address, 'i')) as string, currency: 'USDT' };
    const entries = (await list()).filter(({ subjectId }) => subjectId === id);
    expect(entries).toMatchObject([
      { action: 'wallet_address.created', actor, mode: 'test', subjectId: id, after },
      { action: 'wallet_address.made_primary', actor, subjectId: id, after },
    ]);
    expect(entries).toHaveLength(2);
  });

  it('The audit log has transfers settled and payouts failed by hand, and suspended balances', async () => {
    await merchant.fund({ amount: 100 });
    const hash = 'ab'.repeat(32);
    const { id } = await merchant.withdraw({ amount: 5 });
    await merchant.command('transfers', 'settle', id, '--tx-hash', hash);
    await merchant.command('transfers', 'settle', id, '--tx-hash', hash);
    const { merchantId } = server.bootstrapped;
    const account = await createRecords(server).bankAccount();
    const payout = (await merchant.command(
      ...['payouts', 'create', '--merchant', merchantId, '--bank-account', account, '--amount', '2'],
      ...['--currency', 'USDT', '--reference', 'R-1', '--mode', 'test'],
    )) as { id: string };
    await merchant.command('payouts', 'fail', payout.id, '--reason', 'Closed account');
    const balance = ['--merchant', merchantId, '--currency', 'USDT', '--mode', 'test'];
    expect(await merchant.command('balances', 'suspend', ...balance)).toMatchObject({ mode: 'test' });
    await merchant.command('balances', 'resume', ...balance);
    expect(await latest(5)).toMatchObject([
      { action: 'transfer.settled', subjectId: id, before: { status: 'pending' }, after: { txHash: hash } },
      { action: 'payout.created', subjectId: payout.id, after: { currency: 'USDT', reference: 'R-1' } },
      { action: 'payout.failed', subjectId: payout.id, after: { failureReason: 'Closed account' } },
      { action: 'balance.suspended', mode: 'test', actor: byCommandLine },
      { action: 'balance.resumed', mode: 'test' },
    ]);
    await merchant.expectBooksInOrder();
  });

  it('An entry names the person who ran a command, next to the user of the operating system', async () => {
    const { merchantId } = server.bootstrapped;
    const createKey = (...as: string[]) =>
      merchant.run('keys', 'create', '--merchant', merchantId, '--kind', 'public', '--mode', 'test', ...as);
    expect((await createKey('--as', 'Ada Example')).exitCode).toBe(0);
    expect((await createKey()).exitCode).toBe(0);
    expect((await latest(2)).map(({ actor }) => actor)).toEqual([
      expect.stringMatching(/^command line, Ada Example as user \S+$/),
      byCommandLine,
    ]);
    for (const name of ['', ' ', '\u001b[31m', 'a'.repeat(101), 'Ada\nserver']) {
      expect((await createKey('--as', name)).stderr, name).toMatch(/^--as (must be|needs) /);
    }
  });

  it('The audit log can be filtered by time and merchant', async () => {
    const all = await list();
    // Two days, if the tests began before midnight.
    const [from = '', to = ''] = [all[0], all.at(-1)].map((entry) => entry?.time.slice(0, 10));
    expect(await list('--from', from, '--to', to)).toEqual(all);
    expect(await list('--to', '2020-01-01')).toEqual([]);
    const nobody = await runCommandLine(server.databaseUrl, ['audit', 'list', '--merchant', 'NOBODY']);
    expect([nobody.exitCode, nobody.stderr]).toEqual([1, expect.stringContaining('No such merchant')]);
    const [entry] = await list();
    expect(entry?.time).toMatch(/^\d{4}-.*Z$/);
  });

  const replace =
    'audit_log (id, time, merchant_id, actor, action, subject_id, previous_hash, hash) ' +
    'select id, time, merchant_id, ?, action, subject_id, previous_hash, hash from audit_log';
  it.each([
    'update audit_log set actor = ?',
    'delete from audit_log',
    ...(engine.name === 'SQLite' ? [`insert or replace into ${replace}`, `replace into ${replace}`] : []),
  ])('The audit log refuses "%s", even by SQL', async (statement) => {
    const count = async () => (await list()).length;
    const before = await count();
    const change = server.database.write((transaction) =>
      sql.raw(statement.replace('?', "'nobody'")).execute(transaction),
    );
    await expect(change).rejects.toThrow('audit_log is append-only');
    expect(await count()).toBe(before);
  });
});
