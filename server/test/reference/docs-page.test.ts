/** What `/docs` says about parameters and verification is what the server and `verifyPayment` do. */
import { api, sandbox, type Endpoint } from 'crypto-checkout/contract';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { widgetReference } from '../../src/site/docs-guide.js';
import { inputSchema, parametersOf } from '../../src/reference/parameters.js';
import { docsPage } from '../../src/site/docs-page.js';

const endpoints = [api, sandbox]
  .flatMap((table) => Object.values<Endpoint | Readonly<Record<string, Endpoint>>>(table))
  .flatMap((entry): Endpoint[] => ('method' in entry ? [entry as Endpoint] : Object.values(entry)));

/** Values of the element's `status`. */
const paymentStates = [
  'idle',
  'creating',
  'choosing-currency',
  'choosing-network',
  'quoted',
  'locking',
  'awaiting-funds',
  'partially-paid',
  'confirming',
  'success',
  'error',
  'expired',
  'cancelled',
];

const reference = widgetReference.parse(
  JSON.parse(readFileSync(new URL('../../data/widget.json', import.meta.url), 'utf8')),
);
const pageText = () =>
  docsPage('https://pay.example', { version: '1.0.0', integrity: {} }, reference).text.replaceAll(
    /\s+/g,
    ' ',
  );

it('names every attribute, property, method, event, slot, part, token and state of the widget, and what it says', () => {
  const page = pageText();
  const { states, speech, ...entries } = reference;
  const lists = Object.values(entries);
  expect(lists.map((list) => list.length)).toEqual([22, 4, 5, 12, 5, 76, 10]);
  for (const [name] of lists.flat()) expect(page).toContain(`<code>${name}</code>`);
  expect(states).toHaveLength(11);
  expect(speech.length).toBeGreaterThan(20);
  for (const status of paymentStates) expect(page).toContain(`<code>${status}</code>`);
  expect(page).toContain('Send exactly 49.90 USDT on Tron before 12:41 PM.');
});

it.each([
  ['/sandbox/blocks', 'count', 'integer'],
  ['/sandbox/reorgs', 'depth', 'integer'],
  ['/sandbox/reorgs', 'keep', 'boolean'],
  ['/sandbox/clock', 'advanceSeconds', 'integer'],
  ['/sandbox/transfers', 'amount', 'number'],
  ['/v1/transactions', 'page', 'integer'],
])('%s takes %s as %s', (path, name, type) => {
  const endpoint = endpoints.find((one) => one.path === path);
  const parameter = endpoint && parametersOf(endpoint).find((one) => one.name === name);
  expect(parameter?.type).toBe(type);
});

it('no parameter that takes a number is called text', () => {
  const wrong = endpoints.flatMap((endpoint) =>
    parametersOf(endpoint)
      .filter(({ name, place, type }) => {
        const schema = place === 'body' ? endpoint.body : endpoint.query;
        const field = schema && inputSchema(schema).properties?.[name];
        return type === 'text' && /"type":"(number|integer)"/.test(JSON.stringify(field ?? {}));
      })
      .map(({ name }) => `${endpoint.path} ${name}`),
  );
  expect(wrong).toEqual([]);
});

it('the guide verifies amounts as verifyPayment does: what arrived must cover what was due', () => {
  const page = pageText();
  expect(page).toContain('<code>amountReceived</code> is not less than <code>amount</code>');
  expect(page).toContain('not less than <code>baseAmount</code>');
  expect(page).not.toMatch(/amountReceived<\/code> equals/);
});
