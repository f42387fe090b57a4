/** The files of an operator: the message says where the mistake is, and quotes nothing of the text. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseOperatorJson, readOperatorFile } from '../src/core/operator-file.js';

const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-file-'));
afterAll(() => rm(directory, { recursive: true }));

describe('JSON of an operator', () => {
  it('JSON of an operator is parsed', () => {
    expect(parseOperatorJson(' {"a": [1, "2", true]}\n')).toEqual({ a: [1, '2', true] });
  });

  it.each([
    ['{"networks": {\n  "polygon": {},\n}}', 'line 3, column 1: remove the comma before this bracket'],
    ['{"nodes": ["secret", ]}', 'line 1, column 22: remove the comma before this bracket'],
    ['{"nodes": ["secret"}', 'line 1, column 20: a comma is expected'],
    ['{"a": 1 "secret": 2}', 'line 1, column 9: a comma is expected'],
    ['{a: 1}', 'line 1, column 2: names and strings need double quotes'],
    ["{'a': 1}", 'line 1, column 2: names and strings need double quotes'],
    ['{"a": secret}', 'line 1, column 7: names and strings need double quotes'],
    ['{"a" 1}', 'line 1, column 6: a colon is expected'],
    ['// secret\n{}', 'line 1, column 1: JSON has no comments'],
    ['{"a": "secret', 'line 1, column 7: the string has no end'],
    ['{} secret', 'line 1, column 4: names and strings need double quotes'],
    ['{} {}', 'line 1, column 4: nothing more is expected'],
    ['', 'line 1, column 1: a value is expected'],
  ])('%j is refused', (text, message) => {
    expect(() => parseOperatorJson(text)).toThrow(new Error(message));
    expect(message).not.toContain('secret');
  });

  it('parsing takes a time that grows with the length of the text', () => {
    const long = `${'['.repeat(200)}${' '.repeat(1_000_000)}]`;
    expect(() => parseOperatorJson(long)).toThrow(/column/);
  });
});

it('a file that is missing is named as missing', () => {
  expect(() => readOperatorFile(join(directory, 'none'))).toThrow(
    'the file cannot be read: it does not exist',
  );
});
