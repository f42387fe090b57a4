/** The examples of `docs/create-a-payment.md` and of the cookbook, each run as it is written, against a server. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const guide = await readFile(join(root, 'docs/create-a-payment.md'), 'utf8');
const blocks = (language: string, text = guide): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);
const exampleOf = async (name: string, language = 'js') =>
  blocks(language, await readFile(join(root, `docs/${name}.md`), 'utf8'));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No port is free');
  return address.port;
}

/** An event as the server signs it. */
const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, or').toString('base64')}`;
function signed(body: string) {
  const now = new Date();
  return {
    'webhook-id': 'one',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': `v1,wrong ${new Webhook(secret).sign('one', now, body)}`,
  };
}

/** Undefined if the program is not on this machine. */
const found = (program: string) => execute(program, ['--version']).then(Boolean, () => false);
const [hasPython, hasPhp, hasCurl] = await Promise.all(['python3', 'php', 'curl'].map(found));

describe('The guide to create a payment', () => {
  let server: TestServer;
  let merchant: Shop;
  let folder: string;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
    merchant = openShop(server);
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
      WEBHOOK_SECRET: secret,
    };
    const { stdout } = await execute(program, [file], { env, cwd: folder, timeout: 30_000 });
    return stdout.trim();
  }
  async function payChosen(id: string): Promise<void> {
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
    it('Python creates a payment, sees when it is paid and when its money goes back, and checks the signature of a webhook', async () => {
      const [code = '', signature = ''] = blocks('python');
      const [made = '', before] = (await run('python3', 'create.py', code)).split('\n');
      expect(before).toBe('False');
      const id = isPayment(made);
      await payChosen(id);
      const later = code.replace(/^(?:made =|print\().*$/gm, '') + `\nprint(is_paid("${id}", order))\n`;
      expect(await run('python3', 'later.py', later)).toBe('True');
      const dearer = later.replace('"49.90"', '"59.90"');
      expect(await run('python3', 'dearer.py', dearer)).toBe('False');
      await merchant.refund(id, { kind: 'partial', amount: 1, address: externalAddresses.tron });
      expect(await run('python3', 'refunded.py', later)).toBe('False');

      const body = JSON.stringify({ type: 'payment.success', data: { name: 'Zoë' } });
      const headers = signed(body);
      const check = (text: string) =>
        `${signature}\nprint(is_signed(${JSON.stringify(text)}.encode(), ${JSON.stringify(headers)}, "${secret}"))`;
      expect(await run('python3', 'signed.py', check(body))).toBe('True');
      expect(await run('python3', 'changed.py', check(`${body} `))).toBe('False');
    });

  if (hasPhp)
    it('PHP creates a payment, and sees when it is paid and when its money goes back', async () => {
      const [code = ''] = blocks('php');
      const [made = '', before] = (await run('php', 'create.php', code)).split('\n');
      expect(before).toBe('bool(false)');
      const id = isPayment(made);
      await payChosen(id);
      const later =
        code.replace(/^(?:\$made =|echo |var_dump).*$/gm, '') + `\nvar_dump(is_paid('${id}', $order));\n`;
      expect(await run('php', 'later.php', later)).toBe('bool(true)');
      await merchant.refund(id, { kind: 'partial', amount: 1, address: externalAddresses.tron });
      expect(await run('php', 'refunded.php', later)).toBe('bool(false)');
    });

  if (hasPhp)
    it('PHP answers 204 to a webhook that is signed, and 400 to another one', async () => {
      const [, code = ''] = blocks('php');
      await writeFile(join(folder, 'webhook.php'), code);
      const port = await freePort();
      const address = `127.0.0.1:${port}`;
      const php = spawn('php', ['-S', address, join(folder, 'webhook.php')], {
        env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret },
        stdio: 'ignore',
      });
      try {
        const postWebhook = (body: string, headers: Record<string, string>) =>
          fetch(`http://${address}/`, { method: 'POST', body, headers }).then(({ status }) => status);
        const body = JSON.stringify({ type: 'payment.success', data: { id: 'one', name: 'Zoë' } });
        await expect.poll(() => postWebhook('', {}).catch(() => 0), { timeout: 10_000 }).toBe(400);
        expect(await postWebhook(body, signed(body))).toBe(204);
        expect(await postWebhook(`${body} `, signed(body))).toBe(400);
        const late = { ...signed(body), 'webhook-timestamp': '1' };
        expect(await postWebhook(body, late)).toBe(400);
      } finally {
        php.kill();
      }
    });

  it('Next.js: a route creates the payment, and another one takes its webhook', async () => {
    const [create = '', webhooks = ''] = await exampleOf('frameworks', 'js next');
    const body = new URLSearchParams({ order: 'order-46' });
    const call = `
const request = new Request('http://shop.example/pay', { method: 'POST', body: '${body.toString()}', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
const reply = await POST(request);
console.log(reply.status, reply.headers.get('location'));`;
    const made = await run(process.execPath, 'pay.mjs', create + call);
    const [, id = ''] = /^303 \S+\/pay\/(\w{26})$/.exec(made) ?? [];
    await payChosen(id);
    const event = JSON.stringify({
      type: 'payment.success',
      timestamp: new Date().toISOString(),
      data: { ...(await merchant.ask<object>('GET', `/v1/transactions/${id}/verify`)), sequence: 1 },
    });
    const take = (text: string, headers: object) => `${webhooks}
const sent = new Request('http://shop.example/webhooks', { method: 'POST', body: ${JSON.stringify(text)}, headers: ${JSON.stringify(headers)} });
console.log((await POST(sent)).status);`;
    expect(await run(process.execPath, 'hook.mjs', take(event, signed(event)))).toBe('paid order-46\n204');
    expect(await run(process.execPath, 'forged.mjs', take(`${event} `, signed(event)))).toBe('400');
  });

  it('Subscriptions: a plan and its first charge', async () => {
    const [code = ''] = await exampleOf('subscriptions');
    const plan = await run(process.execPath, 'plan.mjs', code);
    const charges = await merchant.ask<{ txRef: string }[]>(
      'GET',
      '/v1/transactions?customer=ada@example.com',
    );
    expect(charges.map(({ txRef }) => txRef)).toContainEqual(expect.stringMatching(/^sub_\w{26}_0$/));
    expect(await merchant.ask('GET', `/v1/payment-plans/${plan}`)).toMatchObject({ planName: 'Monthly box' });
  });

  it('Hosted wallets: an address on each network of the currency', async () => {
    const [code = ''] = await exampleOf('hosted-wallets');
    const lines = (await run(process.execPath, 'wallet.mjs', code)).split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^tron T\w{33}$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ethereum 0x\w{40}$/));
  });
});
