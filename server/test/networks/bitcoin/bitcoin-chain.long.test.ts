/** The Bitcoin adapter on a real Litecoin Core: what it reports of blocks and of the mempool, and how it bears failing nodes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { adapters } from '../../../src/modules/networks/adapters.js';
import { createAddressSource } from '../../../src/core/addresses/address-sources.js';
import {
  createBitcoinChain,
  type BitcoinChain,
} from '../../../src/modules/networks/bitcoin/bitcoin-chain.js';
import { checkBitcoinNetwork } from '../../../src/modules/networks/bitcoin/check-network.js';
import {
  createBitcoinNodes,
  type BitcoinConfig,
} from '../../../src/modules/networks/bitcoin/bitcoin-nodes.js';
import { locateTransaction, readTransactionFee } from '../../../src/modules/networks/bitcoin/utxo-node.js';
import type { ChainTransfer } from '../../../src/core/chains/chain.js';
import { parseNetworks } from '../../../src/modules/networks/networks-file.js';
import { ChainBehind, readDifference } from '../../../src/core/chains/read-chain.js';
import { litecoinTestKey, withVersion } from '../../support/extended-keys.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../../support/litecoin.js';
import { startNodeProxy, type Behaviour, type NodeProxy } from '../../support/core-proxy.js';

const { signal } = new AbortController();
/** The password that `startLitecoind` gives its nodes. */
const secret = 'litecoin-test-password';
const source = createAddressSource('test', 'litecoin', litecoinTestKey, { net: 'regtest' });

describe.skipIf(!hasLitecoind)('The Bitcoin adapter on Litecoin Core', () => {
  let node: LitecoinNode;
  let proxy: NodeProxy;
  let chain: BitcoinChain;
  let warnings: string[];
  let nextIndex = 0;
  const methods = new Set<string>();
  const ours = new Set<string>();

  beforeAll(async () => {
    node = await startLitecoin();
  });
  afterAll(() => node.stop());
  beforeEach(async () => {
    proxy = await startNodeProxy(node.url);
    warnings = [];
    chain = openChain();
  });
  afterEach(async () => {
    for (const { method } of proxy.calls) methods.add(method);
    await proxy.close();
    // The next test begins with an empty mempool.
    if ((await node.rpc<string[]>('getrawmempool')).length > 0) await node.mine();
  });

  function openChain(changes: Partial<BitcoinConfig> = {}): BitcoinChain {
    return createBitcoinChain(
      { ...litecoinRegtest, nodes: [proxy.url], timeoutMs: 5000, ...changes },
      {
        watched: async (addresses) => new Set(addresses.filter((address) => ours.has(address))),
        warn: (message) => warnings.push(message),
      },
    );
  }

  function newAddress(): string {
    const address = source.derive((nextIndex += 1));
    ours.add(address);
    return address;
  }

  async function pending(): Promise<readonly ChainTransfer[]> {
    await chain.head(signal);
    return chain.pending(signal);
  }

  async function lastBlock() {
    const { height } = await chain.head(signal);
    const block = await chain.block(height, signal);
    if (!block) throw new Error(`There is no block ${height}`);
    return block;
  }

  describe('reports', () => {
    it('A payment is reported while it waits and in its block, with the exact amount and the sender', async () => {
      const address = newAddress();
      const txHash = await node.pay(address, '0.12345678');
      const { details } = await node.rpc<{ details: { vout: number }[] }>('gettransaction', txHash);
      const expected = {
        txHash,
        outputIndex: details[0]?.vout,
        currency: 'LTC',
        address,
        amount: 12_345_678n,
        senders: [expect.stringMatching(/^rltc1q/)],
      };
      expect(await pending()).toEqual([expected]);
      const [hash] = await node.mine();
      expect(await pending()).toEqual([]);
      const block = await lastBlock();
      expect(block).toMatchObject({ hash, transfers: [expected] });
      expect(block.parentHash).toBe(await node.rpc('getblockhash', block.height - 1));
      expect(block.time).toBe((await node.rpc<{ time: number }>('getblockheader', hash)).time * 1000);
    });

    it.each(['0.0001', '0.1', '0.29', '1.1', '4.35', '10.00000001', '33.33333333'])(
      'A payment of %s coins is reported exactly',
      async (amount) => {
        const address = newAddress();
        const txHash = await node.pay(address, amount);
        const found = (await pending()).find((transfer) => transfer.txHash === txHash);
        expect(found?.amount).toBe(BigInt(Math.round(Number(amount) * 1e8)));
        await node.mine();
      },
    );

    it('Payments to every type of script are reported', async () => {
      const keys = [
        ['0436f6e1', 'p2pkh', /^[mn]/],
        ['0436f6e1', 'p2sh-p2wpkh', /^Q/],
        ['045f1cf6', 'p2wpkh', /^rltc1q/],
        ['0436f6e1', 'p2tr', /^rltc1p/],
      ] as const;
      const addresses = keys.map(([version, script, start]) => {
        const key = withVersion(litecoinTestKey, version);
        const address = createAddressSource('test', 'litecoin', key, { net: 'regtest', script }).derive(1000);
        expect(address).toMatch(start);
        return address;
      });
      for (const address of addresses) ours.add(address);
      const txHash = await node.rpc(
        'sendmany',
        '',
        Object.fromEntries(addresses.map((address) => [address, '0.5'])),
      );
      const seen = (await pending()).filter((transfer) => transfer.txHash === txHash);
      expect(seen.map(({ address }) => address).sort()).toEqual([...addresses].sort());
      expect(new Set(seen.map(({ outputIndex }) => outputIndex)).size).toBe(4);
      await node.mine();
      expect((await lastBlock()).transfers).toEqual(expect.arrayContaining([...seen]));
    });

    it('two outputs to one address count as two transfers, next to data and bare multisig', async () => {
      const address = newAddress();
      const spare = newAddress();
      const raw = await node.rpc<string>(
        'createrawtransaction',
        [],
        [{ [address]: '0.3' }, { [spare]: '0.4' }, { data: '00'.repeat(20) }],
      );
      const { scriptPubKey: own } = await node.rpc<{ scriptPubKey: string }>('validateaddress', address);
      const { scriptPubKey: other } = await node.rpc<{ scriptPubKey: string }>('validateaddress', spare);
      // No call of the node builds a transaction that pays one address twice.
      const txHash = await node.sendRaw(raw.replace(other, own));
      const { vout } = await node.rpc<{
        vout: { n: number; value: number; scriptPubKey: { hex: string } }[];
      }>('getrawtransaction', txHash, true);
      const expected = vout
        .filter(({ scriptPubKey }) => scriptPubKey.hex === own)
        .map(({ n, value }) => ({
          txHash,
          address,
          outputIndex: n,
          amount: value === 0.3 ? 30_000_000n : 40_000_000n,
        }));
      expect(expected).toHaveLength(2);
      const found = (await pending()).filter((transfer) => transfer.txHash === txHash);
      expect(found).toMatchObject(expected);
      expect(found).toHaveLength(2);
      await node.mine();
      expect((await lastBlock()).transfers).toMatchObject(expected);
    });

    it('A mining reward, which cannot be spent for a hundred blocks, is not reported', async () => {
      const address = newAddress();
      await node.rpc('generatetoaddress', 1, address);
      expect((await lastBlock()).transfers).toEqual([]);
    });

    it('A transfer to an address that is not ours is not reported', async () => {
      await node.pay(await node.rpc<string>('getnewaddress'), '0.1');
      expect(await pending()).toEqual([]);
      await node.mine();
      expect((await lastBlock()).transfers).toEqual([]);
    });
  });

  describe('The adapter follows the mempool', () => {
    it('A payment that is replaced by one to somebody else is gone at once', async () => {
      const txHash = await node.pay(newAddress(), '0.5', true);
      expect((await pending()).map((transfer) => transfer.txHash)).toEqual([txHash]);
      await node.replace(txHash, await node.rpc<string>('getnewaddress'));
      expect(await pending()).toEqual([]);
      await node.mine();
      expect((await lastBlock()).transfers).toEqual([]);
    });

    it('A payment that is replaced by one with a higher fee is reported only under its new id', async () => {
      const address = newAddress();
      const txHash = await node.pay(address, '0.5', true);
      expect(await pending()).toHaveLength(1);
      const { txid } = await node.rpc<{ txid: string }>('bumpfee', txHash);
      expect(await pending()).toMatchObject([{ txHash: txid, address, amount: 50_000_000n }]);
      await node.mine();
    });

    it('A payment that conflicts with a block is gone with it', async () => {
      const txHash = await node.pay(newAddress(), '0.5', true);
      const first = await node.rpc<string>('getrawtransaction', txHash);
      const rival = await node.replace(txHash, await node.rpc<string>('getnewaddress'));
      await node.rpc('generateblock', await node.rpc('getnewaddress'), [first]);
      // The block has the first transaction, so now the second one is the double spend.
      expect((await lastBlock()).transfers).toMatchObject([{ txHash }]);
      await expect(node.rpc('getmempoolentry', rival)).rejects.toThrow('not in mempool');
      expect(await pending()).toEqual([]);
    });

    it('Each waiting transaction is read once', async () => {
      const txHashes = await Promise.all([1, 2, 3].map(() => node.pay(newAddress(), '0.01')));
      const readIds = () =>
        proxy.calls.filter(({ method }) => method === 'getrawtransaction').map(({ params }) => params[0]);
      expect(await pending()).toHaveLength(3);
      expect(readIds().sort()).toEqual([...txHashes].sort());
      const requests = proxy.requests;
      expect(await pending()).toHaveLength(3);
      expect(readIds()).toHaveLength(3);
      // One for the head, one for the mempool.
      expect(proxy.requests).toBe(requests + 2);
      const another = await node.pay(newAddress(), '0.01');
      expect(await pending()).toHaveLength(4);
      expect(readIds().slice(3)).toEqual([another]);
      await node.mine();
      expect(await pending()).toEqual([]);
    });

    it('Waiting transactions are not dropped while a node still loads its mempool', async () => {
      await node.pay(newAddress(), '0.01');
      expect(await pending()).toHaveLength(1);
      proxy.behave = forge('getmempoolinfo', (answer) => ({ ...(answer as object), loaded: false }));
      await expect(pending()).rejects.toThrow('still loading its mempool');
      proxy.behave = undefined;
      expect(await pending()).toHaveLength(1);
      await node.mine();
    });

    it('A transaction that goes into a block while the mempool is read does not count as dropped', async () => {
      const txHash = await node.pay(newAddress(), '0.01');
      const head = await chain.head(signal);
      await node.mine();
      await chain.pending(signal);
      // The scanner compares the heads before and after, and does not use what was read in between.
      expect((await chain.head(signal)).hash).not.toBe(head.hash);
      expect((await lastBlock()).transfers).toMatchObject([{ txHash }]);
    });
  });

  describe('The adapter follows the chain', () => {
    const difference = (
      last: { height: number; hash: string },
      scanned: { height: number; hash: string }[],
    ) =>
      readDifference(
        chain,
        {
          last,
          scanned: () => Promise.resolve({ blocks: scanned, isComplete: true }),
          beforeBlock: () => Promise.resolve(),
        },
        50,
        signal,
      );

    it('A scan that catches up reads several blocks at once, which link to each other', async () => {
      const genesis = { height: 0, hash: litecoinRegtest.genesisHash };
      const { blocks, orphanedAbove, head } = await difference(genesis, [genesis]);
      expect(orphanedAbove).toBeUndefined();
      expect(blocks.map(({ height }) => height)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      expect(blocks[0]?.parentHash).toBe(genesis.hash);
      expect(head.hash).toBe(await node.rpc('getblockhash', 50));
    });

    it.each([1, 2, 3, 4])('A reorg of depth %i that leaves the payment out', async (depth) => {
      const txHash = await node.pay(newAddress(), '0.25', true);
      await node.mine(depth);
      const top = await chain.head(signal);
      const scanned = await Promise.all(
        Array.from({ length: 6 }, async (_, back) => {
          const height = top.height - back;
          return { height, hash: await node.rpc<string>('getblockhash', height) };
        }),
      );
      await node.reorg(depth, 'waiting');
      const left = await difference(top, scanned);
      expect(left.orphanedAbove).toBe(top.height - depth);
      expect(left.blocks.flatMap(({ transfers }) => transfers)).toEqual([]);
      expect(left.pending).toMatchObject([{ txHash }]);
      // It waits again, and now a double spend takes its place.
      await node.replace(txHash, await node.rpc<string>('getnewaddress'));
      expect(await pending()).toEqual([]);
      await node.mine();
      expect((await lastBlock()).transfers).toEqual([]);
    });

    it('A reorg that moves the payment to another block', async () => {
      const txHash = await node.pay(newAddress(), '0.25');
      await node.mine(2);
      const top = await chain.head(signal);
      const parent = { height: top.height - 2, hash: await node.rpc<string>('getblockhash', top.height - 2) };
      await node.reorg(2, 'mined again');
      const { orphanedAbove, blocks, pending: waiting } = await difference(top, [top, parent]);
      expect(orphanedAbove).toBe(parent.height);
      expect(blocks.map(({ transfers }) => transfers.map((transfer) => transfer.txHash))).toEqual([
        [txHash],
        [],
        [],
      ]);
      expect(waiting).toEqual([]);
    });

    it('Above the head there is no block', async () => {
      const { height } = await chain.head(signal);
      expect(await chain.block(height + 1, signal)).toBeUndefined();
    });
  });

  describe('with failing nodes', () => {
    const failures: readonly (readonly [string, Behaviour, string])[] = [
      ['refuses our password', { status: 401, body: '' }, 'HTTP 401'],
      [
        'is starting',
        {
          status: 500,
          body: '{"result":null,"error":{"code":-28,"message":"Loading block index..."},"id":1}',
        },
        'Loading block index... (-28)',
      ],
      ['answers with a page', { status: 502, body: `<html>test:${secret}@node</html>` }, 'HTTP 502'],
      ['answers with half an answer', { status: 200, body: '{"result":{"blocks":1' }, 'not JSON'],
      [
        'answers with something else',
        { status: 200, body: '{"result":{"blocks":"7"},"id":1}' },
        'Bitcoin Core does not have',
      ],
      ['repeats our password', rpcError(`Basic ${secret} is wrong for test:${secret}`), '[hidden]'],
      ['hangs up', 'hang up', 'cannot be reached'],
      ['stalls', 'stall', 'did not answer within 1 s'],
      ['has too many requests', { status: 429, body: '', headers: { 'retry-after': '7' } }, 'for 7 s'],
      ['is on another network', { results: () => '00'.repeat(32) }, 'is on another network'],
    ];

    it.each(failures)('A node that %s is not used, and another one is', async (_, behaviour, reason) => {
      const address = newAddress();
      await node.pay(address, '0.02');
      proxy.behave = () => behaviour;
      const alone = openChain({ timeoutMs: 1000 });
      const error = await alone.head(signal).catch((thrown: unknown) => thrown);
      expect(String(error)).toContain(reason);
      expect(JSON.stringify([String(error), error, (error as Error).stack])).not.toContain(secret);

      // The good node may need more than a second on a busy machine.
      chain = openChain({ timeoutMs: 5000, nodes: [proxy.url, node.url] });
      expect(await pending()).toMatchObject([{ address }]);
      expect(warnings.join()).toContain(reason.replace('within 1 s', 'within 5 s'));
      expect(warnings.join()).not.toContain(secret);
      expect(JSON.stringify(chain.status())).not.toContain(secret);
      expect(chain.status().nodes.map(({ problem }) => problem === undefined)).toEqual([false, true]);
      await node.mine();
    });

    it('A node that fails within a block does not give a part of it: the next node gives all', async () => {
      const txHash = await node.pay(newAddress(), '0.02');
      await node.mine();
      chain = openChain({ nodes: [proxy.url, node.url] });
      const { height, hash } = await chain.head(signal);
      proxy.behave = ([call]) => (call?.method === 'getblock' ? 'hang up' : undefined);
      expect(await chain.block(height, signal)).toMatchObject({ hash, transfers: [{ txHash }] });
    });

    it.each([
      ['another block', (block: object) => ({ ...block, hash: '00'.repeat(32) })],
      ['another height', (block: object) => ({ ...block, height: 3 })],
      ['no transactions', (block: object) => ({ ...block, tx: undefined })],
      ['unreadable transactions', (block: object) => ({ ...block, tx: [{ txid: 'x' }] })],
      [
        'only ids of transactions',
        (block: { tx?: { txid: string }[] }) => ({ ...block, tx: block.tx?.map(({ txid }) => txid) }),
      ],
    ] as const)('A node that answers %s for a block is not believed', async (_, change) => {
      const { height } = await chain.head(signal);
      proxy.behave = forge('getblock', (answer) => change(answer as object));
      await expect(chain.block(height, signal)).rejects.toThrow('Bitcoin Core does not have');
    });

    it('A transaction to us with an unreadable amount is an error, never another amount', async () => {
      await node.pay(newAddress(), '0.02');
      await chain.head(signal);
      proxy.behave = forge('getrawtransaction', (answer) => {
        const { vout, ...rest } = answer as { vout: { value: number }[] };
        return { ...rest, vout: vout.map((output) => ({ ...output, value: output.value + 0.000000001 })) };
      });
      await expect(chain.pending(signal)).rejects.toThrow('cannot be read');
      proxy.behave = undefined;
      expect(await pending()).toMatchObject([{ amount: 2_000_000n }]);
      await node.mine();
    });

    it('A node with fewer blocks than before reverts nothing, and another one is used', async () => {
      const { height } = await chain.head(signal);
      const olderHash = await node.rpc<string>('getblockhash', height - 2);
      const older = (info: unknown) => ({
        ...(info as object),
        blocks: height - 2,
        headers: height - 2,
        bestblockhash: olderHash,
      });
      proxy.behave = forge('getblockchaininfo', older);
      const behind = `is at block ${height - 2}, behind block ${height} that was read before`;
      await expect(chain.head(signal)).rejects.toThrow(behind);
      await expect(chain.head(signal)).rejects.toBeInstanceOf(ChainBehind);
      chain.forgetHead();
      expect(await chain.head(signal)).toMatchObject({ height: height - 2, hash: olderHash });
      chain = openChain({ nodes: [node.url, proxy.url] });
      expect(await chain.head(signal)).toMatchObject({ height });
    });

    it('A node that is catching up is not used: its head is old', async () => {
      const { height } = await chain.head(signal);
      proxy.behave = forge('getblockchaininfo', (info) => ({ ...(info as object), headers: height + 500 }));
      await expect(chain.head(signal)).rejects.toThrow(`it has ${height} of ${height + 500} blocks`);
      proxy.behave = forge('getblockchaininfo', (info) => ({
        ...(info as object),
        chain: 'main',
        initialblockdownload: true,
      }));
      await expect(chain.head(signal)).rejects.toThrow('still catching up');
    });

    it('A block that was pruned away is named, and a node that has it is used', async () => {
      const { height } = await chain.head(signal);
      proxy.behave = (calls) =>
        calls[0]?.method === 'getblock'
          ? {
              status: 500,
              body: '{"result":null,"error":{"code":-1,"message":"Block not available (pruned data)"},"id":1}',
            }
          : undefined;
      await expect(chain.block(height - 5, signal)).rejects.toThrow(
        `no longer has block ${height - 5}: it was pruned`,
      );
      chain = openChain({ nodes: [proxy.url, node.url] });
      await chain.head(signal);
      expect(await chain.block(height - 5, signal)).toMatchObject({ height: height - 5 });
    });

    it('Payouts are followed on the nodes and the budget of the scan', async () => {
      const nodes = [proxy.url, node.url];
      const file = { networks: { 'litecoin-regtest': { nodes, requestsPerMinute: 600 } } };
      const [configured] = parseNetworks(file, {});
      const connection =
        configured &&
        adapters.litecoin?.(configured, {
          log: pino({ level: 'silent' }),
          // The clock does not move, so that the budget does not grow.
          now: () => 0,
          watched: () => Promise.resolve(new Set()),
          isAnyoneExpected: () => Promise.resolve(false),
        });
      const head = await connection?.chain.head(signal);
      const scanned = connection?.status();
      proxy.behave = () => 'hang up';
      expect(await connection?.utxoNode?.height(signal)).toBe(head?.height);
      const { nodes: used = [], requestsLeft = 0 } = connection?.status() ?? {};
      expect(used).toMatchObject([
        { problem: expect.stringContaining('cannot be reached') as string, isInUse: false },
        { problem: undefined, isInUse: true },
      ]);
      expect(requestsLeft).toBeLessThan(scanned?.requestsLeft ?? 0);
    });

    it('The mempool of a second node is used if it has the same head, and not otherwise', async () => {
      const address = newAddress();
      await node.pay(address, '0.02');
      chain = openChain({ nodes: [proxy.url, node.url] });
      await chain.head(signal);
      proxy.behave = () => 'hang up';
      expect(await chain.pending(signal)).toMatchObject([{ address }]);

      const second = await startNodeProxy(node.url);
      second.behave = forge('getbestblockhash', () => '11'.repeat(32));
      proxy.behave = undefined;
      chain = openChain({ nodes: [proxy.url, second.url] });
      await chain.head(signal);
      proxy.behave = () => 'hang up';
      await expect(chain.pending(signal)).rejects.toThrow('node 2 has another head than node 1');
      await second.close();
    });

    it('A head that its node has left does not count as the present one when the mempool was read', async () => {
      const head = await chain.head(signal);
      proxy.behave = forge('getbestblockhash', () => '11'.repeat(32));
      await chain.pending(signal);
      await expect(chain.head(signal)).rejects.toThrow('is behind');
      // Unless it still has it the next time: then the node went back to it.
      expect(await chain.head(signal)).toEqual(head);
    });

    it('A node with a cookie file is used once it has written the file, and again after each start', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-cookie-'));
      const cookie = join(directory, '.cookie');
      const { origin, username, password } = new URL(node.url);
      const nodes = [`${origin}/?cookie=${encodeURIComponent(cookie)}`];
      // A node that is down has deleted its file. The server starts anyway.
      chain = openChain({ nodes });
      await expect(chain.head(signal)).rejects.toThrow('The cookie file of node 1 cannot be read (ENOENT)');
      const found = checkBitcoinNetwork({ ...litecoinRegtest, nodes }, signal);
      for await (const finding of found) {
        expect(finding).toMatchObject({ subject: 'node 1', kind: 'problem' });
        expect(finding.text).toContain('cannot be read (ENOENT)');
      }
      await writeFile(cookie, 'test:of the last start');
      const error = await chain.head(signal).catch((thrown: unknown) => String(thrown));
      expect(error).toContain('HTTP 401');
      expect(error).not.toContain('of the last start');
      await writeFile(cookie, `${username}:${password}\n`);
      expect(await chain.head(signal)).toMatchObject({ height: await node.rpc('getblockcount') });
      await rm(directory, { recursive: true });
    });

    it.each(['not a url', 'ftp://test:hush-hush@127.0.0.1', 'http://test:hush-hush@127.0.0.1/?cookie=/x'])(
      'The node URL %s is refused without being repeated',
      (url) => {
        expect(() => openChain({ nodes: [url] })).toThrow(/URL/);
        expect(() => openChain({ nodes: [url] })).not.toThrow('hush-hush');
      },
    );

    it('A scan that is stopped does not wait for a node that stalls', async () => {
      proxy.behave = () => 'stall';
      const stopping = new AbortController();
      const reading = chain.head(stopping.signal);
      setTimeout(() => stopping.abort(new Error('stopped')), 20);
      await expect(reading).rejects.toThrow('stopped');
    });

    it('A node that was killed is used again when it is back, and one that freezes is left', async () => {
      chain = openChain({ timeoutMs: 1000 });
      const head = await chain.head(signal);
      await node.kill();
      await expect(chain.head(signal)).rejects.toThrow('node 1');
      await node.start();
      expect(await chain.head(signal)).toEqual(head);
      try {
        node.freeze(true);
        // It stops a moment later, and may still answer until then.
        await vi.waitFor(() => expect(chain.head(signal)).rejects.toThrow('did not answer within 1 s'), {
          timeout: 10_000,
        });
      } finally {
        node.freeze(false);
      }
      await vi.waitFor(async () => expect(await chain.head(signal)).toEqual(head), { timeout: 10_000 });
    });
  });

  describe('locates a transaction', () => {
    const locate = (txHash: string) =>
      locateTransaction(createBitcoinNodes({ ...litecoinRegtest, nodes: [proxy.url] }), txHash, signal);

    it('A transaction is located in its block, without an index of transactions, and not before it is in one', async () => {
      const txHash = await node.pay(await node.rpc<string>('getnewaddress'), '0.02');
      expect(await locate(txHash)).toBeUndefined();
      await node.mine();
      const height = await node.rpc<number>('getblockcount');
      expect(await locate(txHash)).toEqual({ height, isFailed: false });
      await node.mine(2);
      expect(await locate(txHash)).toEqual({ height, isFailed: false });
    });

    it('A transaction is located in the block that a node with an index names', async () => {
      const height = (await node.rpc<number>('getblockcount')) - 3;
      const blockhash = await node.rpc<string>('getblockhash', height);
      const txHash = await node.pay(await node.rpc<string>('getnewaddress'), '0.02');
      proxy.behave = forge('getrawtransaction', (answer) => ({ ...(answer as object), blockhash }));
      expect(await locate(txHash)).toEqual({ height, isFailed: false });
    });

    it.each(['ab'.repeat(32), 'not a hash', ''])(
      'The transaction %j, which no node knows, is not located',
      async (txHash) => {
        expect(await locate(txHash)).toBeUndefined();
      },
    );

    it('An error says so if no node answers', async () => {
      proxy.behave = () => 'hang up';
      await expect(locate('ab'.repeat(32))).rejects.toThrow('cannot be reached');
    });
  });

  describe('reads the fee of a transaction', () => {
    const feeOf = async (txHash: string) =>
      readTransactionFee(
        createBitcoinNodes({ ...litecoinRegtest, nodes: [proxy.url] }),
        txHash,
        await node.rpc<number>('getblockcount'),
        signal,
      );
    const paid = async () => {
      const txHash = await node.pay(await node.rpc<string>('getnewaddress'), '0.02');
      await node.mine();
      const { fee } = await node.rpc<{ fee: number }>('gettransaction', txHash);
      return { txHash, fee: BigInt(Math.round(-fee * 1e8)) };
    };

    it('The fee is read from the inputs, and not without an index that finds them', async () => {
      const { txHash, fee } = await paid();
      expect(await feeOf(txHash)).toBeUndefined();
      const { vin } = await node.rpc<{ vin: { txid: string }[] }>(
        'getrawtransaction',
        txHash,
        true,
        await node.rpc('getbestblockhash'),
      );
      const previous = new Map<string, unknown>();
      for (const { txid } of vin) {
        const { hex } = await node.rpc<{ hex: string }>('gettransaction', txid);
        previous.set(txid, await node.rpc('decoderawtransaction', hex));
      }
      // As with txindex=1.
      proxy.behave = () => ({
        results: ({ method, params: [asked] }, answer) =>
          (method === 'getrawtransaction' && previous.get(String(asked))) || answer,
      });
      expect(await feeOf(txHash)).toBe(fee);
    });

    it('the fee comes from the node if it reports it as Bitcoin Core 25 does', async () => {
      const { txHash } = await paid();
      proxy.behave = forge('getrawtransaction', (answer) => ({ ...(answer as object), fee: 0.00000141 }));
      expect(await feeOf(txHash)).toBe(141n);
    });
  });

  describe('Litecoin Core derives the same addresses', () => {
    it.each([
      ['0436f6e1', undefined],
      ['044a5262', undefined],
      ['045f1cf6', undefined],
      ['043587cf', 'p2wpkh'],
    ] as const)(
      'The addresses of the key with the version %s and script %s are those of its descriptor',
      async (version, script) => {
        const key = withVersion(litecoinTestKey, version);
        const { derive, descriptor } = createAddressSource('test', 'litecoin', key, {
          net: 'regtest',
          script,
        });
        expect(await node.rpc('deriveaddresses', descriptor, [0, 4])).toEqual([0, 1, 2, 3, 4].map(derive));
      },
    );
  });

  describe('checks a network', () => {
    const check = async (changes: Partial<BitcoinConfig> = {}) => {
      const findings: string[] = [];
      const config = { ...litecoinRegtest, nodes: [proxy.url], ...changes };
      for await (const { subject, kind, text } of checkBitcoinNetwork(config, signal)) {
        findings.push(`${subject} ${kind}: ${text}`);
      }
      return findings;
    };

    it('the check reports what its node is and shows', async () => {
      expect(await check()).toEqual([
        'node 1 ok: It is on the right network',
        expect.stringMatching(/^node 1 ok: Runs \/LitecoinCore:/),
        `node 1 ok: Block ${await node.rpc<number>('getblockcount')}, 0 minutes old`,
        'node 1 ok: Has all blocks',
        'node 1 ok: Shows its mempool, with 0 transactions',
      ]);
    });

    it('The check compares a block after a fork that has the same first block, as Bitcoin Cash has that of Bitcoin', async () => {
      const height = (await node.rpc<number>('getblockcount')) - 1;
      const hash = await node.rpc<string>('getblockhash', height);
      expect((await check({ checkpoint: { height, hash } })).join()).toContain(
        'ok: It is on the right network',
      );
      const other = `${hash.slice(1)}0`;
      expect(await check({ checkpoint: { height, hash: other } })).toEqual([
        `node 1 problem: It is on another network: its block ${height} is ${hash}, not ${other}`,
      ]);
      const config = { ...litecoinRegtest, nodes: [proxy.url], checkpoint: { height, hash: other } };
      const chain = createBitcoinChain(config, { watched: () => Promise.resolve(new Set()) });
      await expect(chain.head(signal)).rejects.toThrow('is on another network');
      expect(await check({ checkpoint: { height: height + 9, hash } })).toEqual([
        `node 1 problem: It is still catching up: it does not have block ${height + 9}`,
      ]);
    });

    it('A check gives a sentence for each problem, without credentials', async () => {
      const genesisHash = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
      const nodes = [
        proxy.url,
        'http://test:wrong-password@127.0.0.1:1',
        proxy.url.replace(secret, 'not-it'),
      ];
      const findings = await check({ genesisHash, nodes });
      expect(findings).toEqual([
        expect.stringContaining('node 1 problem: It is on another network'),
        expect.stringContaining('node 2 problem: It cannot be reached'),
        expect.stringContaining('node 3 problem: It answered HTTP 401'),
      ]);
      for (const hidden of [secret, 'wrong-password', 'not-it'])
        expect(findings.join()).not.toContain(hidden);
    });

    it.each([
      ['getblockchaininfo', { headers: 10_000 }, 'problem: Is still catching up'],
      [
        'getblockchaininfo',
        { mediantime: null, pruneheight: null, initialblockdownload: 0 },
        'ok: Has all blocks',
      ],
      ['getblockchaininfo', { pruned: true, pruneheight: 7 }, 'ok: Pruned: has the blocks from 7 on'],
      [
        'getblockchaininfo',
        { chain: 'main', initialblockdownload: false },
        'warning: Is connected to no other node',
      ],
      ['getnetworkinfo', { localrelay: false }, 'warning: Has blocksonly=1'],
      [
        'getnetworkinfo',
        { version: 180_000, subversion: '/Old:0.18\u001b[31m/' },
        'warning: Runs /Old:0.18[31m/',
      ],
      ['getmempoolinfo', { loaded: false }, 'problem: Is still loading its mempool'],
    ] as const)('the check reports if %s answers %j', async (method, answer, finding) => {
      proxy.behave = forge(method, (given) => ({ ...(given as object), ...answer }));
      expect((await check()).join('\n')).toContain(`node 1 ${finding}`);
    });
  });

  // Last, because blocks cannot be made as the other tests need them once MWEB is active.
  it('Payments into, inside and out of MWEB do no harm, and those out of it count', async () => {
    await node.mine(431 - (await node.rpc<number>('getblockcount')));
    const hidden = () => node.rpc<string>('getnewaddress', '', 'mweb');
    await node.pay(await hidden(), '20');
    const plain = { address: newAddress(), amount: 10_000_000n };
    await node.pay(plain.address, '0.1');
    expect(await pending()).toMatchObject([plain]);
    await node.mine();
    expect((await lastBlock()).transfers).toMatchObject([plain]);
    await node.mine();

    // From here on, the wallet can pay only with the coins inside.
    const coins = await node.rpc<{ txid: string; vout: number; address: string }[]>('listunspent', 0);
    const outside = coins.filter(({ address }) => !address.includes('mweb'));
    await node.rpc(
      'lockunspent',
      false,
      outside.map(({ txid, vout }) => ({ txid, vout })),
    );
    await node.pay(await hidden(), '1');
    const address = newAddress();
    const txid = await node.pay(address, '2');
    expect(await node.rpc('getrawmempool')).toHaveLength(2);
    expect(await pending()).toEqual([]);
    await node.mine();
    const { transfers } = await lastBlock();
    expect(transfers).toMatchObject([{ address, amount: 200_000_000n, currency: 'LTC' }]);
    // The block pays it in its own transaction for all payments out of MWEB.
    expect(transfers[0]?.txHash).not.toBe(txid);
  });

  it('The documented whitelist allows what the adapter asks, and no more', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../../../docs/networks.md'), 'utf8');
    const allowed = /^rpcwhitelist=checkout:(.+)$/m.exec(guide)?.[1]?.split(',');
    const ofPayouts = ['estimatesmartfee', 'sendrawtransaction'];
    expect([...methods, ...ofPayouts].sort()).toEqual(allowed?.sort());
  });
});

/** Changes the answers of one method. */
function forge(method: string, change: (answer: unknown) => unknown): NodeProxy['behave'] {
  return (calls) =>
    calls.some((call) => call.method === method)
      ? { results: (call, answer) => (call.method === method ? change(answer) : answer) }
      : undefined;
}

function rpcError(message: string): Behaviour {
  return { status: 500, body: JSON.stringify({ result: null, error: { code: -1, message }, id: 1 }) };
}
