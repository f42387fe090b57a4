/** Where webhooks may go: in live mode to public https servers alone, checked on the address that is connected to. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Resolve } from '../../src/webhooks/targets.js';
import { makeCertificate } from '../support/certificate.js';
import { engines } from '../support/engines.js';
import { startReceiver, type Receiver, type ReceiverOptions } from './receiver.js';
import { openShop, type Shop } from './shop.js';
import type { Mode } from '../../src/shared/scope.js';

const certificate = makeCertificate('hooks.example', 'moves.example');
const ipv4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
/** The names of these tests; `answers` are given one after the other, the last one for ever. */
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
const never = /is an address that webhooks are never sent to/;

/** PORT stands for the port of a receiver that listens on 127.0.0.1. */
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
  ['https://169.254.169.254/', never],
  ['https://[::ffff:169.254.169.254]/', never],
  ['https://[fe80::1]/', never],
  ['https://[fd00:ec2::254]/', never],
  ['https://100.100.100.200/', never],
  ['https://168.63.129.16/', never],
  ['https://localhost:PORT/', notPublic],
  ['https://localhost.:PORT/', notPublic],
  ['https://LOCALHOST:PORT/', notPublic],
  ['https://loopback.example:PORT/', notPublic],
  ['https://private.example/', notPublic],
  ['https://half.example/', notPublic],
  ['https://mapped.example:PORT/', notPublic],
  ['https://metadata.example/', never],
  ['https://nowhere.example/', /has no address/],
  ['https://unknown.example/', /cannot be resolved: getaddrinfo ENOTFOUND/],
  ['http://hooks.example/', /go to https alone/],
];

const refusedInTestMode: [string, RegExp][] = [
  ['http://169.254.169.254/', never],
  ['http://metadata.example/', never],
  ['http://0.0.0.0:PORT/', never],
  ['http://224.0.0.1/', never],
];

describe.each(engines)('on $name', (engine) => {
  let shop: Shop;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    shop = await openShop({
      engine,
      env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32, fd00:1::/32' },
      overrides: { webhooks: { resolve, certificateAuthority: certificate.cert } },
    });
  });
  afterAll(async () => {
    await shop.server.stop();
    await receiver.stop();
  });

  async function receive(options?: ReceiverOptions): Promise<Receiver> {
    const other = await startReceiver(options);
    onTestFinished(() => other.stop());
    return other;
  }
  /** An account that is told at a URL, whatever the command line would say of it. */
  async function account(url: string): Promise<string> {
    const merchantId = await shop.merchant({ ...receiver });
    await shop.server.database.write((transaction) =>
      transaction
        .updateTable('webhook_endpoints')
        .set({ url })
        .where('merchant_id', '=', merchantId)
        .execute(),
    );
    return merchantId;
  }
  async function firstTry(merchantId: string) {
    const tries = async () => (await shop.events({ merchantId })).flatMap((event) => event.tries);
    await expect.poll(tries, { timeout: 5000 }).toHaveLength(1);
    return (await tries())[0];
  }
  async function expectRefused(mode: Mode, list: [string, RegExp][]): Promise<void> {
    const accounts = await Promise.all(
      list.map(async ([template, error]) => {
        const url = template.replace('PORT', String(receiver.port));
        return { url, error, merchantId: await account(url) };
      }),
    );
    for (const { merchantId } of accounts) await shop.announce(1, { merchantId, mode });
    for (const { merchantId, url, error } of accounts) {
      const one = await firstTry(merchantId);
      expect(one?.error, url).toMatch(error);
      expect(one?.responseStatus, url).toBeNull();
    }
    expect(receiver.connections()).toBe(0);
  }

  it('live mode refuses every address that is not public, in every form, without connecting', () =>
    expectRefused('live', refusedInLiveMode));

  it("test mode reaches a developer's machine and network, and still nothing that gives credentials away", () =>
    expectRefused('test', refusedInTestMode));

  it('live mode connects to what it checked, and refuses a name that has changed by the next connection', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    const other = await receive({ host: '127.0.0.1', port: allowed.port, certificate });
    allowed.answer = { status: 200, headers: { connection: 'close' } };
    define('moves.example', ipv4('127.0.0.2'), ipv4('127.0.0.1'));
    const merchantId = await account(`https://moves.example:${allowed.port}/hook`);
    await shop.announce(1, { merchantId, mode: 'live' });
    const [first] = await shop.settled(merchantId);
    expect(first?.status).toBe('delivered');
    // Asked once: there is no second answer between the check and the connection.
    expect(names.get('moves.example')?.asked).toBe(1);
    expect(allowed.received).toHaveLength(1);

    await shop.announce(1, { merchantId, mode: 'live' });
    await expect
      .poll(async () => (await shop.events({ merchantId })).flatMap(({ tries }) => tries), { timeout: 5000 })
      .toHaveLength(2);
    const [second] = await shop.events({ merchantId, status: 'pending' });
    expect(second?.tries[0]?.error).toMatch(notPublic);
    expect(names.get('moves.example')?.asked).toBe(2);
    expect([allowed.connections(), other.connections()]).toEqual([1, 0]);
  });

  it('live mode follows no redirect', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    define('hooks.example', ipv4('127.0.0.2'));
    for (const status of [301, 302, 303, 307, 308]) {
      allowed.answer = { status, headers: { location: `https://127.0.0.1:${receiver.port}/` } };
      const merchantId = await account(`https://hooks.example:${allowed.port}/hook`);
      await shop.announce(1, { merchantId, mode: 'live' });
      expect(await firstTry(merchantId)).toMatchObject({
        responseStatus: status,
        error: `Answered ${status}: redirects are not followed`,
      });
    }
    expect(receiver.connections()).toBe(0);
  });

  it('live mode takes no certificate of another name', async () => {
    const allowed = await receive({ host: '127.0.0.2', certificate });
    define('other.example', ipv4('127.0.0.2'));
    const merchantId = await account(`https://other.example:${allowed.port}/hook`);
    await shop.announce(1, { merchantId, mode: 'live' });
    expect((await firstTry(merchantId))?.error).toMatch(/altnames/);
    expect(allowed.received).toEqual([]);
  });
});
