/** `database copy`: everything arrives on the other engine, the books add up, and the server continues with it. */
import { HDKey } from '@scure/bip32';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { runCommandLine } from '../support/command-line.js';
import { engines, type TestEngine } from '../support/engines.js';
import { openShop } from '../support/shop.js';
import { createRecords } from '../support/records.js';
import { startServer } from '../support/server.js';

const pairs = engines.flatMap((from) => engines.map((to) => [from.name, to.name, from, to] as const));

async function makeEmpty(engine: TestEngine): Promise<string> {
  const made = await engine.createEmpty();
  onTestFinished(() => made.dispose());
  return made.url;
}

/** All rows of all tables, each as sorted text. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  const database = await openDatabase(url, { mustExist: 'at this release' });
  const tables = (await database.reader.introspection.getTables()).map(({ name }) => name);
  const content: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(
      database.reader,
    );
    const sorted = (row: Record<string, unknown>) => JSON.stringify(Object.entries(row).sort());
    content[table] = rows.map(sorted).sort();
  }
  await database.close();
  return content;
}

describe.each(pairs)('database copy from %s to %s', (_from, _to, from, to) => {
  it('The command "database copy" copies every row, and a server continues with the copy', async () => {
    const source = await from.create();
    onTestFinished(() => source.dispose());
    const server = await startServer({ engine: from, databaseUrl: source.url });
    const records = createRecords(server);
    await records.shop.setWebhookUrl('http://localhost:9/hooks');
    await records.payout();
    await records.subscriber();
    await records.wallet();
    await records.bankAccount();
    const target = await makeEmpty(to);
    const early = await runCommandLine(source.url, ['database', 'copy', '--to', target]);
    expect([early.exitCode, early.stdout]).toEqual([1, '']);
    expect(early.stderr).toMatch(/^A server is running on this database\. Stop it first: .*--while-running/m);
    const { publicExtendedKey: extendedPublicKey } = HDKey.fromMasterSeed(new Uint8Array(32).fill(3)).derive(
      "m/44'/60'/0'",
    );
    await server.database.write(async (transaction) => {
      const scope = { merchantId: server.bootstrapped.merchantId, mode: 'live' } as const;
      await server.app.depositKeys.set(transaction, scope, 'evm', { extendedPublicKey, script: undefined });
      const failed = { mode: 'test', network: 'tron', id: 'tx:0', payment_id: null, transfer: '{}' } as const;
      await transaction
        .insertInto('quarantine')
        .values({ ...failed, reason: 'broken', tries: 1, failed_at: 0, retry_at: 9e15 })
        .execute();
    });
    await server.stop();

    const copied = await runCommandLine(source.url, ['database', 'copy', '--to', target]);
    expect([copied.exitCode, copied.stdout], copied.stderr).toEqual([
      0,
      expect.stringMatching(
        /^Copied \d+ rows to \S+\. All tables have as many rows as before, and the ledger is in order\n$/,
      ),
    ]);
    expect(copied.stderr).toMatch(/^payments: \d+ rows$/m);
    const [before, after] = [await contentOf(source.url), await contentOf(target)];
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    // No table is forgotten: the command names each, and the database has no other.
    const named = [...copied.stderr.matchAll(/^(\w+): \d+ rows?$/gm)].map(([, name]) => name ?? '');
    expect(named.sort()).toEqual(Object.keys(before).sort());
    for (const table of ['deposit_keys', 'derivations', 'quarantine', 'chain_cursors', 'scanned_blocks']) {
      expect(before[table]?.length, table).toBeGreaterThan(0);
    }
    expect(before['payments']?.length).toBeGreaterThan(1);
    expect(after).toEqual(before);

    const env = { BOOTSTRAP_PUBLIC_KEY: server.publicKey, BOOTSTRAP_SECRET_KEY: server.secretKey };
    const restarted = await startServer({ engine: to, databaseUrl: target, env });
    onTestFinished(() => restarted.stop());
    const merchant = openShop(restarted);
    const { availableBalance } = await merchant.balance();
    expect(availableBalance).toBeGreaterThan(0);
    // New rows get new numbers: log entries and the audit log are counted by the database.
    await merchant.fund({ amount: 20 });
    await createRecords(restarted).walletAddress();
    await merchant.expectBooksInOrder();

    const again = await runCommandLine(source.url, ['database', 'copy', '--to', target]);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain('The target is not empty');
  }, 30_000);
});

it('a copy of a running server is possible for a trial, if it is asked for', async () => {
  const [engine] = engines;
  if (!engine) throw new Error('No database engine is available');
  const server = await startServer({ engine });
  onTestFinished(() => server.stop());
  const target = await makeEmpty(engine);
  const args = ['database', 'copy', '--to', target, '--while-running'];
  const { exitCode, stdout, stderr } = await runCommandLine(server.databaseUrl, args);
  expect([exitCode, stdout], stderr).toEqual([0, expect.stringMatching(/^Copied \d+ rows to /)]);
  expect(stderr).toMatch(/^merchants: 1 row$/m);
});

it('a target that cannot be opened is named without its password', async () => {
  const [engine] = engines;
  const source = await engine?.create();
  if (!source) throw new Error('There is no engine');
  onTestFinished(() => source.dispose());
  await (await openDatabase(source.url)).close();
  const to = 'postgres://ada:hunter2@127.0.0.1:1/none';
  const { exitCode, stderr } = await runCommandLine(source.url, ['database', 'copy', '--to', to]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('127.0.0.1:1/none cannot be opened');
  expect(stderr).not.toContain('hunter2');
});
