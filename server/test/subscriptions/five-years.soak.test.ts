/**
 * Five years of billing by the whole server, on both engines, compared with the oracle: every frequency from the ends
 * of months, with a clock that jumps, a server that is down for a while, and plans that are turned off and on.
 */
import { frequencies } from 'crypto-checkout/contract';
import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { roundsOf } from '../support/rounds.js';
import { startServer, type TestServer } from '../support/server.js';
import { chargedCycles, dueTimes, type TimelineEvent } from './oracle.js';
import { createFixture, cycleOf, type Fixture } from './fixture.js';

const years = 5;
/** When the customers subscribe to a plan of each frequency. */
const ends = [
  '2023-01-28T23:59:58.250Z',
  '2023-01-29T12:00:00.250Z',
  '2023-01-30T06:30:00.250Z',
  '2023-01-31T00:00:01.250Z',
];
const leapDay = '2024-02-29T18:00:00.250Z';
const start = Date.parse('2023-01-28T00:00:00.250Z');
const end = Date.parse('2028-03-31T00:00:00.250Z');

const hour = 3_600_000;
const day = 24 * hour;
/** The jumps of the clock: from less than an hour to several periods. */
const jumps = [hour / 2, hour, 5 * hour, day, day, 2 * day, 3 * day, 8 * day, 50 * day];

interface Subscription {
  readonly planId: string;
  readonly id: string;
  readonly times: string[];
  readonly numberOfTimesToCharge: number;
  readonly name: string;
  readonly timeline: TimelineEvent[];
  isOn: boolean;
}

/** Two lives in a soak, one on each engine. In `npm test` the first: billing asks nothing special of an engine. */
const cases = Array.from({ length: roundsOf({ usual: 1, soak: 2 }) }, (_, round) => {
  const engine = engines[round % engines.length] ?? engines[0];
  return engine ? [{ engine, name: engine.name, seed: 1 + round }] : [];
}).flat();

describe('five years of billing', () => {
  it.each(cases)(
    'five years of billing agree with the oracle on $name, seed $seed',
    { timeout: 240_000 },
    async ({ engine, seed }) => {
      const random = createRandom(seed);
      const { url: databaseUrl, dispose } = await engine.create();
      let realNow = start;
      const startAgain = () =>
        startServer({
          engine,
          databaseUrl,
          env: { PAYMENT_CHOOSE_SECONDS: '1000000000', BOOTSTRAP_SECRET_KEY: key },
          overrides: { realNow: () => realNow },
        });
      const key = `sk_test_${'k'.repeat(43)}`;
      let server: TestServer = await startAgain();
      let fixture: Fixture = createFixture(server, key);
      let now = start;
      const subscriptions: Subscription[] = [];
      let runs = 0;

      const record = (what: TimelineEvent['what'], to: readonly Subscription[]) => {
        const at = new Date(now).toISOString();
        for (const subscription of to) subscription.timeline.push({ at, what });
      };
      async function moveTo(time: number) {
        const seconds = Math.max(0, Math.round((time - now) / 1000));
        now += seconds * 1000;
        expect(Date.parse((await fixture.advance(seconds)).now)).toBe(now);
        record('run', subscriptions);
        runs += 1;
      }
      async function goDownUntil(time: number) {
        await server.stop();
        realNow += time - now;
        now = time;
        server = await startAgain();
        fixture = createFixture(server, key);
        await moveTo(now);
      }
      async function subscribeAll(anchor: string) {
        await moveTo(Date.parse(anchor));
        for (const frequency of frequencies) {
          const numberOfTimesToCharge = random() < 0.3 ? 1 + Math.floor(random() * 20) : 1_000_000;
          const planId = await fixture.createPlan({ frequency, numberOfTimesToCharge });
          const { id, createdAt } = await fixture.join(
            planId,
            `${frequency.replaceAll(' ', '-')}@example.com`,
          );
          expect(createdAt).toBe(anchor);
          subscriptions.push({
            planId,
            id,
            numberOfTimesToCharge,
            name: `${frequency} from ${anchor}, ${numberOfTimesToCharge} times`,
            times: dueTimes(anchor, frequency, years + 2),
            timeline: [{ at: anchor, what: 'run' }],
            isOn: true,
          });
        }
      }
      /** Turns one of the plans off or on. Half of the plans are never touched. */
      async function togglePlan() {
        const subscription = subscriptions[2 * Math.floor((random() * subscriptions.length) / 2)];
        if (!subscription) return;
        subscription.isOn = !subscription.isOn;
        await fixture.updatePlan(subscription.planId, { isActive: subscription.isOn });
        record(subscription.isOn ? 'on' : 'off', [subscription]);
      }
      /** The next due time of two subscribers picked at random. */
      function nextDue(): number {
        const text = new Date(now).toISOString();
        const picked = Array.from(
          { length: 2 },
          () => subscriptions[Math.floor(random() * subscriptions.length)]?.times ?? [],
        );
        return Math.min(...picked.map((times) => Date.parse(times.find((time) => time > text) ?? text)));
      }

      try {
        for (const anchor of ends) await subscribeAll(anchor);
        while (now < end) {
          const chance = random();
          const isBefore = now < Date.parse(leapDay);
          let target = now + (jumps[Math.floor(random() * jumps.length)] ?? 0);
          if (chance < 0.3) target = nextDue();
          else if (chance < 0.45) target = nextDue() - 1000;
          if (chance > 0.9) await togglePlan();
          const isOutage = chance > 0.47 && chance < 0.5;
          if (isOutage) target = now + Math.round(random() * 90) * day;
          if (isBefore && target > Date.parse(leapDay)) await subscribeAll(leapDay);
          else if (isOutage) await goDownUntil(target);
          else await moveTo(target);
        }

        const charged = await fixture.charged();
        let total = 0;
        for (const { id, name, times, timeline, numberOfTimesToCharge } of subscriptions) {
          const payments = charged.get(id) ?? [];
          const cycles = payments.map(cycleOf);
          expect(cycles, name).toEqual(chargedCycles(times, timeline, numberOfTimesToCharge));
          // Each was charged in its own period.
          for (const [index, { createdAt }] of payments.entries()) {
            const cycle = cycles[index] ?? 0;
            expect(createdAt >= (times[cycle] ?? '') && createdAt < (times[cycle + 1] ?? '')).toBe(true);
          }
          total += cycles.length;
        }
        expect(subscriptions).toHaveLength(35);
        expect(runs).toBeGreaterThan(100);
        expect(total).toBeGreaterThan(500);
      } finally {
        await server.stop();
        await dispose();
      }
    },
  );
});

/** Pseudo-random numbers from 0 to below 1, the same on every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
