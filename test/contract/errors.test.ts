/** docs/errors.md has one entry for each error code: the API's closed list in order, then those that only widget and client know. */
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

const codesIn = (path: string, form: RegExp) => [...read(path).matchAll(form)].map(([, code = '']) => code);

/** What widget and client make themselves. */
const clientCodes = [
  ...codesIn('src/errors.ts', /code: '([a-z_]+)'/g),
  ...codesIn('src/checkout-controller.ts', /code: '([a-z_]+)'/g),
  ...codesIn('src/client/verify-webhook.ts', /^ {2}(webhook_[a-z_]+):/gm),
];

it('documents the closed list of codes', () => {
  expect(ofApi.map(({ code }) => code)).toEqual(Object.keys(errorStatus));
});

it('gives each code the status that the API answers with', () => {
  const documented = ofApi.map(({ code, text }) => [code, Number(/^HTTP (\d{3})[.,]/.exec(text)?.[1])]);
  expect(documented).toEqual(Object.entries(errorStatus));
});

it('documents the codes of widget and client, and nothing else', () => {
  expect(ofClient.map(({ code }) => code)).toEqual(clientCodes);
  expect(clientCodes).not.toEqual([]);
  expect(entries).toHaveLength(ofApi.length + ofClient.length + 1);
});

it.each([...Object.keys(errorStatus), ...clientCodes])(
  'has the anchor that the error %s links to',
  (code) => {
    const { docsUrl } = new CheckoutError('', { code, remedy: '' });
    const [path, anchor] = docsUrl.split('#');
    expect(path).toMatch(/(^|\/)docs\/errors\.md$/);
    expect(entries.map((entry) => entry.code)).toContain(anchor);
  },
);

describe.each([...ofApi, ...ofClient])('$code', ({ text }) => {
  it('says what it means, when it happens and what to do', () => {
    const prose = text.split('\n').filter((line) => line !== '');
    expect(prose.length).toBeGreaterThanOrEqual(3);
    expect(prose.filter((line) => line.startsWith('It happens'))).toHaveLength(1);
  });
});
