/** The command line: what it prints, what it changes, and how it ends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../src/commands.js';
import { engines, type TestDatabase } from './support/engines.js';

describe.each(engines)('The command line on $name', (engine) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await engine.create();
  });
  afterAll(() => database.dispose());

  const run = (...args: string[]) => runCommand(args, { DATABASE_URL: database.url });
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, stdout, stderr } = await run(...args, '--json');
    expect([exitCode, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  it('makes, changes and lists accounts', async () => {
    const made = await json('merchants', 'create', '--name', 'Shop', '--fee-basis-points', '50');
    expect(made).toMatchObject({ name: 'Shop', businessName: 'Shop', logo: '', feeBasisPoints: 50 });
    expect(made['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const id = String(made['id']);
    const changed = await json('merchants', 'update', id, '--business-name', 'The Shop');
    expect(changed).toMatchObject({ id, name: 'Shop', businessName: 'The Shop', feeBasisPoints: 50 });
    expect(await json('merchants', 'list')).toEqual([changed]);
    expect((await run('merchants', 'list')).stdout).toBe(`${id}  50 bp  Shop\n`);
  });

  it('makes, lists and revokes keys', async () => {
    const { id: merchantId } = await json('merchants', 'create', '--name', 'Keys');
    const options = ['--merchant', String(merchantId), '--kind', 'secret', '--mode', 'live'];
    const made = await json('keys', 'create', ...options);
    expect(Object.keys(made).sort()).toEqual(['id', 'key']);
    expect(made['key']).toMatch(/^sk_live_[\w-]{43}$/);
    expect(await json('keys', 'list')).toMatchObject([
      {
        id: made['id'],
        merchantId,
        kind: 'secret',
        mode: 'live',
        key: `sk_live_…${String(made['key']).slice(-4)}`,
      },
    ]);
    expect((await run('keys', 'list')).stdout).not.toContain(String(made['key']));
    expect(await json('keys', 'revoke', String(made['id']))).toEqual({ id: made['id'], revoked: true });
    const [listed] = (await json('keys', 'list')) as unknown as { revokedAt: string | null }[];
    expect(listed?.revokedAt).toMatch(/Z$/);
  });

  it('checks the ledger', async () => {
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
  ])('%j fails with 1 and says why', async (args, reason) => {
    expect(await run(...args)).toEqual({ exitCode: 1, stdout: '', stderr: `${reason}\n` });
  });
});

const offline = (...args: string[]) => runCommand(args, { DATABASE_URL: 'sqlite::memory:' });

it.each([
  [[], 'A command is missing'],
  [['nothing'], 'There is no command "nothing"'],
  [['merchants'], 'There is no command "merchants"'],
  [['merchants', 'delete'], 'There is no command "merchants delete"'],
  [['keys', 'list', 'all'], 'After the command comes nothing, not "all"'],
  [['keys', 'revoke'], 'After the command comes ID, not ""'],
  [['keys', 'list', '--all'], "Unknown option '--all'"],
  [['merchants', 'create'], '--name is missing'],
  [['merchants', 'create', '--name'], "Option '--name <value>' argument missing"],
  [['merchants', 'create', '--name', 'x', '--fee-basis-points', '1%'], 'must be an integer, not "1%"'],
  [['merchants', 'update', 'X'], 'Nothing to change is given'],
  [['keys', 'create', '--merchant', 'X', '--kind', 'private', '--mode', 'test'], 'must be secret or public'],
])('%j is not understood: usage on stderr, exit 2', async (args, reason) => {
  const { exitCode, stdout, stderr } = await offline(...args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('Usage: crypto-checkout-server');
});

it.each([
  [['--help'], ['merchants create', 'keys revoke ID', 'ledger check']],
  [
    ['keys', '--help'],
    ['keys create', 'keys list', 'keys revoke ID'],
  ],
  [['keys', 'create', '--help'], ['--kind secret|public']],
  [['merchants', 'update', '-h'], ['--fee-basis-points N']],
])('%j explains', async (args, texts) => {
  const { exitCode, stdout, stderr } = await offline(...args);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const text of texts) expect(stdout).toContain(text);
});

it('The help of a group names its commands alone', async () => {
  expect((await offline('keys', '--help')).stdout).not.toContain('merchants');
});

it.each(['mysql://root:hunter2@db/name', 'postgres://user:hunter2@127.0.0.1:1/name'])(
  'A database that cannot be used is a failure without its password: %s',
  async (url) => {
    const { exitCode, stderr } = await runCommand(['keys', 'list'], { DATABASE_URL: url });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/\w+/);
    expect(stderr).not.toContain('hunter2');
  },
);
