/** Whatever a node or the network stack says, no part of a node's URL that could be a credential is passed on. */
import { describe, expect, it } from 'vitest';
import { readNodeUrl } from '../../../src/modules/networks/rpc/node-url.js';

describe('A node URL', () => {
  it.each([
    {
      url: 'https://mainnet.infura.io/v3/0123456789abcdef0123456789abcdef',
      secrets: ['0123456789abcdef0123456789abcdef'],
    },
    { url: 'https://user:pass%2Fword@node.example.com/rpc', secrets: ['pass%2Fword', 'pass/word', 'user'] },
    { url: 'https://go.getblock.io/?token=4f1c9a', secrets: ['4f1c9a'] },
    {
      url: 'https://some-account.quiknode.pro/aabbccddeeff00112233/',
      secrets: ['aabbccddeeff00112233', 'some-account.quiknode.pro'],
    },
    { url: 'http://10.1.2.3:8545', secrets: ['10.1.2.3'] },
  ])('$url is hidden in messages', ({ url, secrets }) => {
    const { redact } = readNodeUrl(url);
    const { href, host, pathname, search, username, password } = new URL(url);
    const message = [url, href, host, pathname, search, username, password, ...secrets].join(' | ');
    const shown = redact(`connect ECONNREFUSED ${message}`);
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    expect(shown).toContain('connect ECONNREFUSED [hidden]');
  });

  it('User and password of a node URL are sent as a header, which is hidden as well', () => {
    const { url, headers, redact } = readNodeUrl('https://user:p%40ss@node.example.com/', {
      'x-key': 'abcdef',
    });
    expect(url).toBe('https://node.example.com/');
    expect(headers).toEqual({
      'x-key': 'abcdef',
      authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    });
    expect(redact(JSON.stringify(headers))).not.toMatch(/abcdef|dXNlcjpwQHNz/);
  });

  it.each(['', 'node.example.com', 'ws://secret@node', 'https://', 'file:///secret'])(
    'An invalid node URL is refused without being shown: "%s"',
    (text) => {
      expect(() => readNodeUrl(text)).toThrow('A node needs a URL that starts with https:// or http://');
    },
  );
});
