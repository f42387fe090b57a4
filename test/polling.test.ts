/** When the server is asked again. */
import { describe, expect, it } from 'vitest';
import { ApiError, isTransient, NetworkError, ReplyError } from '../src/errors.js';
import { pollDelay } from '../src/polling.js';
import { ServerClock } from '../src/server-clock.js';

const apiError = (status: number, code: string) =>
  new ApiError('No', { code, status, remedy: '', requestId: '' });

describe('the wait before the next question', () => {
  it.each([
    { elapsedMs: 0, failures: 0, ms: 2_000 },
    { elapsedMs: 60_000, failures: 0, ms: 2_000 },
    { elapsedMs: 120_000, failures: 0, ms: 4_000 },
    { elapsedMs: 300_000, failures: 0, ms: 10_000 },
    { elapsedMs: 3_600_000, failures: 0, ms: 10_000 },
    { elapsedMs: 0, failures: 1, ms: 4_000 },
    { elapsedMs: 0, failures: 3, ms: 16_000 },
    { elapsedMs: 0, failures: 20, ms: 30_000 },
    { elapsedMs: 3_600_000, failures: 1, ms: 10_000 },
  ])(
    '$elapsedMs ms after a change and $failures failures is $ms ms, a tenth more or less',
    ({ ms, ...progress }) => {
      expect(pollDelay({ ...progress, random: 0.5 })).toBeCloseTo(ms);
      expect(pollDelay({ ...progress, random: 0 })).toBeCloseTo(ms * 0.9);
      expect(pollDelay({ ...progress, random: 1 })).toBeCloseTo(ms * 1.1);
    },
  );

  it('is never shorter than the server asked for', () => {
    expect(pollDelay({ elapsedMs: 0, failures: 1, retryAfterSeconds: 45, random: 0 })).toBe(45_000);
  });
});

it.each([
  [new NetworkError('Offline'), true],
  [apiError(429, 'rate_limited'), true],
  [apiError(503, 'rate_unavailable'), true],
  [apiError(409, 'idempotency_in_progress'), true],
  [apiError(409, 'duplicate_tx_ref'), false],
  [apiError(401, 'invalid_api_key'), false],
  [new ReplyError('Nonsense'), false],
  [new TypeError('A bug'), false],
])('$code is worth another try: %s', (error, expected) => {
  expect(isTransient(error)).toBe(expected);
});

describe('the server’s clock', () => {
  const serverTime = Date.UTC(2026, 0, 1);

  it('goes by the server, whatever the device’s clock says', () => {
    let elapsed = 500;
    const clock = new ServerClock(
      () => elapsed,
      () => serverTime - 86_400_000,
    );
    expect(clock.now()).toBe(serverTime - 86_400_000);
    clock.synchronize(serverTime);
    elapsed += 1_500;
    expect(clock.now()).toBe(serverTime + 1_500);
  });

  it('keeps the closest of samples that are cut to seconds, and follows a jump either way', () => {
    let elapsed = 0;
    const clock = new ServerClock(
      () => elapsed,
      () => 0,
    );
    clock.synchronize(serverTime);
    elapsed = 900;
    clock.synchronize(serverTime);
    expect(clock.now()).toBe(serverTime + 900);
    clock.synchronize(undefined);
    expect(clock.now()).toBe(serverTime + 900);
    clock.synchronize(serverTime + 1_800_000);
    expect(clock.now()).toBe(serverTime + 1_800_000);
    clock.synchronize(serverTime);
    expect(clock.now()).toBe(serverTime);
  });
});
