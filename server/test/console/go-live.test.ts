/** The steps before a shop goes live: which there are, when they are done, and who sees them. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { sqlite } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const path = '/console/api/go-live';

async function stepsOf(browser: TestBrowser, mode = 'test'): Promise<Record<string, boolean>> {
  const { status, body } = await browser.send('GET', path, { headers: { 'X-Checkout-Mode': mode } });
  expect(status).toBe(200);
  expect(body.data['mode']).toBe(mode);
  const steps = body.data['steps'] as { code: string; isDone: boolean }[];
  return Object.fromEntries(steps.map(({ code, isDone }) => [code, isDone]));
}

describe('On a server to try things out', () => {
  let server: TestServer;
  let owner: TestBrowser;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
    owner = await signIn(server, 'owner');
  });
  afterAll(() => server.stop());

  it('each step is done by what the shop sets, in its own mode', async () => {
    const open = { webhook: false, redirect_origins: false, support_url: false, fee: false };
    const { live_network: isLive, ...own } = await stepsOf(owner);
    expect(own).toEqual(open);
    expect(isLive).toBe(false);
    const shop = { supportUrl: 'mailto:help@shop.example', redirectOrigins: ['https://shop.example'] };
    await owner.send('PATCH', '/console/api/shop', { body: shop });
    await owner.send('PATCH', '/console/api/webhook', { body: { url: 'https://shop.example/hooks' } });
    const done = { webhook: true, redirect_origins: true, support_url: true, fee: false };
    expect(await stepsOf(owner)).toMatchObject(done);
    expect((await stepsOf(owner, 'live'))['webhook']).toBe(false);
    await owner.send('PATCH', '/console/api/webhook', { body: { url: '' } });
    expect((await stepsOf(owner))['webhook']).toBe(false);
  });

  it('a fee is decided on once somebody has set it, even to what a new account has', async () => {
    const set = (fee: number) =>
      runWith(
        commandContext(server),
        `merchants update ${server.bootstrapped.merchantId} --fee-basis-points ${fee}`,
      );
    await set(0);
    expect((await stepsOf(owner))['fee']).toBe(true);
    await set(100);
    expect((await stepsOf(owner))['fee']).toBe(true);
  });

  it('the steps are for owners and managers, and only with a session', async () => {
    for (const [role, status] of [
      ['manager', 200],
      ['support', 403],
      ['accountant', 403],
    ] as const satisfies (readonly [Role, number])[])
      expect((await (await signIn(server, role)).send('GET', path)).status, role).toBe(status);
    expect((await openBrowser(server.url).send('GET', path)).status).toBe(401);
  });
});

describe('With networks that have real money', () => {
  let server: TestServer;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-steps-'));
    const file = join(folder, 'networks.json');
    const nodes = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
    await writeFile(
      file,
      JSON.stringify({ networks: { ethereum: { nodes }, tron: { nodes: nodes.slice(1) } } }),
    );
    await chmod(file, 0o600);
    const env = { NETWORKS_FILE: file, PUBLIC_URL: 'https://pay.example.com', MARKER_DIRECTORY: folder };
    server = await startServer({ engine: sqlite, env });
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('the networks, the treasury and the marker add their steps', async () => {
    const owner = await signIn(server, 'owner');
    expect(await stepsOf(owner, 'live')).toMatchObject({
      live_network: true,
      second_node: false,
      marker: true,
      deposit_keys: false,
      treasury: false,
      public_key: false,
    });
    // A wallet that has the keys of its addresses needs no treasury.
    const xpub =
      'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';
    const { merchantId } = server.bootstrapped;
    await runWith(commandContext(server), `keys create --merchant ${merchantId} --kind public --mode live`);
    expect((await stepsOf(owner, 'live'))['public_key']).toBe(true);
    await runWith(
      commandContext(server),
      `deposit-keys set --merchant ${merchantId} --mode live --family evm --xpub ${xpub} --yes`,
    );
    await server.app.depositKeys.refresh();
    const { treasury, deposit_keys: areSet } = await stepsOf(owner, 'live');
    expect([treasury, areSet]).toEqual([undefined, false]);
  });
});
