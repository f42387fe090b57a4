/** A page that stays open for long: its memory stays flat, and an element that is removed leaves nothing behind. */
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { roundsOf } from '../../server/test/support/rounds.js';
import { checkoutOn } from './checkout.js';
import { openShop } from './shop-page.js';
import { useStage } from './stage.js';

// Without a compiler: its code for hot functions would count as memory of the page.
const stage = useStage({ blockIntervalMs: 0, needsWholeBrowser: true, jsFlags: '--jitless' });

/** The page's memory after releasing everything that can be released. */
async function measure(session: CDPSession) {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { usedSize, nodes, jsEventListeners };
}

/** Answers polls in the page as the server would, without its time: a thousand polls take seconds. */
async function answerPolls(page: Page): Promise<void> {
  await page.evaluate(() => {
    const real = globalThis.fetch;
    const counter = { polls: 0 };
    Object.assign(globalThis, { counter });
    let body: string | undefined;
    globalThis.fetch = async (input, init) => {
      if (typeof input !== 'string' || !input.endsWith('/verify/checkout')) return real(input, init);
      counter.polls += 1;
      body ??= await (await real(input, init)).text();
      return new Response(body, { headers: { Date: new Date().toUTCString() } });
    };
  });
}

/**
 * Advances the clock by one polling interval at a time, until the checkout has polled this often: the countdown is
 * rendered once for each.
 */
async function poll(page: Page, times: number): Promise<void> {
  for (;;) {
    for (let step = 0; step < 20; step += 1) await page.clock.fastForward(6000);
    const polls = await page.evaluate(
      () => (globalThis as unknown as { counter: { polls: number } }).counter.polls,
    );
    if (polls >= times) return;
  }
}

/** A soak, `SOAK=1 npm test -- memory`, takes minutes. */
const timeout = 900_000;

test('memory is flat over 1,000 polls', { timeout }, async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.clock.install();
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('time-log').waitFor();
  await answerPolls(page);
  const session = await page.context().newCDPSession(page);
  // Until then, the engine fills its own tables.
  const warmUp = 600;
  await poll(page, warmUp);
  const before = await measure(session);
  const polls = roundsOf({ usual: 1200, soak: 10_000 });
  await poll(page, polls);
  const after = await measure(session);
  expect(after.jsEventListeners).toBeLessThanOrEqual(before.jsEventListeners);
  expect(after.nodes).toBeLessThanOrEqual(before.nodes);
  // The smallest leak, a closure that a set holds, is 160 bytes.
  expect(after.usedSize - before.usedSize, 'bytes').toBeLessThan((polls - warmUp) * 20);
});

test(
  'an element that is removed leaves no listener, timer, channel, request or element behind',
  { timeout },
  async () => {
    const page = await stage.page();
    // Counts open resources. It has to be installed before the widget.
    await page.addInitScript(() => {
      const open = { timers: new Set<unknown>(), channels: new Set<unknown>(), locks: 0 };
      Object.assign(globalThis, { open });
      const { setTimeout, clearTimeout, setInterval, clearInterval, BroadcastChannel } = globalThis;
      Object.assign(globalThis, {
        setTimeout: (work: () => void, ms: number) => {
          const timer = setTimeout(() => {
            open.timers.delete(timer);
            work();
          }, ms);
          open.timers.add(timer);
          return timer;
        },
        setInterval: (work: () => void, ms: number) => {
          const timer = setInterval(work, ms);
          open.timers.add(timer);
          return timer;
        },
        clearTimeout: (timer: number) => {
          open.timers.delete(timer);
          clearTimeout(timer);
        },
        clearInterval: (timer: number) => {
          open.timers.delete(timer);
          clearInterval(timer);
        },
        BroadcastChannel: class extends BroadcastChannel {
          constructor(name: string) {
            super(name);
            open.channels.add(this);
          }
          override close() {
            open.channels.delete(this);
            super.close();
          }
        },
      });
    });
    await openShop(stage, page, '');
    await page.waitForFunction(() => customElements.get('crypto-checkout') !== undefined);
    const session = await page.context().newCDPSession(page);
    const { payment } = await stage.createLocked('USDT', 'tron');
    const checkout = checkoutOn(page);

    const visit = async () => {
      await page.evaluate(
        ({ id, key }) => {
          const element = document.createElement('crypto-checkout');
          element.setAttribute('payment-id', id);
          element.setAttribute('public-key', key);
          document.querySelector('main')?.append(element);
        },
        { id: payment.id, key: stage.server.publicKey },
      );
      await checkout.reach('awaiting-funds');
      await checkout.part('time-log').waitFor();
      // The notice about a copy is shown for some seconds, by a timer.
      await checkout.part('copy-amount').click();
      await checkout.part('notice').filter({ hasText: /./ }).waitFor();
      await page.evaluate(() => document.querySelector('crypto-checkout')?.remove());
      await page.waitForLoadState('networkidle');
    };
    const elements = async () => {
      const { result } = await session.send('Runtime.evaluate', {
        expression: "customElements.get('crypto-checkout').prototype",
      });
      const { objects } = await session.send('Runtime.queryObjects', {
        prototypeObjectId: result.objectId ?? '',
        objectGroup: 'elements',
      });
      const { result: count } = await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId ?? '',
        functionDeclaration: 'function () { return this.length; }',
        returnByValue: true,
      });
      await session.send('Runtime.releaseObjectGroup', { objectGroup: 'elements' });
      return Number(count.value);
    };
    const opened = () =>
      page.evaluate(async () => {
        const { open } = globalThis as unknown as { open: { timers: Set<unknown>; channels: Set<unknown> } };
        const { held = [], pending = [] } = await navigator.locks.query();
        return {
          timers: open.timers.size,
          channels: open.channels.size,
          locks: held.length + pending.length,
        };
      });

    // The first visit loads code, which stays.
    await visit();
    const before = await measure(session);
    const visits = roundsOf({ usual: 3, soak: 50 });
    for (let count = 0; count < visits; count += 1) await visit();
    const after = await measure(session);
    expect(await opened()).toEqual({ timers: 0, channels: 0, locks: 0 });
    expect(await elements(), 'elements that something still holds').toBe(0);
    expect(after.jsEventListeners).toBeLessThanOrEqual(before.jsEventListeners);
    expect(after.nodes).toBeLessThanOrEqual(before.nodes);
  },
);
