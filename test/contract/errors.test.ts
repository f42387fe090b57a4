/** docs/errors.md has an entry for every error code: first the API's closed list, in order, then the client's own codes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorStatus } from '../../src/contract/errors.js';
import { CheckoutError } from '../../src/errors.js';

interface Entry {
  readonly level: string;
  readonly code: string;
  readonly text: string;
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const entries: readonly Entry[] = read('docs/errors.md')
  .split(/^(?=##)/m)
  .slice(1)
  .map((part) => /^(?<level>#+) (?<code>.+)\n+(?<text>[^]*)$/.exec(part)?.groups)
  .map((groups) => ({ level: '', code: '', text: '', ...groups }));
const ofApi = entries.filter(({ level, text }) => level === '##' && text.startsWith('HTTP'));
const ofClient = entries.filter(({ level }) => level === '###');

const codesIn = (path: string, form: RegExp) =>
  [...read(path).matchAll(form)].map(([, ...codes]) => codes.join(''));

/** The codes that only the widget and the client use. */
const clientCodes = [
  ...codesIn('src/errors.ts', /code: '([a-z_]+)'/g),
  ...codesIn('src/checkout/controller.ts', /code: '([a-z_]+)'/g),
  ...codesIn('src/checkout/order-problems.ts', /code: '([a-z_]+)'/g),
  ...codesIn('src/client/verify-webhook.ts', /^ {2}(webhook_[a-z_]+):/gm),
];

it('docs/errors.md documents the API’s codes, in order', () => {
  expect(ofApi.map(({ code }) => code)).toEqual(Object.keys(errorStatus));
});

it('docs/errors.md gives each code of the API its HTTP status', () => {
  const documented = ofApi.map(({ code, text }) => [code, Number(/^HTTP (\d{3})[.,]/.exec(text)?.[1])]);
  expect(documented).toEqual(Object.entries(errorStatus));
});

it('docs/errors.md documents the codes of the widget and the client, and no others', () => {
  expect(ofClient.map(({ code }) => code)).toEqual(clientCodes);
  expect(clientCodes).not.toEqual([]);
  expect(entries).toHaveLength(ofApi.length + ofClient.length + 1);
});

it.each([...Object.keys(errorStatus), ...clientCodes])(
  'docs/errors.md has the anchor that the error %s links to',
  (code) => {
    const apiUrl = 'https://pay.example.com';
    const { docsUrl = '' } = new CheckoutError('', { code, remedy: '', apiUrl });
    const [page, anchor] = docsUrl.split('#');
    expect(page).toBe('https://pay.example.com/docs/errors');
    expect(entries.map((entry) => entry.code)).toContain(anchor);
  },
);

describe.each([...ofApi, ...ofClient])('$code', ({ text }) => {
  it('The entry explains what the code means, when it happens and what to do', () => {
    const prose = text.split('\n').filter((line) => line !== '');
    expect(prose.length).toBeGreaterThanOrEqual(3);
    expect(prose.filter((line) => line.startsWith('It happens'))).toHaveLength(1);
  });
});
