/** What `/docs` says about parameters and verification is what the server and `verifyPayment` do. */
import { api, sandbox, type Endpoint } from 'crypto-checkout/contract';
import { expect, it } from 'vitest';
import { inputSchema, parametersOf } from '../../src/reference/parameters.js';
import { docsPage } from '../../src/site/docs-page.js';

const endpoints = [api, sandbox]
  .flatMap((table) => Object.values<Endpoint | Readonly<Record<string, Endpoint>>>(table))
  .flatMap((entry): Endpoint[] => ('method' in entry ? [entry as Endpoint] : Object.values(entry)));

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
  const page = docsPage('https://pay.example', { version: '1.0.0', integrity: {} }).text.replaceAll(
    /\s+/g,
    ' ',
  );
  expect(page).toContain('<code>amountReceived</code> is not less than <code>amount</code>');
  expect(page).toContain('not less than <code>baseAmount</code>');
  expect(page).not.toMatch(/amountReceived<\/code> equals/);
});
