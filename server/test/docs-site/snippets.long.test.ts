/**
 * Every command and every example in the docs is run: here, by another test that is named, or by hand for a reason. A new block
 * that none of these covers fails.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { runCommandLine } from '../support/command-line.js';
import { sqlite } from '../support/engines.js';
import { openSink, type Sink } from '../support/mail-sink.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

/** Blocks that another test runs: how many of a language it takes from a page. */
const elsewhere: readonly (readonly [page: string, language: string, blocks: number, test: string])[] = [
  ['docs/create-a-payment.md', 'sh', 2, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/create-a-payment.md', 'js', 1, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/create-a-payment.md', 'python', 2, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/create-a-payment.md', 'php', 2, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/frameworks.md', 'js next', 2, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/subscriptions.md', 'js', 1, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/hosted-wallets.md', 'js', 1, 'server/test/docs-site/create-a-payment.long.test.ts'],
  ['docs/going-live.md', 'sh', 13, 'test/e2e/going-live.soak.test.ts'],
];

/** Lines of other programs, and blocks, that no test runs as they are. */
const byHand: readonly (readonly [page: string, begin: string, reason: string])[] = [
  ['README.md', 'npm ', 'the gate and test/e2e/packages.long.test.ts do it'],
  ['README.md', 'npx --no-install crypto-checkout-server', 'test/e2e/packages.long.test.ts does it'],
  ['docs/README.md', 'npm ci', 'the gate does it'],
  ['docs/accounting.md', 'hledger ', 'server/test/books/profiles.test.ts has the same, on its own files'],
  ['docs/backup.md', 'systemctl ', 'needs systemd'],
  ['docs/backup.md', 'mv ', 'server/test/restore/backups.ts does it'],
  ['docs/backup.md', 'cp ', 'server/test/restore/backups.ts does it'],
  ['docs/backup.md', 'createdb ', 'needs a PostgreSQL of one’s own'],
  ['docs/backup.md', 'sudo ', 'server/test/db/copy.long.test.ts does it'],
  [
    'docs/deployment.md',
    '',
    'needs systemd, Docker and root; server/test/tooling/image.soak.test.ts builds the image',
  ],
  ['docs/installation.md', 'npm install', 'test/e2e/packages.long.test.ts does it'],
  ['docs/mail.md', 'SMTP_URL=', 'settings, which the commands below them are given'],
  ['docs/mail.md', 'MAIL_FROM=', 'settings, which the commands below them are given'],
  ['docs/measured.md', 'npm run soak', 'takes hours'],
  ['docs/medusa.md', 'npm install', 'plugins/medusa has tests of its own'],
  ['docs/medusa.md', 'cd plugins/medusa', 'scripts/test-plugins.mjs does it'],
  ['docs/operations.md', 'umask 077', 'the test below writes the file'],
  ['docs/psbt-payouts.md', 'cli=', 'the commands below use it'],
  ['docs/sandbox.md', 'curl ', 'the test below sends the same'],
  ['docs/treasury.md', 'cast ', 'needs Foundry’s cast'],
  ['docs/vendure.md', '', 'plugins/vendure has tests of its own'],
];

/** Commands that must fail here: what they need is not there, and they say so. */
const failing: readonly (readonly [begin: string, exitCode: number, message: RegExp, unless?: string])[] = [
  ['restore confirm', 1, /No restore is suspected/],
  ['database copy', 1, /A server is running on this database/],
  ['deposit-keys set --merchant ID --mode test --family evm --xpub xpub6D…', 1, /Not an extended public key/],
  // Compares first, and stores with --yes.
  ['deposit-keys set --merchant ID --family evm --mode live --treasury 0x7', 1, /--yes/, '--yes'],
  ['transfers psbt export', 1, /NETWORKS_FILE names none/],
  ['transfers psbt import', 1, /there is no such file/],
  ['transfers psbt bump', 1, /No such PSBT/],
  ['transfers release', 1, /No such export/],
  ['transfers settle', 1, /operators cannot settle or fail transfers/],
  ['transfers explain', 2, /NETWORKS_FILE/],
  ['transfers export ', 2, /NETWORKS_FILE/],
  ['sweeps deploy', 2, /NETWORKS_FILE/],
  ['sweeps plan', 2, /NETWORKS_FILE/],
  ['sweeps export', 2, /NETWORKS_FILE/],
  ['networks check', 2, /NETWORKS_FILE/],
  ['webhooks test', 1, /shop\.example/],
];

interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
  readonly isIncluded: boolean;
}

const languages = /^(?:sh|js|ts|tsx|jsx|vue|svelte|python|php|graphql)\b/;
const pages = ['README.md', ...(await readdir(join(root, 'docs'))).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith('.md'),
);
const blocks: Block[] = [];
for (const page of pages) {
  const text = await readFile(join(root, page), 'utf8');
  const fences = /(<!-- include \S+ -->\n\n)?^( *)```(.*)\n([^]*?)^ *```$/gm;
  for (const [, include, indent = '', language = '', code = ''] of text.matchAll(fences))
    if (languages.test(language)) {
      const lines = code
        .split('\n')
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
      blocks.push({ page, language, code: lines.join('\n'), isIncluded: include !== undefined });
    }
}
const codeOf = (page: string, language: string): string[] =>
  blocks.filter((block) => block.page === page && block.language === language).map(({ code }) => code);

const isElsewhere = (block: Block) =>
  elsewhere.some(([page, language]) => page === block.page && language === block.language);
const handRun = (page: string, line: string) =>
  byHand.find(([of, begin]) => of === page && line.startsWith(begin));
const cli = /^(?:node server\/dist\/cli\.js|\$cli) /;
const linesOf = ({ code }: Block) =>
  code
    .replaceAll(/\\\n */g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));

/** Examples that this file runs. */
const runHere: readonly (readonly [page: string, language: string, blocks: number])[] = [
  ['docs/client.md', 'js', 4],
  ['docs/refunds.md', 'js', 1],
  ['docs/webhooks.md', 'js', 1],
  ['docs/widget.md', 'js', 1],
  ['docs/medusa.md', 'js', 1],
  ['docs/installation.md', 'js', 2],
];

it('every block is run by a test, or by hand for a reason', () => {
  const open = blocks
    .filter((block) => !block.isIncluded && !isElsewhere(block))
    .flatMap((block) => {
      const { page, language, code } = block;
      if (language === 'sh')
        return linesOf(block)
          .filter((line) => !cli.test(line) && !handRun(page, line))
          .map((line) => `${page}: ${line}`);
      const isRun = runHere.some(([of, kind]) => of === page && kind === language);
      return isRun || handRun(page, code) ? [] : [`${page}: ${language}: ${code.split('\n')[0]}`];
    });
  expect(open).toEqual([]);
  for (const [page, language, count] of [...elsewhere, ...runHere])
    expect(
      codeOf(page, language),
      `${page}, ${language}: the test that runs them must know a new one`,
    ).toHaveLength(count);
  const unused = byHand.filter(
    ([of, begin]) =>
      !blocks.some(
        (block) =>
          block.page === of && [block.code, ...linesOf(block)].some((line) => line.startsWith(begin)),
      ),
  );
  expect(unused).toEqual([]);
});

it('the tests that run them are there, and read these pages', async () => {
  for (const [page, , , test] of elsewhere) {
    const name = page.replace(/^docs\/|\.md$/g, '');
    expect(await readFile(join(root, test), 'utf8'), `${test} and ${page}`).toContain(name);
  }
  const named = byHand.flatMap(([, , reason]) => /\S+\.(?:ts|mjs)/.exec(reason) ?? []);
  for (const file of named) await readFile(join(root, file));
  expect(named.length).toBeGreaterThan(3);
});

let server: TestServer;
let merchant: Shop;
let sink: Sink;
/** Inside the repository, so that packages are found. */
let folder: string;
beforeAll(async () => {
  [server, sink] = await Promise.all([startServer({ engine: sqlite }), openSink()]);
  merchant = openShop(server);
  await mkdir(join(root, '.tmp'), { recursive: true });
  folder = await mkdtemp(join(root, '.tmp/snippets-'));
});
afterAll(async () => {
  await Promise.all([server.stop(), sink.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const paying = { currency: 'USDT', network: 'tron' };
/** A payment of 10 dollars for which 12 USDT came. */
const overpaid = async () => (await merchant.fund({ ...paying, amount: 12 })).id;

it('commands do what the docs say, or name what is missing', { timeout: 120_000 }, async () => {
  const id = server.bootstrapped.merchantId;
  const records = createRecords(server);
  const key = z.object({ id: z.string() });
  const make = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommandLine(server.databaseUrl, [...args, '--json']);
    expect(exitCode, stderr).toBe(0);
    return key.parse(JSON.parse(stdout)).id;
  };
  await records.merchant.customers.create({ body: { email: 'ada@example.com', fullName: 'Ada Example' } });
  for (const email of ['ada@shop.example', 'grace@shop.example'])
    await runCommandLine(server.databaseUrl, [
      'users',
      'invite',
      '--merchant',
      id,
      '--email',
      email,
      '--role',
      'owner',
    ]);
  await merchant.fund({ ...paying, amount: 600 });
  const bankAccount = await records.bankAccount();
  const payouts: string[] = [];
  /** That the payer of a refund has given. */
  let address = '';

  /** Puts records of this server in the place of the docs' words. */
  const given = async (line: string): Promise<string[]> => {
    const group = line.split(' ').slice(0, 2).join(' ');
    const words: string[] = [];
    // Payouts are of test money here: the server has no network for live money.
    const text = group === 'payouts create' ? line.replace('--mode live', '--mode test') : line;
    for (const [, double, single, plain] of text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) {
      const word = double ?? single ?? plain ?? '';
      const before = words.at(-1) ?? '';
      if (['--output', '--file', '--password-file'].includes(before)) words.push(join(folder, word));
      else if (word.startsWith('/backups/')) words.push(join(folder, word.slice('/backups/'.length)));
      else if (word === 'ACCOUNT_ID') words.push(bankAccount);
      else if (word === 'PAYOUT_ID') words.push(payouts.shift() ?? '');
      else if (word === 'T…') words.push(address);
      else if (word !== 'ID') words.push(word);
      else if (before === '--merchant' || group === 'merchants update') words.push(id);
      else if (group === 'keys revoke')
        words.push(await make('keys', 'create', '--merchant', id, '--kind', 'secret', '--mode', 'test'));
      else if (group === 'refunds create') words.push(await overpaid());
      else if (group === 'refunds approve') {
        address = records.evmAddress();
        words.push((await records.refund({ address })).id);
      } else if (group === 'transfers settle') words.push(await records.transfer());
      else words.push(word);
    }
    return words;
  };

  const done: string[] = [];
  for (const block of blocks.filter((one) => one.language === 'sh' && !isElsewhere(one)))
    for (const whole of linesOf(block)) {
      const [, line = ''] = /(?:node server\/dist\/cli\.js|\$cli) (.*)$/.exec(whole) ?? [];
      // Another test runs this one, with a key.
      if (line === '' || line === 'data-key rotate') continue;
      const words = await given(line.replace(/ +#.*| > .*/, ''));
      const mail = { SMTP_URL: sink.url, MAIL_FROM: 'pay@shop.example' };
      const { exitCode, stdout, stderr } = await runCommandLine(
        server.databaseUrl,
        line.startsWith('payouts create') ? [...words, '--json'] : words,
        line.startsWith('mail test') ? mail : {},
      );
      const expected = failing.find(
        ([begin, , , unless = '!']) => line.startsWith(begin) && !line.endsWith(unless),
      );
      const [, code = 0, message = /^/] = expected ?? [];
      expect([exitCode, `${stdout}${stderr}`], `${block.page}: ${line}`).toEqual([
        code,
        expect.stringMatching(message),
      ]);
      if (line.startsWith('payouts create')) {
        payouts.push(key.parse(JSON.parse(stdout)).id);
        const again = words.map((word) => word.replace('Payout 17', 'Payout 18'));
        payouts.push(await make(...again));
      }
      done.push(line);
    }
  expect(done.length).toBeGreaterThan(45);
  expect(sink.letters.map(({ recipients }) => recipients)).toEqual([['you@shop.example']]);
});

const runNode = async (name: string, code: string, env: Readonly<Record<string, string>> = {}) => {
  const file = join(folder, name);
  await writeFile(file, code);
  const { stdout } = await execute(process.execPath, [file], {
    env: { PATH: process.env['PATH'], CHECKOUT_SECRET_KEY: server.secretKey, ...env },
    timeout: 30_000,
  });
  return stdout.trim().split('\n');
};

it('a data key encrypts a copy of the database, as the page of the server says', async () => {
  const [block = ''] = codeOf('docs/operations.md', 'sh');
  const [write = '', , rotate = ''] = block.split('\n');
  const [copy, file] = [join(folder, 'copy.db'), join(folder, 'data.key')];
  await execute('sh', ['-c', write.replace(/> \S+$/, `> ${file}`)]);
  expect((await runCommandLine(server.databaseUrl, ['database', 'backup', copy])).exitCode).toBe(0);
  const words = rotate.replace(cli, '').split(' ');
  const { exitCode, stderr } = await runCommandLine(`sqlite:${copy}`, words, { DATA_KEY_FILE: file });
  expect(exitCode, stderr).toBe(0);
});

it('the client creates a customer, lists them, handles a refusal, and sees whether an order is paid', async () => {
  const [create = '', list = '', refused = '', verify = ''] = codeOf('docs/client.md', 'js');
  const [refund = ''] = codeOf('docs/refunds.md', 'js');
  const email = 'mary@example.com';
  const { id } = await merchant.fund({ ...paying, amount: 12 });
  const lines = await runNode(
    'client.mjs',
    `import { verifyPayment } from 'crypto-checkout/client';
${create.replace('https://pay.example.com', server.url).replaceAll('ada@example.com', email)}
console.log('created', customer.email);
${list.replace('…', "console.log('listed', typeof id, email);")}
console.warn = (...words) => console.log('refused', ...words);
const body = { amount: 5, currency: 'BTC', walletAddress: '${externalAddresses.bitcoin}', walletNetwork: 'bitcoin' };
${refused}
const paymentId = '${id}';
const order = { reference: 'order-42', amount: '10' };
${verify}
console.log(verified, failed.map(({ rule }) => rule).join());
const payment_id = paymentId;
${refund}
console.log(claimUrl);`,
  );
  expect(lines).toContain(`created ${email}`);
  expect(lines).toContain(`listed string ${email}`);
  expect(lines).toContainEqual(expect.stringMatching(/^refused .+ \S+$/));
  // The order of the example is in naira, and has another reference.
  expect(lines).toContain('false reference,price');
  expect(lines.at(-1)).toMatch(new RegExp(`^${server.url}/refund#\\S+$`));
});

it('the handler of webhooks settles a signed event once it is verified, and refuses others', async () => {
  const [code = ''] = codeOf('docs/webhooks.md', 'js');
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, or').toString('base64')}`;
  const reserved = createServer().listen(0, '127.0.0.1');
  await once(reserved, 'listening');
  const place = z.object({ port: z.number() }).parse(reserved.address());
  reserved.close();
  const file = join(folder, 'webhooks.mjs');
  const settle = 'const settle = async (id) => console.log(`settle ${id}`);\n';
  await writeFile(file, settle + code.replace('3000', String(place.port)));
  const shop = spawn(process.execPath, [file], {
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  shop.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  try {
    const { id } = await merchant.lock();
    const data = { ...(await merchant.ask<object>('GET', `/v1/transactions/${id}/verify`)), sequence: 1 };
    const postWebhook = (type: string, more: object = {}, isForged = false) => {
      const now = new Date();
      const body = JSON.stringify({ type, timestamp: now.toISOString(), data: { ...data, ...more } });
      const headers = {
        'webhook-id': 'one',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('one', now, body),
      };
      const url = `http://127.0.0.1:${place.port}/webhooks`;
      return fetch(url, { method: 'POST', body: isForged ? `${body} ` : body, headers }).then(
        ({ status }) => status,
        () => 0,
      );
    };
    await expect.poll(() => postWebhook('payment.success', {}, true), { timeout: 20_000 }).toBe(400);
    expect(await postWebhook('something.new')).toBe(204);
    expect(await postWebhook('payment.success', { isSample: true })).toBe(204);
    expect(printed).toBe('');
    expect(await postWebhook('payment.success')).toBe(204);
    expect(printed).toBe(`settle ${id}\n`);
  } finally {
    shop.kill();
  }
});

it('examples of settings name what there is', async () => {
  const [messages = ''] = codeOf('docs/widget.md', 'js');
  const element: { messages: Record<string, unknown> } = { messages: {} };
  runInNewContext(messages, { document: { querySelector: () => element } });
  const keys = Object.keys(element.messages);
  expect(keys.length).toBeGreaterThan(2);
  const texts = ['en-start', 'en', 'en-after-qr'].map((name) =>
    readFile(join(root, `src/messages/${name}.ts`), 'utf8'),
  );
  const english = (await Promise.all(texts)).join('\n');
  const known = [...english.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  expect(known).toEqual(expect.arrayContaining(keys));

  const [medusa = ''] = codeOf('docs/medusa.md', 'js');
  const sandbox = { module: { exports: {} }, defineConfig: (config: object) => config, process: { env: {} } };
  runInNewContext(medusa, sandbox);
  const shape = z.object({
    modules: z.array(
      z.object({
        options: z.object({ providers: z.array(z.object({ options: z.record(z.string(), z.unknown()) })) }),
      }),
    ),
  });
  const options = shape
    .parse(sandbox.module.exports)
    .modules.flatMap((one) => one.options.providers)
    .flatMap((provider) => Object.keys(provider.options));
  const page = await readFile(join(root, 'docs/medusa.md'), 'utf8');
  for (const option of options) expect(page).toContain(`| \`${option}\``);
  expect(options).toHaveLength(4);

  // The pattern is for the package's name, and for none of its other files.
  const [jest = '', stub = ''] = codeOf('docs/installation.md', 'js');
  const [pattern = ''] = /\^[^']+/.exec(jest) ?? [];
  expect(['crypto-checkout', 'crypto-checkout/client'].map((name) => new RegExp(pattern).test(name))).toEqual(
    [true, false],
  );
  const defined: string[] = [];
  runInNewContext(stub, {
    customElements: { define: (name: string) => defined.push(name) },
    HTMLElement: Object,
  });
  expect(defined).toEqual(['crypto-checkout']);
});
