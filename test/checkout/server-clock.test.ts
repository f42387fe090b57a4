/** The estimate of the server's time. */
import { expect, it } from 'vitest';
import { ServerClock } from '../../src/checkout/server-clock.js';

const serverTime = Date.UTC(2026, 0, 1);

/** A clock on a device whose own clock is wrong by `wrongMs`. */
function start({ wrongMs = 0 } = {}) {
  let [monotonic, device] = [500, serverTime + wrongMs];
  const clock = new ServerClock(
    () => monotonic,
    () => device,
  );
  return {
    clock,
    pass: (ms: number) => {
      monotonic += ms;
      device += ms;
    },
    sleep: (ms: number) => (device += ms),
    setDevice: (time: number) => (device = time),
  };
}

it.each([-86_400_000, 86_400_000])(
  'the server clock follows the server, though the device’s clock is wrong by %d ms',
  (wrongMs) => {
    const { clock, pass } = start({ wrongMs });
    expect(clock.now()).toBe(serverTime + wrongMs);
    clock.synchronize(serverTime, clock.now());
    pass(1_500);
    expect(clock.now()).toBe(serverTime + 1_500);
  },
);

it('the server clock keeps a time within the second of a reply, and follows a jump in either direction', () => {
  const { clock, pass } = start();
  pass(900);
  clock.synchronize(serverTime, clock.now());
  expect(clock.now()).toBe(serverTime + 900);
  clock.synchronize(undefined, clock.now());
  expect(clock.now()).toBe(serverTime + 900);
  clock.synchronize(serverTime + 1_800_000, clock.now());
  expect(clock.now()).toBe(serverTime + 1_800_000);
  clock.synchronize(serverTime, clock.now());
  expect(clock.now()).toBe(serverTime);
});

it('the server clock does not go back after a late reply', () => {
  const { clock, pass } = start();
  const sentAt = clock.now();
  pass(20_000);
  clock.synchronize(serverTime, sentAt);
  expect(clock.now()).toBe(serverTime + 20_000);
});

it('the server clock counts the time that the device was asleep', () => {
  const { clock, pass, sleep } = start();
  clock.synchronize(serverTime, clock.now());
  pass(1_000);
  sleep(300_000);
  expect(clock.now()).toBe(serverTime + 301_000);
});

it('the server clock is right with the next reply after the device’s clock was set, and never goes back with it', () => {
  const { clock, pass, setDevice } = start({ wrongMs: -86_400_000 });
  clock.synchronize(serverTime, clock.now());
  setDevice(serverTime);
  clock.synchronize(serverTime + 1_000, clock.now());
  expect(clock.now()).toBe(serverTime + 1_000);
  setDevice(0);
  pass(2_000);
  expect(clock.now()).toBe(serverTime + 3_000);
});
