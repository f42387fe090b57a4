/** `webhooks test`: a signed sample of every event, and what the receiver answered. */
import { webhookEvent, webhookEventType } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { runCommandLine } from '../support/command-line.js';
import { startReceiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';

describe.each(enginesOfQuick)('webhooks test on $name', (engine) => {
  let shop: WebhookShop;
  beforeAll(async () => {
    shop = await openWebhookShop({ engine });
  });
  afterAll(() => shop.server.stop());

  async function startReceiving() {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.stop());
    const merchantId = await shop.merchant(receiver);
    const run = (...args: string[]) =>
      runCommandLine(shop.server.databaseUrl, ['webhooks', 'test', '--merchant', merchantId, ...args]);
    return { receiver, run };
  }

  it('`webhooks test` sends a valid, signed sample of each event type once, and stores none', async () => {
    const { receiver, run } = await startReceiving();
    receiver.answer = { status: 200, body: 'Thanks' };
    const { exitCode, stdout } = await run('--mode', 'test', '--json');
    expect(exitCode).toBe(0);
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual(
      [...webhookEventType.options].sort(),
    );
    for (const { event, isVerified } of receiver.received) {
      expect(isVerified).toBe(true);
      // As `verifyWebhook` returns it: parsing drops fields that the contract does not know.
      expect(webhookEvent.parse(event).data, event.type).toMatchObject({ mode: 'test', isSample: true });
      expect(JSON.stringify(event.data)).not.toContain('order-42');
    }
    const results = JSON.parse(stdout) as { type: string; status: number; response: string; error: null }[];
    expect(results.map(({ type }) => type)).toEqual(webhookEventType.options);
    for (const result of results)
      expect(result).toMatchObject({ status: 200, response: 'Thanks', error: null });
    expect(await shop.events()).toEqual([]);
  });

  it('`webhooks test` exits with 1 if one sample fails, and shows the answer', async () => {
    const { receiver, run } = await startReceiving();
    receiver.answer = ({ event }) =>
      event.type === 'transfer.failed' ? { status: 500, body: 'Unknown type' } : { status: 204 };
    const { exitCode, stdout } = await run('--mode', 'test');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}transfer\.failed {2}Returned HTTP 500 {2}\d+ ms {2}"Unknown type"$/m);
    expect(stdout.match(/^ok /gm)).toHaveLength(webhookEventType.options.length - 1);
  });

  it('`webhooks test` refuses a mode without a URL', async () => {
    const { run } = await startReceiving();
    const { exitCode, stderr } = await run('--mode', 'live');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The account has no active webhook URL in live mode');
  });
});
