/** The examples of `docs/create-a-payment.md`, each run as it is written, against a server. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../support/engines.js';
import { openMerchant, type MerchantFixture } from '../support/merchant-fixture.js';
import { startServer, type TestServer } from '../support/server.js';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const guide = await readFile(join(root, 'docs/create-a-payment.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);

/** Undefined if the program is not on this machine. */
const found = (program: string) => execute(program, ['--version']).then(Boolean, () => false);
const [hasPython, hasPhp, hasCurl] = await Promise.all(['python3', 'php', 'curl'].map(found));

describe('Create a payment', () => {
  let server: TestServer;
  let merchant: MerchantFixture;
  let folder: string;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
    merchant = openMerchant(server);
    // Inside the repository, so that the client is found.
    await mkdir(join(root, '.tmp'), { recursive: true });
    folder = await mkdtemp(join(root, '.tmp/guide-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await server.stop();
  });

  async function run(program: string, name: string, code: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, code);
    const env = {
      PATH: process.env['PATH'],
      CHECKOUT_URL: server.url,
      CHECKOUT_SECRET_KEY: server.secretKey,
      CHECKOUT_MODE: 'test',
    };
    const { stdout } = await execute(program, [file], { env, cwd: folder, timeout: 30_000 });
    return stdout.trim();
  }
  async function pay(id: string): Promise<void> {
    await merchant.pay((await merchant.choose(id)).address, 49.9);
  }
  const isPayment = (line: string) => {
    const [, id = '', url] = /^(\w{26}) (\S+)$/.exec(line) ?? [];
    expect(url).toBe(`${server.url}/pay/${id}`);
    return id;
  };

  if (hasCurl)
    it('curl creates a payment and asks for it', async () => {
      const [create = '', verify = ''] = blocks('sh');
      const { data } = JSON.parse(await run('sh', 'create.sh', create)) as {
        data: { payment: { id: string }; url: string };
      };
      const id = isPayment(`${data.payment.id} ${data.url}`);
      const asked = await run('sh', 'verify.sh', verify.replace('PAYMENT_ID', id));
      expect(JSON.parse(asked)).toMatchObject({ data: { id, status: 'in progress', txRef: 'order-42' } });
    });

  it('Node creates a payment', async () => {
    isPayment(await run(process.execPath, 'create.mjs', blocks('js')[0] ?? ''));
  });

  if (hasPython)
    it('Python creates a payment, sees when it is paid, and checks the signature of a webhook', async () => {
      const [code = '', signature = ''] = blocks('python');
      const [made = '', before] = (await run('python3', 'create.py', code)).split('\n');
      expect(before).toBe('False');
      const id = isPayment(made);
      await pay(id);
      const later = code.replace(/^(?:made =|print\().*$/gm, '') + `\nprint(is_paid("${id}", order))\n`;
      expect(await run('python3', 'later.py', later)).toBe('True');
      const dearer = later.replace('"49.90"', '"59.90"');
      expect(await run('python3', 'dearer.py', dearer)).toBe('False');

      const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, or').toString('base64')}`;
      const body = JSON.stringify({ type: 'payment.success', data: { name: 'Zoë' } });
      const now = new Date();
      const headers = {
        'webhook-id': 'one',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': `v1,wrong ${new Webhook(secret).sign('one', now, body)}`,
      };
      const check = (text: string) =>
        `${signature}\nprint(is_signed(${JSON.stringify(text)}.encode(), ${JSON.stringify(headers)}, "${secret}"))`;
      expect(await run('python3', 'signed.py', check(body))).toBe('True');
      expect(await run('python3', 'changed.py', check(`${body} `))).toBe('False');
    });

  if (hasPhp)
    it('PHP creates a payment, and sees when it is paid', async () => {
      const [code = ''] = blocks('php');
      const [made = '', before] = (await run('php', 'create.php', code)).split('\n');
      expect(before).toBe('bool(false)');
      const id = isPayment(made);
      await pay(id);
      const later =
        code.replace(/^(?:\$made =|echo |var_dump).*$/gm, '') + `\nvar_dump(is_paid('${id}', $order));\n`;
      expect(await run('php', 'later.php', later)).toBe('bool(true)');
    });
});
