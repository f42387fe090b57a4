/** The built server as a process: its output, the errors that keep it from starting, and its exit codes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../src/core/config.js';
import { envFiles } from '../src/core/private-file.js';
import { errorMessage } from '../src/core/shared/error-message.js';
import { openDatabase } from '../src/database.js';
import { settings } from '../src/modules.js';
import { checkStart } from '../src/server.js';
import { call } from './support/call.js';
import { runCommandLine } from './support/command-line.js';
import { engines, enginesOfSoak } from './support/engines.js';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

let directory: string;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-main-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await rm(directory, { recursive: true, force: true });
});

function run(
  env: Record<string, string>,
  script = main,
  args: readonly string[] = [],
  nodeArgs: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    cwd: directory,
    env: { PATH: process.env['PATH'], PORT: '0', BLOCK_INTERVAL_MS: '0', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = once(child, 'close').then(() => ({ exitCode: child.exitCode, ...output }));
  return {
    child,
    output,
    ended,
    /** Waits until it prints the URL that it listens on. */
    async url() {
      await expect
        .poll(() => output.stdout + (child.exitCode === null ? '' : output.stderr), { timeout: 40_000 })
        .toMatch(/listens on|\n/);
      const [, url] = /listens on (http:\S+)\n/.exec(output.stdout) ?? [];
      if (url === undefined) throw new Error(`It did not start: ${output.stderr}`);
      return url;
    },
  };
}

async function stop({ child, ended }: ReturnType<typeof run>, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return ended;
}

/** By the command line, next to the running server. */
async function expectChangedKeys(url: string, databaseUrl: string): Promise<void> {
  const command = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json']);
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^Database: .*\n$/)]);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  const { id: merchant } = await command('merchants', 'create', '--name', 'Second Shop');
  const { id, key } = await command(
    'keys',
    'create',
    '--merchant',
    merchant,
    '--kind',
    'secret',
    '--mode',
    'test',
  );
  const status = async () => (await call(url, 'GET', '/v1/transactions', { key })).status;
  expect(await status()).toBe(200);
  await command('keys', 'revoke', id);
  await expect.poll(status, { timeout: 6000, interval: 200 }).toBe(401);
}

describe.each(enginesOfSoak)('On $name, the server', (engine) => {
  it('The server prints its first keys once, accepts new keys at once and revoked ones for at most 5 s, and exits with 0', async () => {
    const database = await engine.createEmpty();
    const first = run({ DATABASE_URL: database.url });
    const url = await first.url();
    const secretKey = /^ {2}Secret key {2}(sk_test_\S{43})$/m.exec(first.output.stdout)?.[1];
    expect(first.output.stdout).toMatch(/^ {2}Public key {2}pk_test_\S{43}$/m);
    expect((await call(url, 'GET', '/v1/currencies', { key: secretKey })).status).toBe(200);
    expect(await stop(first)).toMatchObject({ exitCode: 0, stderr: '' });

    const second = run({ DATABASE_URL: database.url });
    const again = await second.url();
    expect((await call(again, 'GET', '/v1/currencies', { key: secretKey })).status).toBe(200);
    await expectChangedKeys(again, database.url);
    const { exitCode, stdout } = await stop(second, 'SIGINT');
    const pages = `
  Shop        ${again}/
  Appearance  ${again}/demo/appearance.html
  Docs        ${again}/docs
  Console     CONSOLE

Press Ctrl+C to stop.
`;
    // A link that works once, until somebody has signed in.
    const link = new RegExp(String.raw`http://localhost:${new URL(again).port}/console#[\w-]{43}`);
    expect([exitCode, stdout.replace(link, 'CONSOLE')]).toEqual([
      0,
      `crypto-checkout-server listens on ${again}\n${pages}`,
    ]);
    await database.dispose();
  });

  it('Two servers that start at once create one account; SQLite takes only one of them', async () => {
    const database = await engine.createEmpty();
    const both = [run({ DATABASE_URL: database.url }), run({ DATABASE_URL: database.url })];
    const started = await Promise.allSettled(both.map((server) => server.url()));
    const servers = both.filter((_, index) => started[index]?.status === 'fulfilled');
    expect(servers).toHaveLength(engine.name === 'SQLite' ? 1 : 2);
    for (const refused of both.filter((server) => !servers.includes(server))) {
      const { exitCode, stderr } = await refused.ended;
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^DATABASE_URL: the database cannot be opened: another server uses \S+\. Stop it first, [^\n]*\n$/,
        ),
      ]);
    }
    expect(servers.filter(({ output }) => output.stdout.includes('Secret key'))).toHaveLength(1);
    const listed = await runCommandLine(database.url, ['merchants', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    const ended = await Promise.all(servers.map((server) => stop(server)));
    expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    await database.dispose();
  });
});

describe('The server refuses to start', () => {
  it('The server refuses to start with invalid values, and prints one line for each', async () => {
    const { exitCode, stdout, stderr } = await run({ PORT: 'x', BOOTSTRAP_SECRET_KEY: 'sk_live_secret' })
      .ended;
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr.split('\n').filter(Boolean).sort()).toEqual([
      'BOOTSTRAP_SECRET_KEY: the value given is not allowed; it must be sk_test_ followed by 43 characters of A-Z a-z 0-9 _ -',
      'PORT: "x" is not allowed; it must be an integer from 0 to 65535',
    ]);
  });

  it('The server refuses to start if its port is in use, and does not touch the database', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { exitCode, stderr } = await run({ PORT: String(port) }).ended;
    expect([exitCode, stderr]).toEqual([
      1,
      `PORT: another program, or another start of this one, has port ${port} of 127.0.0.1. Stop it, or set another port, such as PORT=${port + 10}\n`,
    ]);
    const command = await run({}, cli, ['merchants', 'list']).ended;
    expect([command.exitCode, command.stdout]).toEqual([1, '']);
    expect(command.stderr).toMatch(
      /^There is no database at .*checkout\.db; start the server first, or use its folder or its DATABASE_URL\n$/,
    );
    taken.close();
  });

  it.each([
    ['postgres://ada:hunter2@127.0.0.1:1/none', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['sqlite:/dev/null/checkout.db', 'ENOTDIR'],
  ])('The server refuses to start with a database that cannot be opened: %s', async (url, reason) => {
    const { exitCode, stderr } = await run({ DATABASE_URL: url }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL: the database cannot be opened: .*\n$/);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('hunter2');
  });

  it('The server refuses to start with a rates file that cannot be used', async () => {
    const file = join(directory, 'rates.json');
    await writeFile(file, '{"source": "ours",\n}');
    const { exitCode, stderr } = await run({ RATES_FILE: file }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`RATES_FILE: ${file} cannot be used: `);
    expect(stderr).toContain('line 2, column 1: remove the comma before this bracket');
    expect(stderr).not.toContain('{');
  });

  it.each(engines)(
    'The server and the command line refuse a database that a newer release migrated: $name',
    async (engine) => {
      const database = await engine.create();
      const opened = await openDatabase(database.url);
      await opened.write((transaction) =>
        sql`insert into kysely_migration (name, timestamp) values ('0099-later', 'now')`.execute(transaction),
      );
      await opened.close();
      const sentence =
        'DATABASE_URL: the database cannot be opened: it was migrated by a newer release (0099-later). Start that release, or restore the backup from before the upgrade\n';
      const server = await run({ DATABASE_URL: database.url }).ended;
      expect([server.exitCode, server.stdout, server.stderr]).toEqual([1, '', sentence]);
      const command = await runCommandLine(database.url, ['merchants', 'list']);
      expect([command.exitCode, command.stdout, command.stderr]).toEqual([1, '', sentence]);
      await database.dispose();
    },
  );

  it.each([main, cli])('A program refuses to start on a Node.js that is too old: %s', async (script) => {
    // The version that the program reads. Real ones were tried by hand: 12.22, 14.21 and 18.20.
    const old = join(directory, 'old.cjs');
    await writeFile(old, `Object.defineProperty(process.versions, 'node', { value: '20.18.3' })`);
    const { exitCode, stdout, stderr } = await run({ NODE_OPTIONS: `--require ${old}` }, script).ended;
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      'Node.js 20.18.3 is too old: crypto-checkout-server needs 20.19 or later\n',
    ]);
    // Nothing else may be loaded before the check, and old versions must be able to parse it.
    const text = await readFile(script, 'utf8');
    expect([...text.matchAll(/^import .* from '(.*)'/gm)].map(([, name]) => name)).toEqual([
      './node-version.js',
    ]);
    expect(text).not.toMatch(/^(\S.*)?\bawait /m);
  });

  it('The server refuses to start with unknown arguments', async () => {
    const { exitCode, stderr } = await run({}, main, ['--port', '80']).ended;
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Unknown argument: --port 80');
  });
});

it('--help prints the variables', async () => {
  const { exitCode, stdout } = await run({}, main, ['--help']).ended;
  expect(exitCode).toBe(0);
  for (const name of ['HOST=', 'DATABASE_URL=', 'BOOTSTRAP_SECRET_KEY=', 'RATE_LIMIT_TEST_FACTOR=']) {
    expect(stdout).toContain(`  ${name}`);
  }
});

it('An environment file that everybody can read keeps the server from starting', async () => {
  const file = join(directory, 'settings.env');
  await writeFile(file, 'METRICS_TOKEN=0123456789abcdef\n');
  await chmod(file, 0o644);
  await chmod(directory, 0o755);
  expect(await run({}, main, [], [`--env-file=${file}`]).ended).toMatchObject({
    exitCode: 1,
    stderr: `every user of this machine can read or write ${file}. Run: chmod 600 '${file}'\n`,
  });
  // It can be written in two ways.
  expect(envFiles([`--env-file=${file}`])).toEqual([file]);
  expect(envFiles(['--env-file', file])).toEqual([file]);
});

it('start --check says whether the server could start, and changes nothing', async () => {
  const folder = await mkdtemp(join(directory, 'check-'));
  const first = await run({ DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` }, cli, ['start', '--check'])
    .ended;
  expect([first.exitCode, first.stderr]).toEqual([0, '']);
  expect(first.stdout).toMatch(/^The port \d+ of 127\.0\.0\.1 is free\.\n/);
  expect(first.stdout).toContain('shop.db is not there: the start makes it');
  expect(await readdir(folder)).toEqual([]);
  const wrong = await run({ RATE_LIMIT: 'maybe' }, cli, ['start', '--check']).ended;
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toContain('RATE_LIMIT');
});

it('start --check refuses what the start refuses: a rates file, a currency without a rate, no database of a live shop', async () => {
  const folder = await mkdtemp(join(directory, 'check-'));
  // In this process: the test above shows the program's exit code.
  const check = async (env: Record<string, string>) => {
    const all = { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}`, PORT: '0', ...env };
    return checkStart(readConfig(all, settings)).then(
      () => '',
      (error: unknown) => `${errorMessage(error)}\n`,
    );
  };
  expect(await check({ RATES_FILE: join(folder, 'none.json') })).toMatch(/^RATES_FILE: .* does not exist\n$/);
  expect(await check({ BASE_CURRENCIES: 'CHF' })).toMatch(/^BASE_CURRENCIES: there is no rate of CHF/);
  const file = join(folder, 'networks.json');
  const networks = { polygon: { nodes: ['http://127.0.0.1:1'] } };
  await writeFile(file, JSON.stringify({ networks }), { mode: 0o600 });
  expect(await check({ NETWORKS_FILE: file })).toMatch(/^DATABASE_URL: .* set DATABASE_CREATE=on\n$/);
  expect(await readdir(folder)).toEqual(['networks.json']);
});
