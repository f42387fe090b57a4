/** Providers of nodes: a statement that one provider makes twice is one opinion. */
import { describe, expect, it } from 'vitest';
import { createNodePool } from '../../../src/modules/networks/rpc/node-pool.js';
import { countProviders, doubtProviders } from '../../../src/modules/networks/rpc/providers.js';

const { signal } = new AbortController();

describe('Doubts about providers', () => {
  it.each([
    [['https://a.example.com', 'https://b.example.com'], 'of the same domain as that of node 1'],
    [['https://a.example.co.uk', 'https://b.example.co.uk'], 'of the same domain as that of node 1'],
    [['https://rpc.example.com/1', 'https://rpc.example.com/2'], 'at the same host as node 1'],
    [['https://rpc.example.com', 'https://8.8.8.8'], 'an address in place of a name'],
    [['https://rpc.example.com', 'https://[2001:4860:4860::8888]'], 'an address in place of a name'],
  ])('%s', (urls, text) => {
    const doubts = doubtProviders(urls);
    expect(doubts).toHaveLength(1);
    expect(doubts[0]).toMatchObject({ node: 'node 2', text: expect.stringContaining(text) as string });
    expect(JSON.stringify(doubts)).not.toContain('example');
  });

  it.each([
    [['https://rpc.example.com']],
    [['https://8.8.8.8']],
    [['https://rpc.example.com', 'https://rpc.example.org']],
    [['https://one.co.uk', 'https://two.co.uk']],
    [['http://127.0.0.1:8545', 'http://127.0.0.1:8546']],
    [['http://192.168.1.2:8545', 'https://rpc.example.com']],
  ])('There are no doubts about %s', (urls) => {
    expect(doubtProviders(urls)).toEqual([]);
    expect(countProviders(urls)).toBe(urls.length);
  });
});

it('A second opinion is never asked of another node of the same provider, unless there is no other', async () => {
  const openPool = (nodes: readonly string[]) =>
    createNodePool({
      network: 'base',
      nodes,
      open: (node) => node,
      verify: () => Promise.resolve(),
    });
  const asked = (pool: ReturnType<typeof openPool>) =>
    pool.run((node) => Promise.resolve(node.name), signal, 'node 2');
  const [one, same, other] = [
    'https://rpc.example.com/1',
    'https://rpc.example.com/2',
    'https://rpc.example.org',
  ];
  expect(await asked(openPool([one, same, other]))).toBe('node 3');
  expect(await asked(openPool([one, same]))).toBe('node 1');
  const pool = openPool([one, same, other]);
  expect(await pool.each((node) => Promise.resolve(pool.providerOf(node.name)), signal)).toEqual([
    'node 1',
    'node 1',
    'node 3',
  ]);
  expect(pool.providers).toBe(2);
});
