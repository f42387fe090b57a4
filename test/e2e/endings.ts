/** Plays a payment on the demo page to its end: the page shows the true state, and so does the shop. */
import type { CheckoutStatus } from 'crypto-checkout';
import type { PaymentState } from 'crypto-checkout/contract';
import { expect, test } from 'vitest';
import type { SimulationName } from '../../demo/shop-client.js';
import { orderAt } from './checkout.js';
import { inspect, type Stage } from './stage.js';

export interface Ending {
  readonly title: string;
  readonly coin: readonly [coin: string, network?: string];
  /** The steps once the address is shown. */
  readonly steps: readonly (SimulationName | CheckoutStatus | 'cancel')[];
  readonly state: PaymentState;
  /** The page's text about it. */
  readonly sentence: RegExp;
  readonly delivers?: boolean;
}

export function testEndings(stage: Stage, endings: readonly Ending[]): void {
  test.each(endings)('$title: $state', async ({ coin, steps, state, sentence, delivers = false }) => {
    const page = await stage.page();
    const shop = await orderAt(stage.server.url, page);
    await shop.act();
    await shop.choose(...coin);
    for (const step of steps) {
      if (step === 'cancel') {
        await shop.part('cancel').click();
        await shop.part('confirm').click();
      } else if (isSimulation(step)) await shop.simulate(step);
      else await shop.reach(step);
    }
    await expect.poll(() => shop.sentence(), { timeout: 15_000 }).toMatch(sentence);
    expect(await newestState(stage)).toBe(state);
    expect(await shop.part('qr').count(), 'no QR code for an old address').toBe(0);
    expect(await shop.part('address').count()).toBe(0);
    await shop.verify();
    expect(await shop.verdict()).toMatch(delivers ? /^Deliver the order/ : /^Do not deliver/);
    await inspect(page, `demo-${state.replaceAll('_', '-')}`);
  });
}

function isSimulation(step: string): step is SimulationName {
  return ['exact', 'half', 'over', 'wrong', 'mine', 'reorg', 'deadline'].includes(step);
}

/** By the API: the state of the newest transaction, which is the order's. */
export async function newestState(stage: Stage): Promise<PaymentState | undefined> {
  const { data } = await stage.merchant.transactions.list({ query: { skip: 1 } });
  return data[0]?.state;
}
