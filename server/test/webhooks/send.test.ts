/** The timeout of a webhook attempt. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createSender, type SenderOptions } from '../../src/core/webhooks/send.js';
import { createTargets } from '../../src/core/webhooks/targets.js';
import { startReceiver } from './receiver.js';

afterEach(() => vi.useRealTimers());

it.each<[title: string, options: Partial<SenderOptions>, seconds: number]>([
  ['15 seconds by default', {}, 15],
  ['as long as its option says', { timeoutMs: 3000 }, 3],
])('An attempt may take %s', async (_title, options, seconds) => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  receiver.answer = 'hang';
  const sender = createSender({
    targets: createTargets({ allowed: [], isForDevelopment: true }),
    ...options,
  });
  onTestFinished(() => sender.close());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let isOver = false;
  const outcome = sender
    .send(
      { url: receiver.url, mode: 'test', id: 'id', body: '{}', secrets: ['whsec_c2VjcmV0'], now: Date.now() },
      new AbortController().signal,
    )
    .finally(() => (isOver = true));
  // `expect.poll` would advance the fake clock.
  while (receiver.received.length === 0) await nextTurn();
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await outcome).toEqual({
    status: undefined,
    excerpt: '',
    error: `No response within ${seconds} seconds`,
    retryAfterSeconds: undefined,
    durationMs: seconds * 1000,
  });
});
