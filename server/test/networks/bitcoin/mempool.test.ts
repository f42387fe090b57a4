/** A mempool as large as Bitcoin's is read once, in steps, and never kept longer than the node keeps it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressOfScript } from '../../../src/core/addresses/bitcoin-scripts.js';
import { bitcoinRules } from '../../../src/core/families/kinds.js';
import {
  createBitcoinChain,
  type BitcoinChain,
} from '../../../src/modules/networks/bitcoin/bitcoin-chain.js';
import { startNodeProxy, type NodeProxy, type ProxiedCall } from '../../support/core-proxy.js';
import { litecoinRegtest } from '../../support/litecoin.js';
import { roundsOf } from '../../support/rounds.js';

const { signal } = new AbortController();
/** 100,000 in a soak run. */
const size = 1000 * roundsOf({ usual: 2, soak: 20 });
const head = 'aa'.repeat(32);
const hexOf = (id: number, bytes: number) => id.toString(16).padStart(bytes * 2, '0');
const idsFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => hexOf(start + index, 32));
/** Every hundredth transaction pays us. */
const paysUs = (txid: string) => parseInt(txid.slice(-8), 16) % 100 === 0;
const scriptOf = (txid: string) => `0014${txid.slice(-40)}`;
const addressOf = (txid: string) =>
  addressOfScript(scriptOf(txid), bitcoinRules('litecoin').prefixes.regtest) ?? '';

describe('The mempool', () => {
  let node: NodeProxy;
  let chain: BitcoinChain;
  let listed: readonly string[];
  let asked: string[];
  /** Transactions that the node no longer has when it is asked. */
  let gone: ReadonlySet<string>;
  /** Transactions that have gone into a block by then, where the node can find them by an index. */
  let mined: ReadonlySet<string>;
  let failAt: number;

  function answer({ method, params }: ProxiedCall): unknown {
    switch (method) {
      case 'getblockhash':
        return litecoinRegtest.genesisHash;
      case 'getblockchaininfo':
        return { blocks: 7, headers: 7, bestblockhash: head, chain: 'regtest' };
      case 'getbestblockhash':
        return head;
      case 'getmempoolinfo':
        return { loaded: true, size: listed.length };
      case 'getrawmempool':
        return listed;
      default: {
        const txid = String(params[0]);
        asked.push(txid);
        const other = { n: 0, value: 1.5, scriptPubKey: { hex: `0014${'ee'.repeat(20)}` } };
        const ours = { n: 1, value: 0.25, scriptPubKey: { hex: scriptOf(txid) } };
        const block = mined.has(txid) ? { blockhash: head } : {};
        return { txid, vin: [], vout: paysUs(txid) ? [other, ours] : [other], ...block };
      }
    }
  }

  const reply = (call: ProxiedCall) =>
    call.method === 'getrawtransaction' && gone.has(String(call.params[0]))
      ? { id: call.id, result: null, error: { code: -5, message: 'No such mempool transaction' } }
      : { id: call.id, result: answer(call), error: null };

  beforeEach(async () => {
    [listed, asked, gone, mined, failAt] = [[], [], new Set(), new Set(), Infinity];
    node = await startNodeProxy('http://test:test@127.0.0.1:1');
    node.behave = (calls) => {
      if (asked.length >= failAt) return 'hang up';
      return {
        status: 200,
        body: JSON.stringify(calls.length > 1 ? calls.map(reply) : calls[0] && reply(calls[0])),
      };
    };
    const watched = async (addresses: readonly string[]) =>
      new Set(addresses.filter((address) => ours.has(address)));
    const ours = new Set(
      idsFrom(0, size * 2)
        .filter(paysUs)
        .map(addressOf),
    );
    chain = createBitcoinChain({ ...litecoinRegtest, nodes: [node.url] }, { watched });
  });
  afterEach(() => node.close());

  async function pending(): Promise<string[]> {
    await chain.head(signal);
    return (await chain.pending(signal)).map(({ txHash }) => txHash);
  }

  it(
    'The mempool is read once, and after that only its new transactions',
    async () => {
      listed = idsFrom(0, size);
      expect(await pending()).toEqual(listed.filter(paysUs));
      expect(asked.sort()).toEqual([...listed].sort());
      asked = [];
      expect(await pending()).toEqual(listed.filter(paysUs));
      expect(asked).toEqual([]);
      const newer = idsFrom(size, 150);
      listed = [...listed, ...newer];
      expect(await pending()).toEqual(listed.filter(paysUs));
      expect(asked.sort()).toEqual(newer);
    },
    20_000 + 2 * size,
  );

  it('A transaction that the node forgets is forgotten, and read again if it returns', async () => {
    listed = idsFrom(0, 300);
    expect(await pending()).toHaveLength(3);
    listed = idsFrom(200, 100);
    expect(await pending()).toEqual(listed.filter(paysUs));
    asked = [];
    listed = idsFrom(0, 300);
    expect((await pending()).sort()).toEqual(listed.filter(paysUs));
    expect(asked.sort()).toEqual(idsFrom(0, 200));
  });

  it('Reading the mempool continues where it was interrupted', async () => {
    listed = idsFrom(0, 1000);
    failAt = 500;
    await expect(pending()).rejects.toThrow('cannot be reached');
    failAt = Infinity;
    const before = asked.length;
    expect((await pending()).sort()).toEqual(listed.filter(paysUs));
    expect(before).toBe(500);
    expect(asked).toHaveLength(1000);
  });

  it('A transaction that is gone while the mempool is read is not pending, and is asked for again while it is listed', async () => {
    listed = idsFrom(0, 300);
    gone = new Set([hexOf(0, 32), hexOf(1, 32)]);
    expect(await pending()).toEqual([hexOf(100, 32), hexOf(200, 32)]);
    gone = new Set();
    asked = [];
    expect((await pending()).sort()).toEqual(listed.filter(paysUs));
    expect(asked).toEqual([hexOf(0, 32), hexOf(1, 32)]);
  });

  it('A transaction that has just gone into a block is not pending, even if the node finds it there', async () => {
    listed = idsFrom(0, 300);
    mined = new Set([hexOf(100, 32)]);
    expect(await pending()).toEqual([hexOf(0, 32), hexOf(200, 32)]);
  });
});
