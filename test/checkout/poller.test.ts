/** The delay between polls. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Poller, pollDelayMs } from '../../src/checkout/poller.js';
import { ApiError, NetworkError } from '../../src/errors.js';

describe('the delay before the next poll', () => {
  it.each([
    { elapsedMs: 0, failures: 0, delayMs: 2_000 },
    { elapsedMs: 60_000, failures: 0, delayMs: 2_000 },
    { elapsedMs: 120_000, failures: 0, delayMs: 4_000 },
    { elapsedMs: 300_000, failures: 0, delayMs: 10_000 },
    { elapsedMs: 3_600_000, failures: 0, delayMs: 10_000 },
    { elapsedMs: 0, failures: 1, delayMs: 4_000 },
    { elapsedMs: 0, failures: 3, delayMs: 16_000 },
    { elapsedMs: 0, failures: 20, delayMs: 30_000 },
    { elapsedMs: 3_600_000, failures: 1, delayMs: 10_000 },
  ])(
    'The next poll waits $delayMs ms ± 10 %, $elapsedMs ms after a change and $failures failures',
    ({ delayMs, ...progress }) => {
      expect(pollDelayMs({ ...progress, random: 0.5 })).toBeCloseTo(delayMs);
      expect(pollDelayMs({ ...progress, random: 0 })).toBeCloseTo(delayMs * 0.9);
      expect(pollDelayMs({ ...progress, random: 1 })).toBeCloseTo(delayMs * 1.1);
    },
  );
});

it('A wait that the server asked for ends on time, also if its timer ends a bit too early', async () => {
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let now = 0;
  vi.stubGlobal('performance', { now: () => now });
  vi.stubGlobal('document', { hidden: false });
  const poller = new Poller();
  const details = { code: 'rate_limited', status: 429, requestId: 'r', remedy: 'Wait' } as const;
  poller.respectRetryAfter(new ApiError('Busy', { ...details, retryAfterSeconds: 3 }));
  let isOver = false;
  const wait = poller.wait(0, new AbortController().signal).then(() => (isOver = true));
  now = 2999.1;
  await vi.advanceTimersByTimeAsync(3000);
  expect(isOver).toBe(false);
  now = 3000.1;
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
  await wait;
});

it('A call for a payment that exists is retried until it succeeds, at most 30 s ± 10 % apart, and an abort ends it', async () => {
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('document', { hidden: false });
  const times: number[] = [];
  let lost = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const call = () => {
    signal.throwIfAborted();
    times.push(performance.now());
    return Promise.reject(new NetworkError('Offline'));
  };
  const outcome = new Poller().retry(call, signal, () => (lost += 1)).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps.length).toBeGreaterThan(17);
  expect(Math.max(...gaps)).toBeLessThan(33_100);
  expect(gaps[0]).toBeLessThan(2_300);
  expect(lost).toBe(times.length);
  const tried = times.length;
  controller.abort();
  expect(await outcome).toMatchObject({ name: 'AbortError' });
  expect(times).toHaveLength(tried);
});
