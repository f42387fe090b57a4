/** The commands with which a shop is set up: from an empty server to keys, a tag, a webhook, and a list of the missing parts. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/command-line/run.js';
import { openBrowser } from '../support/browser.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfQuick } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';
import { startReceiver, type Receiver } from '../webhooks/receiver.js';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

interface Made {
  readonly id: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly webhookSecret: string | null;
  readonly consoleUrl: string | null;
  readonly tag: string;
}

describe.each(enginesOfQuick)('Setting up a shop on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let receiver: Receiver;
  let made: Made;

  beforeAll(async () => {
    // Without PUBLIC_URL, as a newcomer has it: commands know the server's address only because it has stored it.
    server = await startServer({ engine });
    merchant = openShop(server);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver.stop();
    await server.stop();
  });

  it('The init command makes a shop with a tag for the server that runs, and keys that work', async () => {
    made = (await merchant.command('init', '--name', 'Lantern Shop', '--webhook-url', receiver.url)) as Made;
    expect(made.tag).toContain(`src="${server.url}/crypto-checkout.js"`);
    expect(made.tag).toContain(`public-key="${made.publicKey}"`);
    expect(made.webhookSecret).toMatch(/^whsec_/);
    const asked = await server.api('GET', '/v1/transactions', { key: made.secretKey });
    expect(asked.status).toBe(200);
    const body = { amount: 10, baseCurrency: 'USD' };
    const created = await server.api('POST', '/v1/payments/checkout', { key: made.publicKey, body });
    expect(created.status).toBe(200);
    const entries = (await merchant.command('audit', 'list', '--merchant', made.id)) as { action: string }[];
    expect(entries.map(({ action }) => action).sort()).toEqual(
      ['key.created', 'key.created', 'merchant.created', 'person.invited', 'webhook.set'].sort(),
    );
  });

  it('The init command prints a link that opens the console of the new shop, once', async () => {
    const [, token = ''] = String(made.consoleUrl).split('#');
    const browser = openBrowser(server.url);
    const signInWithToken = () => browser.send('POST', '/console/api/sign-in', { body: { token } });
    expect((await signInWithToken()).body.data).toMatchObject({ merchant: { id: made.id }, role: 'owner' });
    expect((await signInWithToken()).status).toBe(404);
    const { stdout } = await runCommandLine(server.databaseUrl, ['init', '--name', 'Unseen'], {
      CONSOLE: 'off',
    });
    expect(stdout).not.toContain('console');
  });

  it('The init command prints a text that a person can copy', async () => {
    const { stdout, exitCode } = await merchant.run(
      'init',
      '--name',
      'Second Shop',
      '--price',
      '12.5',
      '--currency',
      'eur',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Secret key {6}sk_test_\S+\n/);
    expect(stdout).not.toContain('whsec_');
    expect(stdout).toMatch(/Open its console .*\n\nhttp:\/\/localhost:\d+\/console#\S{20,}\n/);
    expect(stdout).toContain('  amount="12.5"\n  base-currency="EUR"\n');
  });

  it('The init command does not promise simulated money where SANDBOX is off', async () => {
    const { stdout } = await runCommandLine(server.databaseUrl, ['init', '--name', 'Live'], {
      SANDBOX: 'off',
    });
    expect(stdout).toMatch(/SANDBOX is off: .*"keys create --mode live"/);
    expect(stdout).not.toContain('press the button');
  });

  it('The init command makes nothing if the webhook URL is wrong', async () => {
    const before = await merchant.command('merchants', 'list');
    const { exitCode, stderr } = await merchant.run(
      'init',
      '--name',
      'Third',
      '--webhook-url',
      'ftp://shop.example',
    );
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/http/);
    expect(await merchant.command('merchants', 'list')).toEqual(before);
  });

  it('The init command refuses a currency that payments cannot be in, and makes no merchant', async () => {
    const before = await merchant.command('merchants', 'list');
    const { exitCode, stdout, stderr } = await merchant.run('init', '--name', 'Third', '--currency', 'CHF');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(await merchant.command('merchants', 'list')).toEqual(before);
    expect(stderr).toMatch(/CHF is not a currency of this server\. It has .*USD/);
  });

  it('The webhooks listen command prints each event as it was sent, and the answer to it', async () => {
    receiver.secret = made.webhookSecret ?? '';
    receiver.answer = { status: 503 };
    // A process of its own, which says when it listens: an event before that is not shown.
    const words = [cli, 'webhooks', 'listen', '--merchant', made.id, '--for', '8'];
    const listening = spawn(process.execPath, words, {
      env: { PATH: process.env['PATH'], DATABASE_URL: server.databaseUrl },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    listening.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    listening.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = once(listening, 'close') as Promise<[number | null]>;
    await expect.poll(() => output.stderr, { timeout: 30_000 }).toContain(`which go to ${receiver.url}`);
    const own = { key: made.secretKey };
    const body = { amount: 10, baseCurrency: 'USD' };
    const created = await server.api('POST', '/v1/payments/checkout', { ...own, body });
    const { id } = created.body.data['payment'] as { id: string };
    await server.api('PATCH', `/v1/payments/${id}/cancel`, own);
    expect((await ended)[0]).toBe(0);
    const { stdout, stderr } = output;
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.map(({ type }) => type)).toEqual(['payment.cancelled']);
    expect(receiver.received.map((one) => one.body)).toContain(stdout.trim());
    expect(stderr).toMatch(/HTTP 503/);
  });

  it('The webhooks test command sends a sample of each type of event, without a warning of Node', async () => {
    receiver.answer = { status: 204 };
    const warnings: string[] = [];
    const note = (warning: Error) => warnings.push(warning.message);
    process.on('warning', note);
    const { stdout, exitCode } = await merchant.run('webhooks', 'test', '--merchant', made.id);
    // A warning comes with the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect([exitCode, warnings]).toEqual([0, []]);
    expect(stdout.trim().split('\n').length).toBeGreaterThan(10);
  });

  it('The webhooks listen command says how to set a webhook URL if there is none', async () => {
    const { exitCode, stderr } = await merchant.run(
      'webhooks',
      'listen',
      '--merchant',
      server.bootstrapped.merchantId,
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('merchants update');
  });

  describe('The doctor', () => {
    it('The doctor finds no problem with a server that runs', async () => {
      const { exitCode, stdout } = await merchant.run('doctor');
      expect(stdout).toContain(`ok    server    A server is ready at ${server.url}`);
      expect(stdout).toMatch(/ok {4}shops {5}Lantern Shop has keys and webhooks/);
      expect(stdout).toContain('Second Shop: no webhook for test mode');
      expect(stdout).not.toContain('FAIL');
      expect(exitCode).toBe(0);
    });

    it('The doctor lists everything that a shop with real money lacks, each with the command', async () => {
      await merchant.command('keys', 'create', '--merchant', made.id, '--kind', 'secret', '--mode', 'live');
      const { stdout } = await merchant.run('doctor');
      for (const words of [
        '--kind public --mode live',
        '--fee-basis-points 0',
        '--support-url',
        '--redirect-origins',
      ]) {
        expect(stdout).toContain(words);
      }
    });

    it.each([
      [
        'a file that leaves it out',
        (rates: string) => ({ RATES_FILE: rates }),
        /warn {2}rates {5}No rate of ETH: .*RATES_FILE/,
      ],
      [
        'sources that do not answer',
        () => ({ RATES: 'kraken=http://127.0.0.1:9/kraken,coinbase=http://127.0.0.1:9/coinbase' }),
        /FAIL {2}rates {5}No exchange rate of ETH: .*rates show/,
      ],
    ])('The doctor names the coins of a network without a rate: %s', async (_why, settingsWith, expected) => {
      const folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-doctor-'));
      const [rates, networks] = [join(folder, 'rates.json'), join(folder, 'networks.json')];
      await writeFile(
        rates,
        '{"source": "ours", "unitsPerDollar": {"USD": "1"}, "dollarsPerUnit": {"USDT": "1"}}',
      );
      await writeFile(networks, '{"networks": {"evm-dev": {"nodes": ["http://127.0.0.1:1"]}}}', {
        mode: 0o600,
      });
      const environment = { ...settingsWith(rates), NETWORKS_FILE: networks };
      const { stdout } = await runCommandLine(server.databaseUrl, ['doctor'], environment);
      await rm(folder, { recursive: true });
      expect(stdout).toMatch(expected);
    });

    it('The doctor fails where real money is taken and no shop has a key for its pages', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-doctor-'));
      const networks = join(folder, 'networks.json');
      await writeFile(networks, '{"networks": {"ethereum": {"nodes": ["http://127.0.0.1:9"]}}}', {
        mode: 0o600,
      });
      const environment = {
        NETWORKS_FILE: networks,
        RATES: 'kraken=http://127.0.0.1:9/kraken,coinbase=http://127.0.0.1:9/coinbase',
      };
      const ask = async () => (await runCommandLine(server.databaseUrl, ['doctor'], environment)).stdout;
      const missing = /FAIL {2}shops {5}No shop has a public key for live mode.*keys create/;
      const output = await ask();
      expect(output).toMatch(missing);
      expect(output).toMatch(/warn {2}marker {4}MARKER_DIRECTORY is not set/);
      await merchant.command('keys', 'create', '--merchant', made.id, '--kind', 'public', '--mode', 'live');
      expect(await ask()).not.toMatch(missing);
      await rm(folder, { recursive: true });
    });

    it('The doctor fails if no server answers, and names the proxy that is not trusted', async () => {
      const environment = { PUBLIC_URL: 'https://127.0.0.1:9' };
      const { exitCode, stdout } = await runCommandLine(
        server.databaseUrl,
        ['doctor', '--json'],
        environment,
      );
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        server: [{ kind: 'problem', text: expect.stringContaining('No server answers') as string }],
        proxy: [{ kind: 'warning', text: expect.stringContaining('TRUST_PROXY') as string }],
      });
    });
  });
});

/** Prints what a shell would complete. The shell has none of the user's settings. */
const completeIn = {
  bash: (script: string, words: readonly string[]) => [
    ...['--norc', '-c'],
    `${script}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _crypto_checkout_server; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // A fresh one has no completion, and it is zsh that compares the words with the typed one.
  zsh: (script: string, words: readonly string[]) => [
    ...['-f', '-c'],
    `${script}\n[[ -n $_comps[crypto-checkout-server] ]] || exit 1
    setopt ksharrays; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _crypto_checkout_server; print -l -- "\${COMPREPLY[@]}"`,
  ],
  fish: (script: string, words: readonly string[]) => [
    ...['--no-config', '-c'],
    `${script}\ncomplete -C "${words.join(' ')}"`,
  ],
};
const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

const installed = (['bash', 'zsh', 'fish'] as const).filter(
  (shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0,
);

describe.each(installed)('Completion in %s', (shell) => {
  /** The directory of the list of completions that zsh writes. */
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-shell-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const complete = async (...words: string[]) => {
    const { stdout: script } = await runCommand(['completion', shell], {});
    const args = completeIn[shell](script, ['crypto-checkout-server', ...words]);
    const env = { ...process.env, ZDOTDIR: directory };
    const { stdout, stderr } = await promisify(execFile)(shell, args, { env });
    expect(stderr).toBe('');
    const last = words.at(-1) ?? '';
    return stdout.split('\n').filter((word) => word !== '' && word.startsWith(last));
  };

  it.each([
    ['a command', ['ini'], ['init']],
    ['a group', ['webh'], ['webhooks']],
    ['a verb', ['webhooks', 'l'], ['list', 'listen']],
    ['a verb of three words', ['transfers', 'psbt', 'ex'], ['export']],
    ['an option after others', ['keys', 'create', '--merchant', 'ID', '--mo'], ['--mode']],
    ['no option of a verb with the same beginning', ['webhooks', 'listen', '--lim'], []],
    ['the option of the server', ['start', '--c'], ['--check']],
    ['itself', ['completion', 'fi'], ['fish']],
  ])('Completion knows %s', async (_what, words, expected) => {
    expect((await complete(...words)).sort()).toEqual(expected);
  });
});
