/** Credentials in the URLs of nodes: a run in which nodes work and fail in every way, and nothing that it says holds one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick } from '../support/engines.js';
import { startProviderProxy, urlSecrets, type ProviderProxy } from '../support/provider-proxy.js';
import { startRealServer, type RealServer } from '../support/real-money.js';
import { startServer } from '../support/server.js';

const metricsToken = 'token-of-the-scraper';
const headerSecret = 'header-secret';
const environmentSecret = 'environment-secret';
const [user = '', password = ''] = urlSecrets;
/** Everything that must not be seen, as it is written and as it is sent. */
const secrets = [
  ...urlSecrets,
  headerSecret,
  environmentSecret,
  Buffer.from(`${user}:${password}`).toString('base64'),
];

let anvil: Anvil;
let proxy: ProviderProxy;

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.mine(3);
  proxy = await startProviderProxy(anvil.url);
});
afterAll(async () => {
  await proxy.close();
  await anvil.stop();
});

describe.each(enginesOfQuick)('credentials of nodes on $name', (engine) => {
  let server: RealServer;
  /** Everything that the server and its commands printed. */
  const printed: string[] = [];
  const say = (text: unknown) =>
    void printed.push(
      text instanceof Error ? `${text.stack}` : typeof text === 'string' ? text : JSON.stringify(text),
    );

  beforeAll(async () => {
    const unreachable = `http://${user}:${password}@127.0.0.1:49/${urlSecrets[2]}/{env:NODE_KEY}?key=${urlSecrets[3]}`;
    server = await startRealServer({
      engine,
      networks: {
        'evm-dev': {
          nodes: [proxy.url, unreachable],
          headers: { 'x-api-key': headerSecret },
          requestsPerMinute: 100_000,
        },
      },
      env: { METRICS_TOKEN: metricsToken, READY_CHAIN_LAG_SECONDS: '60', NODE_KEY: environmentSecret },
      log: pino({ level: 'trace' }, { write: say }),
    });
  });
  afterAll(() => server.stop());

  const scan = () => server.scan('evm-dev');
  async function scrape(): Promise<string> {
    const reply = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${metricsToken}` },
    });
    const text = await reply.text();
    say(text);
    return text;
  }
  async function ready(): Promise<string> {
    const text = await (await fetch(`${server.url}/readyz`)).text();
    say(text);
    return text;
  }
  async function run(line: string) {
    const progress: string[] = [];
    try {
      say(await runWith(commandContext(server, progress), line));
    } catch (error) {
      say(error);
    }
    say(progress);
  }

  /** Ways in which the node misbehaves. Some nodes, and the proxies before them, repeat what they were asked. */
  const echo = `no access for ${user}:${password} at /v2/${urlSecrets[2]}?key=${urlSecrets[3]} with ${headerSecret}`;
  const ways: readonly (readonly [string, ProviderProxy['respond'], ProviderProxy['change']])[] = [
    ['breaks the connection', (response) => (response.destroy(), true), undefined],
    ['refuses the key', (response) => (response.writeHead(401).end(echo), true), undefined],
    [
      'answers 429',
      (response) => (response.writeHead(429, { 'retry-after': '1' }).end(echo), true),
      undefined,
    ],
    ['redirects', (response) => (response.writeHead(302, { location: proxy.url }).end(), true), undefined],
    ['answers with a page', (response) => (response.end(`<html>${echo}`), true), undefined],
    ['answers with an error', undefined, () => new Error(echo)],
    ['answers with nonsense', undefined, () => ({ echo })],
    ['is on another chain', undefined, ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined)],
  ];

  it('Credentials of nodes are in no log line, metric, error, reply or command, whatever the nodes do', async () => {
    const payment = await server.lock('ETH', 'evm-dev');
    await anvil.send(payment.address, payment.amount);
    await anvil.mine(12);
    await scan();
    expect((await server.look(payment)).state).toBe('settled');
    await run('networks check');
    const metrics = await scrape();
    expect(metrics).toMatch(
      /checkout_node_requests_total\{mode="test",network="evm-dev",node="node 1"\} [1-9]/,
    );
    expect(metrics).toMatch(/checkout_node_in_use\{mode="test",network="evm-dev",node="node 1"\} 1/);
    expect(metrics).toMatch(/checkout_node_in_use\{mode="test",network="evm-dev",node="node 2"\} 0/);
    expect(metrics).toMatch(/checkout_network_requests_left\{mode="test",network="evm-dev"\} [1-9]/);
    await expect.poll(ready, { timeout: 15_000 }).toContain('"node":"node 1"');

    for (const [, respond, change] of ways) {
      proxy.respond = respond;
      proxy.change = change;
      // Past the pause after the way before.
      server.time.skewMs += 70_000;
      await scan().catch(say);
      await ready();
      await run('networks check');
      say((await server.api('PATCH', `/v1/payments/${await server.create()}/currency/set/ETH/evm-dev`)).body);
    }
    const failed = await scrape();
    expect(failed).toMatch(/checkout_node_failing\{mode="test",network="evm-dev",node="node 1"\} 1/);
    expect(failed).toMatch(
      /checkout_node_limited_total\{mode="test",network="evm-dev",node="node 1"\} [1-9]/,
    );
    await run('chains status');
    await run('chains rescan --network evm-dev --from 1');
    await run(`transfers settle ${payment.id} --tx-hash ${'ab'.repeat(32)}`);
    proxy.respond = undefined;
    proxy.change = undefined;

    const all = printed.join('\n');
    // The texts are those that we meant to check.
    for (const expected of ['Scanning failed', 'cannot be reached', 'HTTP 401', 'PROBLEM', '[hidden]']) {
      expect(all.includes(expected), expected).toBe(true);
    }
    for (const secret of secrets) expect(all.includes(secret), secret).toBe(false);
  });
});

it.each([
  ['no URL', `${urlSecrets[0]}:${urlSecrets[1]}@${urlSecrets[2]}`],
  ['another protocol', `ftp://${user}:${password}@127.0.0.1/${urlSecrets[2]}`],
])('A node with %s is refused at the start, without showing it', async (_, node) => {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const file = join(directory, 'networks.json');
  await writeFile(file, JSON.stringify({ networks: { 'evm-dev': { nodes: [node] } } }));
  const [engine] = enginesOfQuick;
  if (!engine) throw new Error('There is no engine');
  const error: unknown = await startServer({ engine, env: { NETWORKS_FILE: file } }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await rm(directory, { recursive: true });
  expect(String(error)).toContain('networks.evm-dev.nodes[0]');
  for (const secret of secrets) expect(String(error)).not.toContain(secret);
});
