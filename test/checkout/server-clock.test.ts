/** The estimate of the server's time. */
import { expect, it } from 'vitest';
import { ServerClock } from '../../src/checkout/server-clock.js';

const serverTime = Date.UTC(2026, 0, 1);

it('follows the server, whatever the device’s clock says', () => {
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

it('keeps the best of several whole-second samples, and follows a jump in either direction', () => {
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
