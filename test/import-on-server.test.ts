// @vitest-environment node
/** A server may import the widget: there is no window, and nothing is asked of one. */
import { expect, it } from 'vitest';

it('imports without a window, and names its element', async () => {
  expect(typeof window).toBe('undefined');
  const { CryptoCheckout, CheckoutEvent } = await import('../src/index.js');
  expect(CryptoCheckout.name).toBe('CryptoCheckout');
  expect(typeof CheckoutEvent).toBe('function');
  expect(typeof window).toBe('undefined');
});
