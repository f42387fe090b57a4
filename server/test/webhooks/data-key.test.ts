/** Webhook secrets under a data key: unreadable in the database, signing as before, and moved to another key by command. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/core/config.js';
import { parseDataKeys } from '../../src/core/shared/data-keys.js';
import { createEndpoints } from '../../src/core/webhooks/endpoints.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { startReceiver, type Receiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';

const newKey = () => randomBytes(32).toString('base64');

it.each([
  ['what every user can read', newKey(), 0o644, /every user of this machine can read.*chmod 600/],
  ['something that is no key', 'hunter2', 0o600, /line 1 is not a key of 32 bytes in base64\. Make one with/],
  ['a second line that is no key', `${newKey()}\nhunter2`, 0o600, /line 2 is not a key/],
  ['nothing', '\n', 0o600, /it has no key/],
])('A file with %s is refused in one sentence that shows nothing of it', async (_, text, mode, reason) => {
  const directory = await mkdtemp(join(tmpdir(), 'data-key-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  // A temporary folder is closed to others, which would make the file's own mode irrelevant.
  await chmod(directory, 0o755);
  const file = join(directory, 'data.key');
  await writeFile(file, text);
  await chmod(file, mode);
  const read = () => readConfig({ DATA_KEY_FILE: file });
  expect(read).toThrow(/^DATA_KEY_FILE: [^\n]*$/);
  expect(read).toThrow(reason);
  expect(read).not.toThrow(/hunter2/);
});

describe('a data key', () => {
  const place = 'webhook_endpoints.secret of one/live';
  const keys = parseDataKeys(newKey());

  it('A key seals the same text differently each time, and opens it only in its place', () => {
    const sealed = [keys.seal('whsec_x', place), keys.seal('whsec_x', place)];
    expect(new Set(sealed).size).toBe(2);
    for (const one of sealed) expect(keys.open(one, place)).toBe('whsec_x');
    expect(() => keys.open(sealed[0] ?? '', 'webhook_endpoints.secret of other/live')).toThrow(
      'a value of webhook_endpoints.secret of other/live was changed past the server',
    );
  });

  it('A data key opens nothing that was changed, and nothing that another key sealed', () => {
    const sealed = keys.seal('whsec_x', place);
    const changed = sealed.slice(0, -3) + (sealed.at(-3) === 'A' ? 'B' : 'A') + sealed.slice(-2);
    expect(() => keys.open(changed, place)).toThrow('changed past the server');
    expect(() => keys.open(sealed.slice(0, 30), place)).toThrow();
    expect(() => parseDataKeys(newKey()).open(sealed, place)).toThrow(/the key [0-9a-f]{8} is missing/);
  });
});

describe.each(enginesOfQuick)('webhook secrets on $name', (engine) => {
  let directory: string;
  let file: string;
  let database: TestDatabase;
  let receiver: Receiver;
  let shop: WebhookShop | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'data-key-'));
    file = join(directory, 'data.key');
    database = await engine.create();
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await stop();
    await receiver.stop();
    await database.dispose();
    await rm(directory, { recursive: true });
  });

  async function stop(): Promise<void> {
    await shop?.server.stop();
    shop = undefined;
  }

  /** Restarts the server. @param keys of its file; undefined: without one */
  async function start(keys: readonly string[] | undefined): Promise<WebhookShop> {
    await stop();
    if (keys) await writeFile(file, keys.join('\n'), { mode: 0o600 });
    const env = keys ? { DATA_KEY_FILE: file } : {};
    return (shop = await openWebhookShop({ engine, databaseUrl: database.url, env }));
  }

  const rows = (from: WebhookShop) =>
    from.server.database.reader
      .selectFrom('webhook_endpoints')
      .select(['secret', 'former_secrets'])
      .execute();

  const rotate = () => runCommandLine(database.url, ['data-key', 'rotate'], { DATA_KEY_FILE: file });

  async function expectDelivery(from: WebhookShop): Promise<void> {
    const before = receiver.received.length;
    await from.publish(1);
    await expect
      .poll(() => receiver.received.slice(before), { timeout: 10_000 })
      .toMatchObject([{ isVerified: true }]);
  }

  it('A rotation encrypts webhook secrets or moves them to another key, and they still sign', async () => {
    const [first, second] = [newKey(), newKey()];
    // Today's way: in plain text.
    await (await start(undefined)).setEndpoint(receiver);
    let running = await start([first]);
    expect((await rotate()).stdout).toContain('The secrets of 1 endpoint and');
    expect(JSON.stringify(await rows(running))).not.toContain('whsec_');
    await expectDelivery(running);
    const previous = receiver.secret;
    receiver.secret = await running.rotateSecret();
    await expectDelivery(running);
    receiver.secret = previous;
    await expectDelivery(running);
    expect(JSON.stringify(await rows(running))).not.toContain('whsec_');

    running = await start([second, first]);
    await expectDelivery(running);
    expect((await rotate()).exitCode).toBe(0);
    expect((await rotate()).stdout).toContain(
      "The secrets of 0 endpoints and 0 values of payers' data were not before",
    );
    running = await start([second]);
    await expectDelivery(running);

    const missing = /^DATA_KEY_FILE: values in the database are encrypted with the key [0-9a-f]{8}, and /;
    await expect(start([first])).rejects.toThrow(missing);
    await expect(start([first])).rejects.toThrow('it does not have that key');
    await expect(start(undefined)).rejects.toThrow('it is not set');
    const command = await runCommandLine(database.url, ['webhooks', 'list']);
    expect(command.exitCode).toBe(1);
    expect(command.stderr).toMatch(/DATA_KEY_FILE: .* it is not set/);
  });

  it('Secrets of new endpoints are never in plain text, and an interrupted rotation continues', async () => {
    const [first, second] = [newKey(), newKey()];
    const running = await start([first]);
    await running.setEndpoint(receiver);
    await running.merchant(receiver);
    await running.merchant(receiver);
    expect(JSON.stringify(await rows(running))).not.toContain('whsec_');
    const { server } = running;
    const keys = parseDataKeys([second, first].join('\n'));
    const endpoints = createEndpoints(server.app.clock, { check: () => undefined }, keys);
    const interrupted = endpoints.rotateDataKey(server.database, () => {
      throw new Error('killed');
    });
    await expect(interrupted).rejects.toThrow('killed');
    expect(await endpoints.rotateDataKey(server.database, () => undefined)).toBe(2);
    const ofSecond = parseDataKeys(second);
    for (const row of await rows(running)) {
      for (const value of Object.values(row)) expect(ofSecond.isCurrent(value)).toBe(true);
    }
  });
});
