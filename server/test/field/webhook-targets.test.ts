/** Public reports of webhook targets behind translation prefixes: the IPv4 address in them is judged, whatever is allowed. */
import { describe, expect, it } from 'vitest';
import { createTargets, TargetRefused } from '../../src/core/webhooks/targets.js';
import { sqlite } from '../support/engines.js';
import { startReceiver } from '../webhooks/receiver.js';
import { openWebhookShop } from '../webhooks/webhook-shop.js';
import type { Mode } from '../../src/core/shared/scope.js';

const names: Record<string, string> = {};

/** Asks what a connection would, and opens none. @returns its target, or the reason why it has none */
async function judge(address: string, allowed: readonly string[] = [], mode: Mode = 'live'): Promise<string> {
  const targets = createTargets({
    allowed,
    isForDevelopment: true,
    resolve: () => Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]),
  });
  const outcome = await new Promise<string | Error>((resolve) => {
    targets.lookup(mode)('hooks.example', { all: true }, (error, found) => {
      resolve(error ?? (Array.isArray(found) ? found.map((one) => one.address).join() : found));
    });
  });
  const asLiteral = () =>
    targets.check(new URL(`https://${address.includes(':') ? `[${address}]` : address}/`), mode);
  if (typeof outcome === 'string') {
    expect(asLiteral).not.toThrow();
    return outcome;
  }
  // A URL that has the address itself is refused the same way.
  expect(outcome).toBeInstanceOf(TargetRefused);
  expect(asLiteral).toThrow(TargetRefused);
  return outcome.message;
}

/** An IPv4 address as two groups of an IPv6 address. */
function groups(ipv4: string): string {
  const hex = ipv4.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `${hex[0] ?? ''}${hex[1] ?? ''}:${hex[2] ?? ''}${hex[3] ?? ''}`;
}
const bytes = (ipv4: string) => ipv4.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
const inverted = (ipv4: string) =>
  groups(
    ipv4
      .split('.')
      .map((part) => 255 - Number(part))
      .join('.'),
  );
/** RFC 6052, section 2.2, below 64:ff9b:1::/48: by the length of the network's own prefix. */
const localUse: Record<string, (ipv4: string) => string> = {
  '/48': (ipv4) => {
    const [a, b, c, d] = bytes(ipv4);
    return `64:ff9b:1:${a ?? ''}${b ?? ''}:00${c ?? ''}:${d ?? ''}00::`;
  },
  '/56': (ipv4) => {
    const [a, b, c, d] = bytes(ipv4);
    return `64:ff9b:1:00${a ?? ''}:00${b ?? ''}:${c ?? ''}${d ?? ''}::`;
  },
  '/64': (ipv4) => {
    const [a, b, c, d] = bytes(ipv4);
    return `64:ff9b:1:0:00${a ?? ''}:${b ?? ''}${c ?? ''}:${d ?? ''}00::`;
  },
  '/96': (ipv4) => `64:ff9b:1:fffe::${groups(ipv4)}`,
};

/** Each stands for the IPv4 address that it is given. */
const translated: Record<string, (ipv4: string) => string> = {
  'NAT64, 64:ff9b::/96': (ipv4) => `64:ff9b::${groups(ipv4)}`,
  ...Object.fromEntries(
    Object.entries(localUse).map(([length, write]) => [`local NAT64 with ${length}, 64:ff9b:1::/48`, write]),
  ),
  '6to4, 2002::/16': (ipv4) => `2002:${groups(ipv4)}::1`,
  'a Teredo client, 2001::/32': (ipv4) => `2001:0:${groups('65.54.227.120')}:0:0:${inverted(ipv4)}`,
  'a Teredo server, 2001::/32': (ipv4) => `2001:0:${groups(ipv4)}:0:0:${inverted('93.184.215.14')}`,
  'IPv4-mapped, ::ffff:0:0/96': (ipv4) => `::ffff:${ipv4}`,
  'IPv4-translated, ::ffff:0:0:0/96': (ipv4) => `::ffff:0:${groups(ipv4)}`,
};

const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192'];
const inner = ['127.0.0.1', '10.0.0.1', '172.16.3.4', '192.168.1.1', '100.64.0.1'];
/** The advice of the error about a refused one, and more. */
const advised = ['64:ff9b::/96', '64:ff9b:1::/48', '2000::/3', '::/0'];

describe.each(Object.entries(translated))('an address of %s', (_, write) => {
  // rommapp/romm#3675, NousResearch/hermes-agent#38071: on a network with DNS64, every name has such an address
  it('A translated address may be a target if the IPv4 address in it may', async () => {
    for (const ipv4 of ['93.184.215.14', '141.95.172.205', '8.8.8.8']) {
      expect(await judge(write(ipv4)), ipv4).toBe(write(ipv4));
    }
  });

  // KeeperHub#1269, librefang#2409, instructor#2659, langflow#14174, flyto-core GHSA-794r-5rp2-fpg8, basecamp/fizzy#2988
  it('A translated address is refused if it leads to loopback, a private network or cloud metadata, whatever is allowed', async () => {
    for (const allowed of [[], advised]) {
      for (const ipv4 of inner) {
        const refusal = await judge(write(ipv4), allowed);
        expect(refusal, `${ipv4} ${allowed.join()}`).toContain(
          `leads to ${ipv4}, which is not a public address`,
        );
      }
      for (const mode of ['live', 'test'] as const) {
        for (const ipv4 of metadata) {
          const refusal = await judge(write(ipv4), allowed, mode);
          expect(refusal, ipv4).toMatch(/^Webhooks are never sent to .* cloud metadata address$/);
        }
      }
    }
  });

  it('A translated address may be a target where the subnet of its IPv4 address is allowed', async () => {
    expect(await judge(write('10.1.2.3'), ['10.1.0.0/16'])).toBe(write('10.1.2.3'));
    expect(await judge(write('10.2.2.3'), ['10.1.0.0/16'])).toContain('10.2.2.3');
  });
});

// n8n-mcp#792: the place of the address depends on the length of the prefix, and translators ignore what follows it
it.each(['64:ff9b:1:a9fe:a9:fe00:1234:5678', '64:ff9b:1:00a9:fe:a9fe:1234:5678', '64:ff9b:1::7f:0:100:1234'])(
  'a local NAT64 address with something behind the IPv4 address is refused: %s',
  async (address) => {
    expect(await judge(address, advised)).toMatch(/169\.254\.169\.254|127\.0\.0\.1/);
  },
);

// adk-python#6486, Countly/countly-server#7959: carried in an address that says nothing of it
it.each([
  ['IPv4-compatible', '::169.254.169.254'],
  ['ISATAP below a public prefix', '2606:2800:220:1::5efe:a9fe:a9fe'],
  ['ISATAP with a global identifier', '2606:2800:220:1:200:5efe:127.0.0.1'],
])('an internal address is refused in one that is %s', async (_, address) => {
  expect(await judge(address, advised)).toMatch(/leads to (169\.254\.169\.254|127\.0\.0\.1),/);
  expect(await judge(address)).toMatch(/is not a public address|leads to/);
});

it.each(['::', '::1', 'fe80::1', 'fd00::1', 'ff02::1', 'fd00:ec2::254'])(
  '%s is refused as a target',
  async (address) => {
    expect(await judge(address)).toMatch(new RegExp(`${address}(: it)? is (not a public|a reserved)`));
  },
);

it.each(['2606:4700::6810:85e5', '2a00:1450:4001:800::200e', '93.184.215.14'])(
  '%s is public',
  async (address) => {
    expect(await judge(address)).toBe(address);
  },
);

// rommapp/romm#3675: such a network is where the delivery is made, so that it must arrive
it('a webhook is delivered to an address in a prefix, and one to its neighbour is not', async () => {
  const receiver = await startReceiver({ host: '127.0.0.2' });
  const shop = await openWebhookShop({
    engine: sqlite,
    env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32', SANDBOX: 'off' },
    overrides: {
      webhooks: { resolve: (name) => Promise.resolve([{ address: names[name] ?? '', family: 6 }]) },
    },
  });
  try {
    names['hooks.example'] = '::ffff:127.0.0.2';
    await shop.setEndpoint({ url: `http://hooks.example:${receiver.port}/`, secret: '' });
    await shop.publish(1);
    await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(1);
    receiver.answer = { status: 200, headers: { connection: 'close' } };
    names['other.example'] = '::ffff:127.0.0.1';
    await shop.setEndpoint({ url: `http://other.example:${receiver.port}/`, secret: '' });
    await shop.publish(1);
    const errors = async () =>
      (await shop.events({ status: 'pending' })).flatMap(({ tries }) => tries.map(({ error }) => error));
    await expect.poll(errors, { timeout: 5000 }).toEqual([expect.stringContaining('leads to 127.0.0.1')]);
    expect(receiver.received).toHaveLength(1);
  } finally {
    await shop.server.stop();
    await receiver.stop();
  }
});
