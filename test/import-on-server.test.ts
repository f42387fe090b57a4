// @vitest-environment node
/** The widget can be imported on a server, where there is no window. */
import { expect, it } from 'vitest';

it('The widget can be imported without a window', async () => {
  expect(typeof window).toBe('undefined');
  const { CryptoCheckout, CheckoutEvent } = await import('../src/index.js');
  expect(CryptoCheckout.name).toBe('CryptoCheckout');
  expect(typeof CheckoutEvent).toBe('function');
  expect(typeof window).toBe('undefined');
});
