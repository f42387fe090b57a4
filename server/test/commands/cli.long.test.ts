/** The command line: its output, its effects and its exit codes. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { optionName } from '../../src/core/commands/command.js';
import { counted } from '../../src/core/commands/records.js';
import { CommandError } from '../../src/core/commands/errors.js';
import { readGivenFile, writeNewFile } from '../../src/core/commands/files.js';
import { commands } from '../../src/command-line/registry.js';
import { runCommand } from '../../src/command-line/run.js';
import { createOutbox } from '../../src/core/webhooks/outbox.js';
import { enginesOfSoak, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';
import { describeDatabase } from '../../src/core/db/open.js';
import { clockAt } from '../support/clock.js';
import { plainData } from '../support/plain-data.js';

const noTestWebhook =
  'The account has no active webhook URL in test mode. Set one with: merchants update ID --webhook-url URL --mode test\n';

const test = ['--mode', 'test'];

describe.each(enginesOfSoak)('The command line on $name', (engine) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await engine.create();
    // Only the server creates the tables.
    await (await openDatabase(database.url)).close();
  });
  afterAll(() => database.dispose());

  const run = (...args: string[]) => runCommand(args, { DATABASE_URL: database.url });
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, stdout, stderr } = await run(...args, '--json');
    expect([exitCode, stderr]).toEqual([0, databaseLine()]);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const databaseLine = () => `Database: ${describeDatabase(database.url)}\n`;

  it('Accounts are created, updated and listed', async () => {
    const created = await json('merchants', 'create', '--name', 'Shop', '--fee-basis-points', '50');
    expect(created).toMatchObject({ name: 'Shop', businessName: 'Shop', logo: '', feeBasisPoints: 50 });
    expect(created['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const id = String(created['id']);
    const changed = await json('merchants', 'update', id, '--business-name', 'The Shop');
    expect(changed).toMatchObject({ id, name: 'Shop', businessName: 'The Shop', feeBasisPoints: 50 });
    expect(await json('merchants', 'list')).toEqual([changed]);
    const heading = `${'ID'.padEnd(id.length)}  FEE    NAME`;
    expect((await run('merchants', 'list')).stdout).toBe(`${heading}\n${id}  50 bp  Shop\n`);
    await json('merchants', 'create', '--name', 'Other');
    expect(await json('merchants', 'list')).toHaveLength(2);
    expect(await json('merchants', 'list', '--merchant', id)).toEqual([changed]);
  });

  it('The first webhook URL creates a webhook secret, and each secret is shown only once', async () => {
    const created = await json(
      'merchants',
      'create',
      '--name',
      'Notified',
      '--webhook-url',
      'https://shop.example/hook',
    );
    expect(created).toMatchObject({ webhookUrls: { test: 'https://shop.example/hook', live: '' } });
    expect(created['webhookSecret']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const id = String(created['id']);
    const moved = await json(
      'merchants',
      'update',
      id,
      '--webhook-url',
      'http://localhost:3000/hook',
      ...test,
    );
    expect(moved).toMatchObject({ name: 'Notified', webhookUrls: { test: 'http://localhost:3000/hook' } });
    expect(moved).not.toHaveProperty('webhookSecret');
    const rotated = await json('merchants', 'update', id, '--rotate-webhook-secret');
    expect(rotated['webhookSecret']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated['webhookSecret']).not.toBe(created['webhookSecret']);
    expect(await run('merchants', 'list', '--json')).toMatchObject({
      stdout: expect.not.stringContaining('whsec_') as string,
    });

    expect(await json('merchants', 'update', id, '--webhook-url', '', ...test)).toMatchObject({
      webhookUrls: { test: '' },
    });
    expect(await run('merchants', 'update', id, '--rotate-webhook-secret', ...test, '--json')).toMatchObject({
      exitCode: 1,
      stderr: databaseLine() + noTestWebhook,
    });
    const replaced = await json(
      'merchants',
      'update',
      id,
      '--webhook-url',
      'https://shop.example/hook',
      ...test,
    );
    expect(replaced['webhookSecret']).toMatch(/^whsec_/);
    expect(replaced['webhookSecret']).not.toBe(rotated['webhookSecret']);
  });

  it('Each mode has its own webhook URL and secret', async () => {
    const { id, ...created } = await json(
      'merchants',
      'create',
      '--name',
      'Two',
      '--webhook-url',
      'https://a.example/',
      ...test,
    );
    const update = (...args: string[]) => json('merchants', 'update', String(id), ...args);
    const live = await update('--webhook-url', 'https://b.example/', '--mode', 'live');
    expect(live['webhookUrls']).toEqual({ test: 'https://a.example/', live: 'https://b.example/' });
    expect(live['webhookSecret']).toMatch(/^whsec_/);
    expect(live['webhookSecret']).not.toBe(created['webhookSecret']);
    const removed = await update('--webhook-url', '', '--mode', 'test');
    expect(removed['webhookUrls']).toEqual({ test: '', live: 'https://b.example/' });
    const refused = await run(
      'merchants',
      'update',
      String(id),
      '--webhook-url',
      'http://b.example/',
      '--mode',
      'live',
    );
    expect(refused.stderr).toContain('http works only in test mode');
    expect((await update('--rotate-webhook-secret', '--mode', 'live'))['webhookSecret']).toMatch(/^whsec_/);
  });

  it('A command warns anyone who changes a shop that gives its payers no link to its help', async () => {
    const { id } = await json('merchants', 'create', '--name', 'Silent');
    const update = async (...args: string[]) =>
      (await run('merchants', 'update', String(id), ...args)).stdout;
    const warning = 'Payers have no link to your help: set --support-url.';
    expect(await update('--fee-basis-points', '50')).toContain(warning);
    expect(await update('--support-url', 'https://shop.example/help')).not.toContain(warning);
    expect(await update('--support-url', '')).toContain(warning);
  });

  it('The settings for redirects, transfers, daily limits and help are stored and shown', async () => {
    const created = await json(
      ...['merchants', 'create', '--name', 'Careful', '--support-url', 'mailto:help@shop.example'],
      ...['--redirect-origins', 'https://shop.example, http://localhost:3000', '--transfers', 'saved'],
      ...['--daily-limit', 'usdt=1000', '--daily-limit', 'BTC=0.5'],
    );
    const settings = {
      supportUrl: 'mailto:help@shop.example',
      redirectOrigins: ['https://shop.example', 'http://localhost:3000'],
      transfers: 'saved',
      dailyLimits: { USDT: '1000', BTC: '0.5' },
    };
    expect(created).toMatchObject(settings);
    const update = (...args: string[]) => json('merchants', 'update', String(created['id']), ...args);
    expect(
      await update('--daily-limit', 'BTC=none', '--support-url', 'https://shop.example/help'),
    ).toMatchObject({
      ...settings,
      supportUrl: 'https://shop.example/help',
      dailyLimits: { USDT: '1000' },
    });
    const cleared = await update('--redirect-origins', '', '--transfers', 'any', '--support-url', '');
    expect(cleared).toMatchObject({ supportUrl: '', redirectOrigins: null, transfers: 'any' });
    const opened = await openDatabase(database.url);
    const row = () =>
      opened.reader
        .selectFrom('merchants')
        .selectAll()
        .where('id', '=', String(created['id']))
        .executeTakeFirst();
    expect((await row())?.redirect_origins).toBeNull();
    await update('--redirect-origins', 'https://shop.example');
    expect((await row())?.redirect_origins).toBe('["https://shop.example"]');
    await opened.close();
  });

  it.each([
    [['--support-url', 'http://shop.example'], 'supportUrl: '],
    [['--support-url', 'javascript:alert(1)'], 'supportUrl: '],
    [['--support-url', 'mailto:a@b?subject=x'], 'supportUrl: '],
    [['--redirect-origins', 'https://shop.example/path'], 'redirectOrigins: '],
    [['--redirect-origins', 'http://shop.example'], 'redirectOrigins: '],
    [['--redirect-origins', '*'], 'redirectOrigins: '],
    [['--redirect-origins', 'https://user@shop.example'], 'redirectOrigins: '],
    [['--daily-limit', 'USDT=-1'], 'dailyLimits: '],
    [['--daily-limit', 'USDT=0.00000001'], 'dailyLimits: '],
    [['--daily-limit', 'DOGE=1'], 'dailyLimits: '],
    // Only a limit of refunds can be in money. This one limited nothing.
    [['--daily-limit', 'USD=1000'], 'dailyLimits: '],
  ])('The settings %j are refused', async (options, reason) => {
    const refused = await run('merchants', 'create', '--name', 'Refused', ...options, '--json');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr.startsWith(databaseLine() + reason), refused.stderr).toBe(true);
  });

  it('Keys are created with a label, a scope and an expiry, and listed', async () => {
    const { id: merchantId } = await json('merchants', 'create', '--name', 'Scoped');
    const owner = ['--merchant', String(merchantId), '--kind', 'secret', '--mode', 'live'];
    const created = await json(
      'keys',
      'create',
      ...owner,
      '--scope',
      'verify',
      '--expires',
      '2999-12-31',
      '--label',
      'the shop',
    );
    const listed = (await json('keys', 'list')) as unknown as Record<string, unknown>[];
    const key = listed.find(({ id }) => id === created['id']);
    expect(key).toMatchObject({
      scope: 'verify',
      expiresAt: '2999-12-31T23:59:59.999Z',
      label: 'the shop',
      lastUsedAt: null,
    });
    const { stdout } = await run('keys', 'list');
    expect(stdout).toMatch(/^ID +MERCHANT +MODE +KEY +LABEL +CREATED +LAST USED +SCOPE +STATE$/m);
    expect(stdout).toMatch(/ {2}the shop +\d{4}-\S+Z +never +verify +expires 2999-12-31T23:59:59\.999Z$/m);
    for (const expires of ['2020-01-01', 'tomorrow', '2999-02-30']) {
      const refused = await run('keys', 'create', ...owner, '--expires', expires);
      expect(refused.exitCode, expires).toBe(2);
      expect(refused.stderr).toContain('--expires');
    }
    const publicKey = ['--merchant', String(merchantId), '--kind', 'public', '--mode', 'live'];
    expect((await run('keys', 'create', ...publicKey, '--scope', 'read')).exitCode).toBe(2);
    const { id: publicId } = await json('keys', 'create', ...publicKey);
    const ofMerchant = ['--merchant', String(merchantId)];
    const own = (await json('keys', 'list', ...ofMerchant)) as unknown as Record<string, unknown>[];
    expect(own.map(({ id, scope }) => [id, scope])).toEqual([
      [created['id'], 'verify'],
      [publicId, null],
    ]);
    expect((await run('keys', 'list', ...ofMerchant)).stdout).toMatch(
      / {2}live {2}pk_live_\S{43} {2}- +\d{4}-\S+Z +never +- +active$/m,
    );
    expect((await run('keys', 'list', '--merchant', 'NOBODY')).stderr).toContain('No such merchant');
  });

  it('A command says on stderr which database it works on, with --json too', async () => {
    const { stderr } = await run('merchants', 'list');
    expect(stderr).toMatch(
      engine.name === 'SQLite' ? /^Database: \/\S+checkout\.db\n$/ : /^Database: \S+:\d+\/checkout_\w+\n$/,
    );
    expect((await run('merchants', 'list', '--json')).stderr).toBe(stderr);
  });

  it('A command never creates a database or tables', async () => {
    const empty = await engine.createEmpty();
    const attempt = () => runCommand(['merchants', 'list'], { DATABASE_URL: empty.url });
    const { exitCode, stdout, stderr } = await attempt();
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^There is no database at \S+; start the server first, or use its folder or its DATABASE_URL\n$/,
    );
    if (engine.name === 'SQLite') {
      const file = empty.url.slice('sqlite:'.length);
      expect(existsSync(file)).toBe(false);
      await writeFile(file, '');
    }
    expect(await attempt()).toMatchObject({ exitCode: 1, stderr });
    const missing = empty.url.replace(/(\w+)(\.db)?$/, 'missing$2');
    expect(await runCommand(['merchants', 'list'], { DATABASE_URL: missing })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^There is no database at \S*missing(\.db)?; start the server first, or use its folder or its DATABASE_URL\n$/,
      ) as string,
    });
    await empty.dispose();
  });

  it.each([
    'shop.example/hook',
    'ftp://shop.example/hook',
    'https://user:pass@shop.example/hook',
    'https://shop.example/hook#part',
    `https://shop.example/${'x'.repeat(2048)}`,
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
  ])('The webhook URL %s is refused, and no account is created', async (url) => {
    const before = await json('merchants', 'list');
    const refused = await run('merchants', 'create', '--name', 'Refused', '--webhook-url', url, ...test);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^webhookUrl: /m);
    expect(await json('merchants', 'list')).toEqual(before);
  });

  it.each(['https://127.0.0.1/hook', 'https://10.0.0.5/', 'https://[::1]/', 'http://shop.example/hook'])(
    'The webhook URL %s is refused in live mode',
    async (url) => {
      const live = ['--webhook-url', url, '--mode', 'live'];
      const refused = await run('merchants', 'create', '--name', 'Refused', ...live);
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
      expect(refused.stderr).toMatch(/^webhookUrl: /m);
    },
  );

  it('Webhooks are listed with their attempts, and one is retried', async () => {
    const { id } = await json(
      'merchants',
      'create',
      '--name',
      'Listed',
      '--webhook-url',
      'https://shop.example',
      ...test,
    );
    const merchantId = String(id);
    const opened = await openDatabase(database.url);
    const outbox = createOutbox(
      clockAt(() => 1_800_000_000_000),
      () => `EVENT-${merchantId}`,
      plainData,
    );
    await opened.write(async (transaction) => {
      const about = { merchantId, mode: 'test', subjectId: merchantId } as const;
      await outbox.add(transaction, { ...about, type: 'transfer.failed', data: { id: 'T' } });
      await transaction
        .insertInto('webhook_tries')
        .values({
          event_id: `EVENT-${merchantId}`,
          tried_at: 1_800_000_000_500,
          duration_ms: 42,
          response_status: 500,
          response_excerpt: plainData.sealResponse(`EVENT-${merchantId}`, 'Out of order'),
          error: 'Returned HTTP 500',
        })
        .execute();
      await transaction.updateTable('outbox').set({ status: 'failed', due_at: null, tries: 10 }).execute();
    });
    await opened.close();

    const event = {
      id: `EVENT-${merchantId}`,
      merchantId,
      mode: 'test',
      type: 'transfer.failed',
      subjectId: merchantId,
      createdAt: '2027-01-15T08:00:00.000Z',
      tries: [
        {
          triedAt: '2027-01-15T08:00:00.500Z',
          durationMs: 42,
          responseStatus: 500,
          responseExcerpt: 'Out of order',
          error: 'Returned HTTP 500',
        },
      ],
    };
    const failed = ['--merchant', merchantId, '--status', 'failed'];
    expect(await json('webhooks', 'list', ...failed)).toEqual([{ ...event, status: 'failed', dueAt: null }]);
    expect((await run('webhooks', 'list', ...failed)).stdout).toBe(
      `EVENT-${merchantId}  failed     transfer.failed  test  of ${merchantId}  to ${merchantId}\n` +
        '    2027-01-15T08:00:00.500Z  42 ms  Returned HTTP 500\n',
    );
    expect(await json('webhooks', 'retry', event.id)).toEqual({ id: event.id, status: 'pending' });
    expect(await json('webhooks', 'list', ...failed)).toEqual([]);
    expect(await json('webhooks', 'list', '--merchant', merchantId, '--status', 'pending')).toMatchObject([
      { id: event.id, status: 'pending' },
    ]);
    await json('merchants', 'update', merchantId, '--webhook-url', '', ...test);
    expect(await json('webhooks', 'list', ...failed, '--limit', '1')).toHaveLength(1);
    expect(await run('webhooks', 'retry', event.id, '--json')).toMatchObject({
      exitCode: 1,
      stderr: databaseLine() + noTestWebhook,
    });
  });

  it('Keys are created, listed and revoked', async () => {
    const { id: merchantId } = await json('merchants', 'create', '--name', 'Keys');
    const options = ['--merchant', String(merchantId), '--kind', 'secret', '--mode', 'live'];
    const created = await json('keys', 'create', ...options);
    expect(Object.keys(created).sort()).toEqual(['id', 'key']);
    expect(created['key']).toMatch(/^sk_live_[\w-]{43}$/);
    const find = async () =>
      ((await json('keys', 'list')) as unknown as { id: string; revokedAt: string | null }[]).find(
        (key) => key.id === created['id'],
      );
    expect(await find()).toMatchObject({
      merchantId,
      kind: 'secret',
      mode: 'live',
      scope: 'full',
      expiresAt: null,
      key: `sk_live_…${String(created['key']).slice(-4)}`,
    });
    expect((await run('keys', 'list')).stdout).not.toContain(String(created['key']));
    expect(await json('keys', 'revoke', String(created['id']))).toEqual({ id: created['id'], revoked: true });
    expect((await find())?.revokedAt).toMatch(/Z$/);
  });

  it('The ledger check shows its result as JSON and as text', async () => {
    const checks = (await json('ledger', 'check')) as unknown as {
      invariant: string;
      violations: string[];
    }[];
    expect(checks.length).toBeGreaterThan(3);
    expect(checks.every(({ violations }) => violations.length === 0)).toBe(true);
    expect((await run('ledger', 'check')).stdout).toMatch(/^ok {4}Debits equal credits/);
  });

  it.each([
    [['merchants', 'update', 'NOBODY', '--name', 'x'], 'No such merchant'],
    [['merchants', 'create', '--name', ' '], 'name: Must be 1 to 255 characters'],
    [['keys', 'create', '--merchant', 'NOBODY', '--kind', 'public', '--mode', 'test'], 'No such merchant'],
    [['keys', 'revoke', 'NOTHING'], 'No such key'],
    [['webhooks', 'retry', 'NOTHING'], 'No such webhook'],
  ])('%j exits with 1 and says why', async (args, reason) => {
    expect(await run(...args, '--json')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `${databaseLine()}${reason}\n`,
    });
  });
});

const runOffline = (...args: string[]) => runCommand(args, { DATABASE_URL: 'sqlite::memory:' });

it('every command that takes a mode takes test mode by default, and says so', async () => {
  const taking = [...commands].filter(([, { options = {} }]) => 'mode' in options);
  expect(taking.length).toBeGreaterThan(8);
  for (const [name] of taking) {
    const { stdout } = await runOffline(...name.split(' '), '--help');
    expect(stdout.replaceAll(/\s+/g, ' '), name).toMatch(
      /\[--mode test\|live\].*--mode test\|live .*\(default test\)/,
    );
  }
});

it('every list takes a merchant', () => {
  const lists = [...commands].filter(([name]) => name.endsWith(' list'));
  expect(lists.length).toBeGreaterThan(8);
  for (const [name, { options = {} }] of lists) expect(Object.keys(options), name).toContain('merchant');
});

const list = 'Run crypto-checkout-server --help for the list';

it.each([
  [[], `No command given. ${list}`],
  [['nothing'], `Unknown command "nothing". ${list}`],
  [['merchant'], `Unknown command "merchant". Did you mean "merchants"? ${list}`],
  [['help', 'keyss'], `Unknown command "keyss". Did you mean "keys"? ${list}`],
  [['keys', 'crate', '--help'], `Unknown command "keys crate". Did you mean "keys create"? ${list}`],
  [
    ['transfers', 'psbt', 'exprot'],
    `Unknown command "transfers psbt exprot". Did you mean "transfers psbt export"? ${list}`,
  ],
  [['--merchant', 'X'], '"--merchant" is before the command: write the command first, then its options'],
  [['key', 'list'], `Unknown command "key list". Did you mean "keys list"? ${list}`],
  [
    ['payment', 'exports', '--json'],
    `Unknown command "payment exports". Did you mean "payments export"? ${list}`,
  ],
  [['merchants', 'lsit'], `Unknown command "merchants lsit". Did you mean "merchants list"? ${list}`],
  [['zzzzzzzz', 'qqqqqqq'], `Unknown command "zzzzzzzz qqqqqqq". ${list}`],
  [
    ['merchants'],
    '"merchants" needs a command: create, update, list. Run crypto-checkout-server merchants --help for what they do',
  ],
])('%j is answered with one sentence, and exits with 2', async (args, sentence) => {
  expect(await runOffline(...args)).toEqual({ exitCode: 2, stdout: '', stderr: `${sentence}\n` });
});

it.each([[], ['keys', 'list'], ['nothing'], ['--json']])(
  '%s --version prints the release',
  async (...words) => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as {
      version: string;
    };
    expect(await runOffline(...words, '--version')).toEqual({
      exitCode: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  },
);

it.each([[[]], [['keys']], [['keys', 'create']]])('"help %s" is the same as --help', async (words) => {
  const { exitCode, stdout } = await runOffline('help', ...words);
  expect([exitCode, stdout]).toEqual([0, (await runOffline(...words, '--help')).stdout]);
  expect(stdout).toMatch(/^Usage: /);
});

it.each([
  [0, '0 payments, 0 replies'],
  [1, '1 payment, 1 reply'],
  [2, '2 payments, 2 replies'],
])('A count of %d has the right singular or plural', (count, expected) => {
  expect(`${counted(count, 'payment')}, ${counted(count, 'reply', 'replies')}`).toBe(expected);
});

describe('a new file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-files-'));
    await writeFile(join(folder, 'taken'), 'precious');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['taken', 'FILE exists already. Nothing was overwritten; choose a name for a new file'],
    ['.', 'FILE is a folder. Nothing was written; add the name of a new file'],
    ['missing/x', 'FILE cannot be created: there is no folder FOLDER. Create it first'],
    ['taken/x', 'FILE cannot be created: FOLDER is not a folder. Choose another one'],
  ])('A new file cannot be %s', async (name, reason) => {
    const file = join(folder, name);
    const expected = reason.replace('FILE', file).replace('FOLDER', dirname(file));
    await expect(writeNewFile(file, async () => {})).rejects.toThrow(new CommandError(expected));
    expect(await readFile(join(folder, 'taken'), 'utf8')).toBe('precious');
  });

  it.each([
    ['missing', 'there is no such file'],
    ['.', 'it is a folder'],
  ])('A file to read cannot be %s', async (name, reason) => {
    const file = join(folder, name);
    await expect(readGivenFile(file)).rejects.toThrow(new CommandError(`${file} cannot be read: ${reason}`));
  });

  it('A new file is not left behind if nothing is written into it', async () => {
    const file = join(folder, 'empty');
    await writeNewFile(file, async () => {});
    expect(existsSync(file)).toBe(false);
  });

  it('A new file is removed if it cannot be written to the end', async () => {
    const file = join(folder, 'half');
    const failing = writeNewFile(file, async (output) => {
      await output.write('half');
      throw new Error('The disk is full');
    });
    await expect(failing).rejects.toThrow('The disk is full');
    expect(existsSync(file)).toBe(false);
  });

  it('A new file needs a folder that this user may write to', async () => {
    // Nothing stops root from writing to a folder, but the kernel’s own.
    const closed = userInfo().uid === 0 ? '/sys' : join(folder, 'closed');
    if (closed.startsWith(folder)) await mkdir(closed, { mode: 0o500 });
    await expect(writeNewFile(join(closed, 'x'), async () => {})).rejects.toThrow(
      `may not write to ${closed}`,
    );
  });
});

it.each([
  [['keys', 'list', 'all'], 'Expected no arguments after the command, got "all"'],
  [['keys', 'revoke'], 'Expected ID after the command, got none'],
  [['keys', 'list', '--all'], 'Unknown option "--all"'],
  [['keys', 'list', '--merchnat', 'X'], 'Unknown option "--merchnat". Did you mean "--merchant"?'],
  [['keys', 'list', '--merchant', '--json'], '--merchant needs a value: --merchant ID'],
  [['keys', 'list', '--json=yes'], '--json takes no value'],
  [['audit', 'list', '--from', '2026-02-01', '--to', '2026-01-01'], '--from: Must not be after --to'],
  [['audit', 'list', '--from', 'tomorrow'], '--from: Must be a date (2026-01-31)'],
  [['merchants', 'create'], '--name is required'],
  [['merchants', 'create', '--name'], '--name needs a value: --name NAME'],
  [
    ['merchants', 'create', '--name', 'x', '--fee-basis-points', '1%'],
    'must be an integer from 0 to 10000, not "1%"',
  ],
  [['payouts', 'create', '--merchant', 'X', '--amount', 'much'], '--bank-account is required'],
  [['transfers', 'settle', 'X', '--tx-hash', 'Y', '--network-fee', '1,5'], 'must be a decimal such as 12.5'],
  [['sweeps', 'export', '--network', 'X', '--format', 'calldata', '--json'], 'leave one of them out'],
  [['transfers', 'export', '--network', 'X', '--format', 'links', '--json'], 'leave one of them out'],
  [['addresses', 'export', '--merchant', 'X', '--format', 'csv', '--json'], 'leave one of them out'],
  [['merchants', 'update', 'X'], 'Nothing to change: give at least one option'],
  [['merchants', 'update', 'X', '--json'], 'Nothing to change: give at least one option'],
  [
    ['webhooks', 'list', '--status', 'lost'],
    '--status must be pending, delivered, failed or failing, not "lost"',
  ],
  [['webhooks', 'list', '--limit', '0'], '--limit must be an integer'],
  [
    ['keys', 'create', '--merchant', 'X', '--kind', 'secret', '--mode', 'live', '--scope', 'all'],
    '--scope must be full, read, verify or refunds, not "all"',
  ],
  [['payments', 'export', '--merchant', 'X', ...test, '--format', 'csv', '--json'], 'leave one of them out'],
  [['keys', 'create', '--merchant', 'X', '--kind', 'private', '--mode', 'test'], 'must be secret or public'],
])('%j is invalid usage: it prints the usage on stderr and exits with 2', async (args, reason) => {
  const { exitCode, stdout, stderr } = await runOffline(...args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('Usage: crypto-checkout-server');
});

it.each([
  [['--help'], ['merchants\n  create ', 'init ', 'ledger\n  check ']],
  [
    ['keys', '--help'],
    ['keys create', 'keys list', 'keys revoke ID'],
  ],
  [['keys', 'create', '--help'], ['--kind secret|public']],
  [['merchants', 'update', '-h'], ['--fee-basis-points N']],
])('%j prints help', async (args, texts) => {
  const { exitCode, stdout, stderr } = await runOffline(...args);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const text of texts) expect(stdout).toContain(text);
});

describe('every command', () => {
  it.each([...commands])('%s has a complete help text that fits 80 columns', async (name, command) => {
    const { exitCode, stdout, stderr } = await runOffline(...name.split(' '), '--help');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout.startsWith(`Usage: crypto-checkout-server ${name}`)).toBe(true);
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    const [usage = '', ...rest] = stdout.split('\n\n');
    for (const option of Object.keys(command.options ?? {}).map(optionName)) {
      expect(usage, 'usage').toContain(option);
      expect(rest.join('\n'), 'help').toMatch(new RegExp(`^ {2}${option}.*\\S`, 'm'));
    }
    for (const { value = '' } of Object.values(command.args ?? {})) {
      expect(usage).toContain(value);
      expect(rest.join('\n'), 'help').toMatch(new RegExp(`^ {2}${value} .*\\S`, 'm'));
    }
    expect(rest[0]?.trim()).toMatch(/^[A-Z][^]*\.$/);
  });

  it('Every command is listed in one line of at most 80 columns, below its group', async () => {
    const { stdout } = await runOffline('--help');
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    const listed = stdout.split('\n\n').flatMap((section) => {
      const [, group = '', lines = ''] =
        /^([a-z][a-z -]*\n)?((?: {2}[a-z][a-z-]* .*(?:\n|$))+)$/.exec(section) ?? [];
      return [...lines.matchAll(/^ {2}([a-z-]+) +[A-Z].*[.…]$/gm)].map(([, verb = '']) =>
        `${group.trim()} ${verb}`.trim(),
      );
    });
    // And `start`, which is no command on the database.
    expect(listed.sort()).toEqual([...commands.keys(), 'start'].sort());
  });
});

it('The help of a group lists only its own commands', async () => {
  expect((await runOffline('keys', '--help')).stdout).not.toContain('merchants');
});

it.each(['mysql://root:hunter2@db/name', 'postgres://user:hunter2@127.0.0.1:1/name'])(
  'The error about an unusable database does not contain its password: %s',
  async (url) => {
    const { exitCode, stderr } = await runCommand(['keys', 'list'], { DATABASE_URL: url });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/\w+/);
    expect(stderr).not.toContain('hunter2');
  },
);
