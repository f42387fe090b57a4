/** The budget of requests: unused ones can be sent later, and who is over it waits its turn. */
import { expect, it } from 'vitest';
import { createRequestBudget } from '../../../src/modules/networks/rpc/request-budget.js';

const { signal } = new AbortController();

it('A minute’s requests can be sent at once, and no more however long nothing was sent', async () => {
  let now = 0;
  const budget = createRequestBudget(600, () => now);
  await budget.take(600, signal);
  expect(budget.left()).toBe(0);
  now += 1000;
  expect([budget.left(), budget.spare()]).toEqual([10, 0]);
  now += 3_600_000;
  expect([budget.left(), budget.spare()]).toEqual([600, 300]);
});

it('A request over the budget waits, and the next one longer', async () => {
  const now = 0;
  const budget = createRequestBudget(60_000, () => now);
  await budget.take(60_000, signal);
  const order: string[] = [];
  const startedAt = performance.now();
  await Promise.all([
    budget.take(30, signal).then(() => order.push('first')),
    budget.take(30, signal).then(() => order.push('second')),
  ]);
  expect(order).toEqual(['first', 'second']);
  expect(performance.now() - startedAt).toBeGreaterThan(50);
});

it('A request that waits can be stopped, and costs nothing then', async () => {
  const budget = createRequestBudget(5, () => 0);
  const stopping = new AbortController();
  const waiting = budget.take(10, stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toThrow('aborted');
  expect(budget.left()).toBe(5);
});
