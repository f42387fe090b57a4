/** Texts of the steps before a shop goes live. */
import type { GoLiveStep } from '../../src/contract/console-go-live.js';
import { pick } from './pick.js';

const steps: Readonly<Record<GoLiveStep, string>> = {
  webhook: 'Set where events go, so that the shop learns of each payment',
  redirect_origins: 'Name the pages that payers may return to',
  support_url: 'Give payers a link to your help',
  fee: 'Decide on the service fee',
  public_key: 'Make a live key for your pages: without it, no payer sees a checkout',
  deposit_keys: 'Set where payers’ money arrives, on each network',
  treasury: 'Set the treasury that collects coins on EVM networks',
  live_network: 'Connect a network with real money',
  second_node: 'Give each network a second node, for when the first one fails',
  marker: 'Keep the marker that notices an old backup on another disk',
};

export const texts = pick({
  en: {
    title: 'Before you go live',
    done: (count: number, total: number) => `${count} of ${total} done`,
    isDone: 'Done',
    isOpen: 'To do',
    steps,
    operator: 'The server’s operator does this:',
    setting: 'The server’s operator sets this, as the guide “Going live” shows:',
  },
});
