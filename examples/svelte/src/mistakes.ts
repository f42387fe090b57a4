/** Mistakes that TypeScript must refuse. Without an error, `@ts-expect-error` is one. */
import type { SvelteHTMLElements } from 'svelte/elements';

type Tag = SvelteHTMLElements['crypto-checkout'];

export const right: Tag = { amount: '5', 'no-redirect': true, class: 'pay', messages: {} };

export const wrong: Tag[] = [
  // @ts-expect-error: amout
  { amout: 5 },
  // @ts-expect-error: there is no such theme
  { theme: 'purple' },
  // @ts-expect-error: the event has no order
  { 'oncheckout-success': ({ order }) => void order },
];
