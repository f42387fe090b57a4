/** Billing of live subscriptions on a server whose clock jumps forward: by mistake, or because it was stopped. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBilling } from '../../src/core/subscriptions/billing.js';
import { clockAt } from '../support/clock.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { createFixture } from './fixture.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe.each(enginesOfQuick)('a clock that jumps, on $name', (engine) => {
  let server: TestServer;
  let dueAt = 0;
  beforeAll(async () => {
    server = await startServer({ engine });
    const fixture = createFixture(server);
    const { createdAt } = await fixture.join(await fixture.createPlan({ frequency: 'weekly' }));
    dueAt = Date.parse(createdAt) + 7 * dayMs;
    await server.database.write((transaction) =>
      transaction.updateTable('subscribers').set({ mode: 'live' }).execute(),
    );
  });
  afterAll(() => server.stop());

  /** Billing with clocks that the test moves; it counts charges, and charges nobody. */
  function openBilling() {
    const state = { real: dueAt - 60 * minuteMs, monotonic: 0, charges: 0 };
    const charge = () => {
      state.charges += 1;
      // The transaction of a failed charge is rolled back: the next run finds the subscriber due again.
      return Promise.reject(new Error('Counted'));
    };
    const billing = createBilling(
      { ...server.app, clock: clockAt(() => state.real), log: pino({ level: 'silent' }) },
      { charge },
      () => state.monotonic,
    );
    const pass = (ms: number) => {
      state.real += ms;
      state.monotonic += ms;
    };
    return {
      state,
      pass,
      async run() {
        await server.database.write((transaction) =>
          transaction.updateTable('subscribers').set({ charge_at: dueAt }).execute(),
        );
        const before = state.charges;
        await billing.run(new AbortController().signal);
        return state.charges - before;
      },
    };
  }

  it('billing charges a cycle at once if it becomes due in time', async () => {
    const { pass, run } = openBilling();
    expect(await run()).toBe(0);
    for (let minutes = 0; minutes < 60; minutes += 5) {
      expect(await run()).toBe(0);
      pass(5 * minuteMs);
    }
    expect(await run()).toBe(1);
  });

  it('billing charges nothing by a clock that is a year ahead for five minutes', async () => {
    const { state, pass, run } = openBilling();
    expect(await run()).toBe(0);
    state.real += 365 * dayMs;
    for (let minute = 0; minute < 5; minute += 1) {
      expect(await run()).toBe(0);
      pass(minuteMs);
    }
    state.real -= 365 * dayMs;
    expect(await run()).toBe(0);
    pass(60 * minuteMs);
    expect(await run()).toBe(1);
  });

  it('billing charges by a new time once the clock has kept it for ten minutes, as after a standstill', async () => {
    const { state, pass, run } = openBilling();
    expect(await run()).toBe(0);
    state.real += dayMs;
    expect(await run()).toBe(0);
    pass(9 * minuteMs);
    expect(await run()).toBe(0);
    pass(2 * minuteMs);
    expect(await run()).toBe(1);
  });
});
