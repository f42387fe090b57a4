/** The admin's part of an order's page, as React gets it from the plug-in. */
import { expect, it } from 'vitest';
import admin from '../src/admin/index.mjs';

const [widget] = admin.widgetModule.widgets;
const shown = (metadata: Record<string, unknown> | null) =>
  JSON.stringify(widget?.Component({ data: { metadata } }));

it('the widget shows the payment and refunds of an order in words, with a link to the console', () => {
  const page = 'https://pay.example.com/console/live/payments/01J9';
  const text = shown({ crypto_payment: 'Paid.', crypto_refund: '1 USDT wait.', crypto_console: page });
  expect(text).toContain('"Paid."');
  expect(text).toContain('"Refunds: 1 USDT wait."');
  expect(text).toContain(`"href":"${page}"`);
  expect(shown({ crypto_payment: 'Paid.' })).not.toContain('Refunds');
});

it('the widget shows nothing for another payment, and makes no link from a javascript: URL', () => {
  expect(shown(null)).toBe('null');
  expect(shown({ crypto_payment: 7 })).toBe('null');
  expect(shown({ crypto_payment: 'Paid.', crypto_console: 'javascript:alert(1)' })).not.toContain('href');
});
