/** Allowed webhook targets: only public servers, and in live mode only https, checked on the address that is connected to. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Resolve } from '../../src/core/webhooks/targets.js';
import { makeCertificate } from '../support/certificate.js';
import { enginesOfQuick } from '../support/engines.js';
import { receive, startReceiver, type Receiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';
import type { Mode } from '../../src/core/shared/scope.js';

const certificate = makeCertificate('hooks.example', 'moves.example');
const ipv4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
/** The host names of these tests. `answers` are returned one after the other, then the last one again and again. */
const names = new Map<string, { readonly answers: ReturnType<typeof ipv4>[]; asked: number }>();
const resolve: Resolve = (hostname) => {
  const name = names.get(hostname);
  const answer = name?.answers[Math.min(name.asked, name.answers.length - 1)];
  if (!name || !answer) return Promise.reject(new Error(`getaddrinfo ENOTFOUND ${hostname}`));
  name.asked += 1;
  return Promise.resolve(answer);
};
const define = (hostname: string, ...answers: ReturnType<typeof ipv4>[]) =>
  names.set(hostname, { answers, asked: 0 });

define('private.example', ipv4('10.0.0.1'));
define('loopback.example', ipv4('127.0.0.1'));
define('half.example', ipv4('93.184.215.14', '192.168.1.1'));
define('metadata.example', ipv4('169.254.169.254'));
define('mapped.example', [{ address: '::ffff:127.0.0.1', family: 6 }]);
define('localhost', ipv4('127.0.0.1'));
define('localhost.', ipv4('127.0.0.1'));
define('nowhere.example', []);

const notPublic = /is not a public address/;
const forbidden =
  /^Webhooks are never sent to [\w.:]+: it (is|leads to [\d.]+,) a reserved, link-local or cloud metadata address$/;

/** PORT is replaced with the port of a receiver on 127.0.0.1. */
const refusedInLiveMode: [string, RegExp][] = [
  ['https://127.0.0.1:PORT/', notPublic],
  ['https://127.0.0.1.:PORT/', notPublic],
  ['https://0x7f.1:PORT/', notPublic],
  ['https://0177.0.0.1:PORT/', notPublic],
  ['https://2130706433:PORT/', notPublic],
  ['https://127.1:PORT/', notPublic],
  ['https://0.0.0.0:PORT/', notPublic],
  ['https://[::1]:PORT/', notPublic],
  ['https://[::]:PORT/', notPublic],
  ['https://[::ffff:127.0.0.1]:PORT/', notPublic],
  ['https://[::ffff:10.0.0.1]/', notPublic],
  ['https://[::127.0.0.1]:PORT/', notPublic],
  ['https://[::ffff:0:127.0.0.1]:PORT/', notPublic],
  ['https://[64:ff9b::7f00:1]:PORT/', notPublic],
  ['https://[2002:7f00:1::]:PORT/', notPublic],
  ['https://[fd00::1]/', notPublic],
  ['https://[ff02::1]/', notPublic],
  ['https://10.0.0.1/', notPublic],
  ['https://172.16.0.1/', notPublic],
  ['https://192.168.0.1/', notPublic],
  ['https://100.64.0.1/', notPublic],
  ['https://192.0.2.1/', notPublic],
  ['https://198.18.0.1/', notPublic],
  ['https://224.0.0.1/', notPublic],
  ['https://255.255.255.255/', notPublic],
  ['https://169.254.169.254/', forbidden],
  ['https://[::ffff:169.254.169.254]/', forbidden],
  ['https://[fe80::1]/', forbidden],
  ['https://[fd00:ec2::254]/', forbidden],
  ['https://100.100.100.200/', forbidden],
  ['https://168.63.129.16/', forbidden],
  ['https://localhost:PORT/', notPublic],
  ['https://localhost.:PORT/', notPublic],
  ['https://LOCALHOST:PORT/', notPublic],
  ['https://loopback.example:PORT/', notPublic],
  ['https://private.example/', notPublic],
  ['https://half.example/', notPublic],
  ['https://mapped.example:PORT/', notPublic],
  ['https://metadata.example/', forbidden],
  ['https://nowhere.example/', /has no address/],
  ['https://unknown.example/', /could not be resolved: getaddrinfo ENOTFOUND/],
  ['http://hooks.example/', /require an https URL/],
];

const refusedInTestMode: [string, RegExp][] = [
  ['http://169.254.169.254/', forbidden],
  ['http://metadata.example/', forbidden],
  ['http://0.0.0.0:PORT/', forbidden],
  ['http://224.0.0.1/', forbidden],
];

describe.each(enginesOfQuick)('on $name', (engine) => {
  let shop: WebhookShop;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    shop = await openWebhookShop({
      engine,
      env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32, fd00:1::/32' },
      overrides: { webhooks: { resolve, certificateAuthority: certificate.cert } },
    });
  });
  afterAll(async () => {
    await shop.server.stop();
    await receiver.stop();
  });

  /** Creates an account with any webhook URL, even one that the command line would refuse. */
  async function account(url: string, mode: Mode): Promise<string> {
    const merchantId = await shop.merchant({ ...receiver });
    await shop.server.database.write((transaction) =>
      transaction
        .updateTable('webhook_endpoints')
        .set({ url, mode })
        .where('merchant_id', '=', merchantId)
        .execute(),
    );
    return merchantId;
  }
  const attemptsOf = async (merchantId: string) =>
    (await shop.events({ merchantId })).flatMap(({ tries }) => tries);
  async function firstAttempt(merchantId: string) {
    await expect.poll(() => attemptsOf(merchantId), { timeout: 5000 }).toHaveLength(1);
    return (await attemptsOf(merchantId))[0];
  }
  async function expectRefused(mode: Mode, list: [string, RegExp][]): Promise<void> {
    const accounts = await Promise.all(
      list.map(async ([template, error]) => {
        const url = template.replace('PORT', String(receiver.port));
        return { url, error, merchantId: await account(url, mode) };
      }),
    );
    for (const { merchantId } of accounts) await shop.publish(1, { merchantId, mode });
    for (const { merchantId, url, error } of accounts) {
      const attempt = await firstAttempt(merchantId);
      expect(attempt?.error, url).toMatch(error);
      expect(attempt?.responseStatus, url).toBeNull();
    }
    expect(receiver.connections()).toBe(0);
  }

  it('live mode refuses every address that is not public, in every form, without connecting', () =>
    expectRefused('live', refusedInLiveMode));

  it('test mode allows private networks, but still refuses cloud metadata services', () =>
    expectRefused('test', refusedInTestMode));

  it('test mode without the sandbox refuses private networks too, but for those that the operator allows', async () => {
    const { server: locked, ...ofLocked } = await openWebhookShop({
      engine,
      env: { SANDBOX: 'off', WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32' },
      overrides: { webhooks: { resolve } },
    });
    onTestFinished(() => locked.stop());
    const allowed = await receive({ host: '127.0.0.2' });
    const set = (url: string) => ofLocked.setEndpoint({ url, secret: '' });
    const port = String(receiver.port);
    for (const url of ['http://127.0.0.1:PORT/', 'http://[::ffff:127.0.0.1]:PORT/', 'http://10.0.0.1/']) {
      await expect(set(url.replace('PORT', port)), url).rejects.toThrow(notPublic);
    }
    // The address of a name is known only at delivery, and may have changed since.
    define('turns.example', ipv4('127.0.0.2'), ipv4('127.0.0.1'));
    allowed.answer = { status: 200, headers: { connection: 'close' } };
    await set(`http://turns.example:${allowed.port}/`);
    await ofLocked.publish(1);
    await expect.poll(() => allowed.received.length, { timeout: 5000 }).toBe(1);
    await ofLocked.publish(1);
    const errors = async () =>
      (await ofLocked.events({ status: 'pending' })).flatMap(({ tries }) => tries.map(({ error }) => error));
    await expect.poll(errors, { timeout: 5000 }).toEqual([expect.stringMatching(notPublic)]);
  });

  it('live mode connects to the address that it checked, and checks again for the next connection', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    const other = await receive({ host: '127.0.0.1', port: allowed.port, certificate });
    allowed.answer = { status: 200, headers: { connection: 'close' } };
    define('moves.example', ipv4('127.0.0.2'), ipv4('127.0.0.1'));
    const merchantId = await account(`https://moves.example:${allowed.port}/hook`, 'live');
    await shop.publish(1, { merchantId, mode: 'live' });
    const [first] = await shop.settled(merchantId);
    expect(first?.status).toBe('delivered');
    // Resolved only once, so the answer cannot change between the check and the connection.
    expect(names.get('moves.example')?.asked).toBe(1);
    expect(allowed.received).toHaveLength(1);

    await shop.publish(1, { merchantId, mode: 'live' });
    await expect.poll(() => attemptsOf(merchantId), { timeout: 5000 }).toHaveLength(2);
    const [second] = await shop.events({ merchantId, status: 'pending' });
    expect(second?.tries[0]?.error).toMatch(notPublic);
    expect(names.get('moves.example')?.asked).toBe(2);
    expect([allowed.connections(), other.connections()]).toEqual([1, 0]);
  });

  it('live mode does not follow redirects', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    define('hooks.example', ipv4('127.0.0.2'));
    for (const status of [301, 302, 303, 307, 308]) {
      allowed.answer = { status, headers: { location: `https://127.0.0.1:${receiver.port}/` } };
      const merchantId = await account(`https://hooks.example:${allowed.port}/hook`, 'live');
      await shop.publish(1, { merchantId, mode: 'live' });
      expect(await firstAttempt(merchantId)).toMatchObject({
        responseStatus: status,
        error: `Returned HTTP ${status}: redirects are not followed`,
      });
    }
    expect(receiver.connections()).toBe(0);
  });

  it('live mode rejects a certificate for another name', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    define('other.example', ipv4('127.0.0.2'));
    const merchantId = await account(`https://other.example:${allowed.port}/hook`, 'live');
    await shop.publish(1, { merchantId, mode: 'live' });
    expect((await firstAttempt(merchantId))?.error).toMatch(/altnames/);
    expect(allowed.received).toEqual([]);
  });
});
