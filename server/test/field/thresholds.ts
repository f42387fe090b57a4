/**
 * Public reports about limits by value and about second opinions: sums that are sent in parts, and nodes that are not
 * two. Each case names its report.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import type { ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';
import { ConfigError } from '../../src/core/config.js';
import { parseNetworks } from '../../src/modules/networks/networks-file.js';
import type { Network } from '../../src/core/chains/networks.js';
import { toTronAddress, tronDialect } from '../../src/modules/networks/tron/tron-dialect.js';
import { crossCheck } from '../../src/core/scanning/cross-check.js';
import { readCursor } from '../../src/core/scanning/cursors.js';
import { recorded } from '../networks/tron/recorded.js';
import { serve, stop } from '../networks/tron/serve.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { openSteppedShop, type LockedPayment, type SteppedShop } from '../support/stepped-shop.js';
import { TwoNodeChain } from '../support/two-node-chain.js';

const { signal } = new AbortController();
const code = 'scripted';
const alone: Network = {
  mode: 'test',
  code,
  name: 'Scripted',
  family: 'litecoin',
  confirmations: 2,
  // A day has ten blocks.
  blockSeconds: 8640,
  assets: { LTC: { minAmount: '0.0001', withdrawalFee: '0' } },
};
const withTwo: Network = { ...alone, crossCheckAbove: { amount: '1000', currency: 'USD' } };
const byValue: Network = {
  ...alone,
  depths: [
    { upTo: { amount: '100', currency: 'USD' }, confirmations: 2 },
    { upTo: { amount: '1000', currency: 'USD' }, confirmations: 4 },
    { confirmations: 6 },
  ],
};

const withoutTransfers = (block: ChainBlock | undefined) => block && { ...block, transfers: [] };
const honest = (block: ChainBlock | undefined) => block;

export const testThresholds = (engine: TestEngine): unknown =>
  describe(`On ${engine.name}`, () => {
    let chain: TwoNodeChain;
    let shop: SteppedShop;
    let merchant: Awaited<ReturnType<SteppedShop['merchant']>>;
    let networks: { network: Network; chain: TwoNodeChain }[];

    beforeAll(async () => {
      chain = new TwoNodeChain(code);
      chain.mine(0);
      networks = [{ network: alone, chain }];
      shop = await openSteppedShop(engine, { networks });
      await shop.scan(code);
    });
    beforeEach(async () => {
      Object.assign(chain, { isAlone: false, isOneProvider: false, second: honest });
      shop.cents.clear();
      merchant = await shop.merchant();
    });
    afterAll(() => shop.close());

    /** The server is started with another configuration. */
    async function configure(network: Network): Promise<void> {
      networks.splice(0, 1, { network, chain });
      await shop.restart();
    }

    const lock = (dollars: string) =>
      shop.lock(merchant, { amount: dollars, currency: 'LTC', network: code });
    /** @param dollars a coin costs one */
    const to = (
      { address }: { address: string },
      dollars: number,
      txHash: string,
      index = 0,
    ): ChainTransfer => ({
      txHash: `${txHash} ${merchant.merchantId}`,
      outputIndex: index,
      currency: 'LTC',
      senders: [],
      address,
      amount: BigInt(dollars) * 100_000_000n,
    });
    async function mine(...transfers: ChainTransfer[]): Promise<void> {
      shop.time.now += 1000;
      chain.mine(shop.time.now, transfers);
      await shop.scan(code);
    }
    const stateOf = async ({ id }: Pick<LockedPayment, 'id'>) => (await shop.payment(id)).state;
    const credited = async () => (await shop.balance(merchant, 'LTC')).custody / 100_000_000n;
    const status = async () => (await runWith(commandContext(shop), 'chains status')).text;

    async function openWallet() {
      const { addresses } = await shop.database.write((transaction) =>
        shop.app.wallets.create(transaction, merchant, { currency: 'LTC', label: '' }),
      );
      return { address: addresses.find(({ network }) => network === code)?.address ?? '' };
    }
    const deposits = () =>
      shop.database.reader
        .selectFrom('payments')
        .select(['id', 'state'])
        .where('wallet_id', 'is not', null)
        .where('merchant_id', '=', merchant.merchantId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
    const settled = async () => (await deposits()).filter(({ state }) => state === 'settled').length;

    describe('a second opinion is needed of a sum, regardless of the number of its parts (davout/bitcoin-central#8):', () => {
      beforeEach(() => configure(withTwo));

      it('50,000 dollars in 51 outputs of one transaction, which only one node shows, are not credited', async () => {
        const payment = await lock('10');
        chain.second = withoutTransfers;
        const outputs = Array.from({ length: 51 }, (_, index) => to(payment, 980, 'split', index));
        await mine(...outputs);
        for (let block = 1; block < 4; block += 1) await mine();
        expect(await stateOf(payment)).toBe('confirming');
        expect(-(await credited())).toBe(0n);
        expect((await readCursor(shop.database.reader, chain))?.disagreement).toContain(
          'node 2 does not have',
        );
        expect(await status()).toContain(`payment ${payment.id}: waits for a node of a second provider`);
        chain.second = honest;
        shop.time.now += 11_000;
        await mine();
        expect(await stateOf(payment)).toBe('settled_over');
        expect(await status()).not.toContain(payment.id);
        await shop.expectBooksInOrder();
      });

      it('one transaction that pays eight orders', async () => {
        const payments = await Promise.all(Array.from({ length: 8 }, () => lock('150')));
        chain.isAlone = true;
        await mine(...payments.map((payment, index) => to(payment, 150, 'eight', index)));
        await mine();
        await mine();
        expect(await Promise.all(payments.map(stateOf))).toEqual(payments.map(() => 'confirming'));
        chain.isAlone = false;
        shop.time.now += 11_000;
        await mine();
        expect(await Promise.all(payments.map(stateOf))).toEqual(payments.map(() => 'settled'));
      });

      it('transactions to one order, block by block', async () => {
        const payment = await lock('10');
        chain.isAlone = true;
        for (let part = 0; part < 5; part += 1) await mine(to(payment, 300, `part-${part}`));
        await mine();
        await mine();
        expect(await credited()).toBeLessThanOrEqual(900n);
        chain.isAlone = false;
        shop.time.now += 11_000;
        await mine();
        expect(await credited()).toBe(1500n);
      });

      it('deposits to one wallet within a day, and no longer', async () => {
        const wallet = await openWallet();
        chain.isAlone = true;
        for (let part = 0; part < 5; part += 1) {
          await mine(to(wallet, 300, `part-${part}`));
          await mine();
        }
        expect(await settled()).toBe(3);
        chain.isAlone = false;
        shop.time.now += 11_000;
        await mine();
        expect(await settled()).toBe(5);
        chain.isAlone = true;
        for (let block = 0; block < 9; block += 1) await mine();
        await mine(to(wallet, 300, 'another-day'));
        await mine();
        expect(await settled()).toBe(6);
        await shop.expectBooksInOrder();
      });

      it('A transfer that only one node shows makes its whole payment wait, also its parts that both nodes show', async () => {
        const payment = await lock('100');
        chain.second = (block) =>
          block && {
            ...block,
            transfers: block.transfers.filter(({ txHash }) => !txHash.startsWith('invented')),
          };
        await mine(to(payment, 100, 'real'), to(payment, 5000, 'invented'));
        await mine();
        await mine();
        expect(await stateOf(payment)).toBe('confirming');
        expect(await credited()).toBe(0n);
      });
    });

    describe('confirmations go by a sum, regardless of the number of its parts:', () => {
      beforeEach(() => configure(byValue));
      const required = async ({ id }: LockedPayment) =>
        (await shop.app.payments.verify({ ...merchant, kind: 'public' }, id)).confirmationsRequired;

      it('a transaction in 40 outputs that a miner undoes after three blocks leaves nothing behind (zerocurrencycoin/Zero#21)', async () => {
        const payments = await Promise.all([lock('95'), lock('95')]);
        const outputs = Array.from({ length: 40 }, (_, index) =>
          to(payments[index % 2] ?? { address: '' }, 95, 'split', index),
        );
        await mine(...outputs);
        await mine();
        await mine();
        expect(await Promise.all(payments.map(stateOf))).toEqual(['confirming', 'confirming']);
        expect(await Promise.all(payments.map(required))).toEqual([6, 6]);
        chain.undo(3);
        for (let block = 0; block < 4; block += 1) await mine();
        expect(await Promise.all(payments.map(stateOf))).toEqual(['awaiting_funds', 'awaiting_funds']);
        expect(await credited()).toBe(0n);
      });

      it('it counts when it is as deep as the sum asks for', async () => {
        const payment = await lock('95');
        await mine(...Array.from({ length: 12 }, (_, index) => to(payment, 95, 'split', index)));
        for (let block = 1; block < 5; block += 1) await mine();
        expect(await stateOf(payment)).toBe('confirming');
        await mine();
        expect(await stateOf(payment)).toBe('settled_over');
      });

      it('deposits to one wallet are added up while they could be undone, and not when they could no more', async () => {
        const wallet = await openWallet();
        await mine(to(wallet, 60, 'one'));
        await mine(to(wallet, 60, 'two'));
        await mine();
        expect(await settled()).toBe(0);
        for (let block = 0; block < 6; block += 1) await mine();
        expect(await settled()).toBe(2);
        await mine(to(wallet, 60, 'three'));
        await mine();
        expect(await settled()).toBe(3);
      });

      it('a number that was raised is not lowered because a coin gets cheaper (Scottcjn/Rustchain#6521)', async () => {
        const payment = await lock('95');
        await mine(...Array.from({ length: 12 }, (_, index) => to(payment, 95, 'split', index)));
        await mine();
        shop.cents.set('LTC', 1n);
        await mine();
        await mine();
        await mine();
        expect([await stateOf(payment), await required(payment)]).toEqual(['confirming', 6]);
        await mine();
        expect(await stateOf(payment)).toBe('settled_over');
      });
    });

    describe('the conditions of a payment are decided when it is due:', () => {
      beforeEach(() => configure(withTwo));

      it('a second provider that fails and is removed from the configuration holds up nothing (near/mpc#3225)', async () => {
        const payment = await lock('5000');
        chain.isAlone = true;
        await mine(to(payment, 5000, 'large'));
        for (let block = 0; block < 5; block += 1) await mine();
        expect(await stateOf(payment)).toBe('confirming');
        expect(await status()).toContain(payment.id);
        await configure(alone);
        await mine();
        expect(await stateOf(payment)).toBe('settled');
        expect(await status()).not.toContain(payment.id);
        await shop.expectBooksInOrder();
      });

      it('a second provider that is added is asked about what is due after that', async () => {
        await configure(alone);
        const payment = await lock('5000');
        await mine(to(payment, 5000, 'large'));
        await configure(withTwo);
        chain.isAlone = true;
        await mine();
        await mine();
        expect(await stateOf(payment)).toBe('confirming');
        chain.isAlone = false;
        shop.time.now += 11_000;
        await mine();
        expect(await stateOf(payment)).toBe('settled');
      });

      it('a limit that is raised lets go what is below it', async () => {
        const payment = await lock('5000');
        chain.isAlone = true;
        await mine(to(payment, 5000, 'large'));
        await mine();
        await configure({ ...withTwo, crossCheckAbove: { amount: '6000', currency: 'USD' } });
        await mine();
        expect(await stateOf(payment)).toBe('settled');
      });
    });

    describe('nodes that are not two:', () => {
      beforeEach(() => configure(withTwo));

      it('two URLs of one provider, as behind one balancer (GLEECBTC/komodo-defi-framework#1724)', async () => {
        const payment = await lock('5000');
        chain.isOneProvider = true;
        await mine(to(payment, 5000, 'large'));
        for (let block = 0; block < 3; block += 1) await mine();
        expect(await stateOf(payment)).toBe('confirming');
      });

      it('a provider that still returns the blocks from before a reorganisation (Near-One/rainbow-bridge#330)', async () => {
        const payment = await lock('5000');
        chain.second = (block) => block && { ...block, hash: `old-${block.height}`, transfers: [] };
        await mine(to(payment, 5000, 'large'));
        for (let block = 0; block < 3; block += 1) await mine();
        expect(await stateOf(payment)).toBe('confirming');
        expect(await status()).toContain('its nodes disagree: node 2 has block old-');
        chain.second = honest;
        shop.time.now += 11_000;
        await mine();
        expect(await stateOf(payment)).toBe('settled');
      });
    });
  });

/** The cases that need no database. */
export function testProviders(): void {
  describe('NETWORKS_FILE counts hosts, not URLs', () => {
    const limitOf = (nodes: readonly string[], more: object = {}) =>
      parseNetworks({ networks: { base: { nodes, ...more } } }, {})[0]?.network.crossCheckAbove;

    it.each([
      ['the same URL twice', 'https://rpc.example.com/v3/key', 'https://rpc.example.com/v3/key'],
      // polytope-labs/hyperbridge#813: paths and keys of one vendor add nothing.
      [
        'another key of the same provider',
        'https://rpc.example.com/v3/one',
        'https://rpc.example.com/v3/two',
      ],
      ['another port', 'https://rpc.example.com', 'https://rpc.example.com:8443'],
      ['another login', 'https://a:b@rpc.example.com', 'https://c:d@rpc.example.com'],
      // lifinance/contracts#2343: a name with its last dot is the same name.
      ['a name with its last dot', 'https://rpc.example.com', 'https://rpc.example.com.'],
      ['capitals', 'https://rpc.example.com', 'https://RPC.Example.com'],
      ['names of this machine', 'http://localhost:8545', 'http://127.0.0.1:8545'],
      ['ways to write an address', 'http://10.1.2.3:8545', 'http://[::ffff:10.1.2.3]:8545'],
    ])('%s', (_, first, second) => {
      expect(limitOf([first, second])).toBeUndefined();
      expect(() => limitOf([first, second], { crossCheckAbove: '7 USD' })).toThrow(ConfigError);
    });

    it.each([
      ['two providers', 'https://rpc.example.com', 'https://rpc.example.org'],
      ['two nodes of one’s own', 'http://127.0.0.1:8545', 'http://127.0.0.1:8546'],
      ['two containers', 'http://geth:8545', 'http://erigon:8545'],
      ['two own addresses', 'http://10.1.2.3:8545', 'http://10.1.2.4:8545'],
    ])('%s are two', (_, first, second) => {
      expect(limitOf([first, second])).toEqual({ amount: '1000', currency: 'USD' });
    });
  });

  // tronprotocol/java-tron#3152: a node without `saveInternalTx` does not report what contracts sent, while TronGrid
  // does.
  describe('TRX that a contract sent', () => {
    it('TRX that a contract sent is confirmed by a second node that reports it, and by none that does not', async () => {
      let isTelling = true;
      let isRaised = false;
      const answer = (path: string, question: Parameters<typeof recorded>[1]): unknown => {
        const reported = recorded(path, question);
        if (path !== '/wallet/gettransactioninfobyblocknum' || !Array.isArray(reported)) return reported;
        const text = JSON.stringify(reported);
        if (isRaised)
          return JSON.parse(text.replaceAll('"callValue":4000000', '"callValue":9000000')) as unknown;
        return isTelling
          ? reported
          : (JSON.parse(text.replaceAll('internal_transactions', 'other')) as unknown);
      };
      const nodes = [
        await serve((path, question) => Promise.resolve(recorded(path, question))),
        await serve((path, question) => Promise.resolve(answer(path, question))),
      ];
      try {
        const chain = createEvmChain(
          {
            dialect: tronDialect,
            mode: 'test',
            network: 'tron',
            chainId: 728_126_428,
            nodes: nodes.map(({ url }) => url),
            assets: [{ currency: 'TRX', decimals: 6 }],
          },
          { watched: (addresses) => Promise.resolve(new Set(addresses)) },
        );
        const height = 67_000_002;
        const block = await chain.block(height, signal);
        const paidByContract = toTronAddress(`0x${'b'.repeat(40)}`);
        const transfer = block?.transfers.find(({ address }) => address === paidByContract);
        if (!block || !transfer) throw new Error('It was not read');
        const receipt = {
          ...transfer,
          id: 'id',
          height,
          blockHash: block.hash,
          needsFinality: false,
          chainAmount: transfer.amount,
        };
        const check = () => crossCheck(chain, [receipt], signal);
        expect((await check()).checked).toHaveLength(1);
        isTelling = false;
        expect(await check()).toEqual({ checked: [], disagreement: undefined });
        isRaised = true;
        const { checked, disagreement } = await check();
        expect(checked).toEqual([]);
        expect(disagreement).toContain('node 2 does not have the transfer');
      } finally {
        for (const { server } of nodes) await stop(server);
      }
    });
  });
}
