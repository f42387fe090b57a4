/**
 * Random histories of chains: duplicates, reorganisations, replacements, gaps, lag, failing nodes, crashes, restarts, and several
 * networks of one key. Payments, receipts, balances and fees equal those of a naive model after every scan, to the unit.
 */
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressSource, type AddressSource } from '../../src/core/addresses/address-sources.js';
import { readCursor } from '../../src/core/scanning/cursors.js';
import type { Network } from '../../src/core/chains/networks.js';
import type { ScanBatch } from '../../src/core/scanning/scan.js';
import type { Actor, Mode } from '../../src/core/shared/scope.js';
import { NaiveModel, type ModelMerchant, type ModelPayment, type ModelTx } from '../payments/naive-model.js';
import { enginesOfSoak } from '../support/engines.js';
import { randomOf } from '../support/random.js';
import { roundsOf, seedsOf, startRound } from '../support/rounds.js';
import { ScriptedChain, type NodeView, type ScriptedTx, type Trouble } from '../support/scripted-chain.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

/** Per engine. */
const seeds = seedsOf(roundsOf({ usual: 6, soak: 200 }));
const batchSize = 50;
const steps = 18;

const assets = {
  USDT: { minAmount: '0.01', withdrawalFee: '1' },
  USDC: { minAmount: '0.01', withdrawalFee: '1' },
};
const currencies = ['USDT', 'USDC'] as const;
const networkOf = (mode: Mode, code: string, confirmations: number): Network => ({
  mode,
  code,
  name: code,
  family: 'evm',
  confirmations,
  assets,
});
/** Both live networks share each merchant's key, and the test network has a key of its own. */
const networks = [
  networkOf('live', 'ethereum', 2),
  networkOf('live', 'polygon', 4),
  networkOf('test', 'sepolia', 2),
] as const;

const root = HDKey.fromMasterSeed(new Uint8Array(32).fill(9));

interface Line {
  readonly network: Network;
  readonly chain: ScriptedChain;
}

describe.each(enginesOfSoak)('random histories of chains, on $name', (engine) => {
  const sources = new Map<string, AddressSource>();
  const start = Date.UTC(2026, 0, 1);
  const lines: readonly Line[] = networks.map((network, index) => ({
    network,
    // The second one returns ranges of blocks while the scan catches up.
    chain: new ScriptedChain(network.mode, network.code, index === 1 ? 7 : 0, start),
  }));
  let shop: SteppedShop;
  beforeAll(async () => {
    shop = await openSteppedShop(engine, {
      networks: [...lines],
      addressSources: {
        find({ merchantId, mode }) {
          const key = `${merchantId}/${mode}`;
          const made =
            sources.get(key) ??
            createAddressSource(mode, 'evm', root.derive(`m/44'/60'/${sources.size}'`).publicExtendedKey);
          sources.set(key, made);
          return made;
        },
      },
    });
    for (const { network } of lines) await scanOf(shop, network);
  });
  afterAll(() => shop.close());

  const batches = Math.ceil(seeds.length / batchSize);
  it.each(Array.from({ length: batches }, (_, index) => index))(
    `random histories equal the naive model (batch %i of ${batches})`,
    { timeout: 600_000 },
    async (batch) => {
      startRound(`chain histories on ${engine.name}`, batch, batches);
      const from = batch * batchSize;
      for (const seed of seeds.slice(from, from + batchSize)) await live(shop, lines, seed);
      await shop.expectBooksInOrder();
    },
  );
});

const scanOf = (shop: SteppedShop, { mode, code: network }: Network) =>
  shop.app.scanner.scanNow({ mode, network });

/** Lives one history, and compares it with the model after its scans. */
async function live(shop: SteppedShop, lines: readonly Line[], seed: number): Promise<void> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => {
    const found = list[random(list.length)];
    if (found === undefined) throw new Error('Nothing to pick');
    return found;
  };
  const history = [`seed ${seed}`];
  const models = { live: new NaiveModel(), test: new NaiveModel() };
  const actors = new Map<ModelMerchant, Actor>();
  const addresses = new Map<ModelPayment, string>();
  const lowest = new Map<ScriptedChain, number>();
  const views = new Map<ScriptedChain, NodeView>();
  /** Transactions that a network has lost, and that can come back. */
  const dropped: { readonly chain: ScriptedChain; readonly tx: ScriptedTx }[] = [];
  const feesBefore = new Map<string, bigint>();
  let sent = 0;
  let spent = 0;
  const spend = () => (spent += 1);
  const cents = (currency: string) => shop.cents.get(currency) ?? 100n;
  const modelOf = ({ mode }: { readonly mode: Mode }) => models[mode];
  const payments = () =>
    [models.live, models.test].flatMap(({ merchants }) => merchants.flatMap((merchant) => merchant.payments));

  for (const { network, chain } of lines) {
    // Waiting transactions belong to earlier histories.
    chain.mempool = [];
    chain.expect({});
    chain.mine(3, shop.time.now);
    await scanOf(shop, network);
    modelOf(network).chains.set(network.code, {
      height: chain.tip.height,
      time: 0,
      times: new Map(),
      txs: [],
      confirmations: network.confirmations,
      readUntil: 0,
    });
    lowest.set(chain, chain.tip.height);
    views.set(chain, chain.view());
  }
  for (const mode of ['live', 'test'] as const) {
    for (const currency of currencies) {
      feesBefore.set(`${mode}/${currency}`, await shop.feeIncome(currency, mode));
    }
    const feeBasisPoints = pick([100, 37, 0]);
    const { merchantId: id } = await shop.merchant(feeBasisPoints);
    const merchant = { id, feeBasisPoints: BigInt(feeBasisPoints), payments: [], transfers: [] };
    models[mode].merchants.push(merchant);
    actors.set(merchant, { merchantId: id, mode, kind: 'secret' });
  }

  async function lock(): Promise<void> {
    const { network } = pick(lines);
    const [merchant] = modelOf(network).merchants;
    const actor = merchant && actors.get(merchant);
    if (!merchant || !actor) throw new Error('Each mode has a merchant');
    const currency = pick(currencies);
    // In cents. One would be less than a network's minimum at some prices.
    const base = 2 + random(3000);
    const locked = await shop.lock(actor, {
      amount: (base / 100).toFixed(2),
      currency,
      network: network.code,
    });
    const payment: ModelPayment = {
      id: locked.id,
      merchant,
      network: network.code,
      currency,
      amount: locked.amount,
      expiresAt: locked.expiresAt,
      baseAmount: BigInt(base),
      txs: [],
      cancelledAt: undefined,
      hasSucceeded: false,
      state: 'awaiting_funds',
    };
    history.push(`lock ${locked.id}: ${locked.amount} ${currency} on ${network.code}`);
    merchant.payments.push(payment);
    addresses.set(payment, locked.address);
  }

  /** A transaction with one transfer or two, to the addresses of payments, on any network of their mode. */
  function payAtRandom(coins = spend(), hash = `${seed}-tx-${(sent += 1)}`, line = pick(lines)): ScriptedTx {
    const { network, chain } = line;
    const transfers = Array.from({ length: random(4) === 0 ? 2 : 1 }, (_, outputIndex) => {
      // Most pay on the right network.
      const right = payments().filter(({ network: code }) => code === network.code);
      const payment = pick(right.length > 0 && random(5) > 0 ? right : payments());
      const currency = random(8) === 0 ? pick(currencies) : payment.currency;
      const { amount: due } = payment;
      const amount = pick([due, due, due / 2n, due - due / 2n, due + 1n, due / 3n + 1n, due * 2n, 0n]);
      const tx: ModelTx = {
        hash: `${hash}:${outputIndex}`,
        network: network.code,
        currency,
        amount,
        payment,
        place: 'gone',
        receipt: undefined,
      };
      // A transfer of nothing is not one, and nobody watches the addresses of one mode in the other.
      if (amount > 0n && modelOf(network).merchants.includes(payment.merchant)) {
        payment.txs.push(tx);
        modelOf(network).chain(network.code).txs.push(tx);
      }
      history.push(`pay ${payment.id} ${amount} ${currency} on ${network.code}: ${tx.hash}`);
      const address = addresses.get(payment) ?? '';
      return { txHash: hash, outputIndex, currency, senders: [], address, amount };
    });
    const tx = { hash, coins, transfers };
    chain.send(tx);
    return tx;
  }

  /**
   * Everything that the server learns from a committed batch: the branch of its head, and the mempool if that was read.
   */
  function learn({ network, chain }: Line, batch: ScanBatch): void {
    const model = modelOf(network);
    const known = model.chain(network.code);
    const tip = chain.find(batch.head.hash);
    const waiting = batch.pending && new Set(chain.reported.map(({ hash }) => hash));
    known.height = tip.height;
    const times = batch.blocks.map(({ time }) => Math.min(time, shop.time.now) - 1);
    known.readUntil = Math.max(known.readUntil ?? 0, ...times);
    for (const tx of known.txs) {
      const hash = tx.hash.slice(0, tx.hash.lastIndexOf(':'));
      const block = chain.blockOf(hash, tip, lowest.get(chain) ?? 0);
      if (block) {
        known.times.set(block.height, block.time);
        tx.place = block.height;
      } else if (waiting) tx.place = waiting.has(hash) ? 'pending' : 'gone';
      else if (typeof tx.place === 'number') tx.place = 'pending';
    }
    model.scan(network.code, shop.time.now, cents);
  }

  /** Scans once, and lets the model learn what was written. @returns true if the scan has succeeded */
  async function scan(line: Line, trouble: Trouble & { readonly crashesAt?: number }): Promise<boolean> {
    const { network, chain } = line;
    chain.expect(trouble);
    const { receipts } = shop.app;
    const apply = receipts.apply.bind(receipts);
    let written = 0;
    const written_: ScanBatch[] = [];
    receipts.apply = async (transaction, batch) => {
      const outcome = await apply(transaction, batch);
      written += 1;
      if (written === trouble.crashesAt) throw new Error('The process was killed');
      written_.push(batch);
      learn(line, batch);
      return outcome;
    };
    try {
      await scanOf(shop, network);
      const { tip } = trouble.lag ?? chain.view();
      expect(await readCursor(shop.database.reader, chain), history.join('\n')).toMatchObject({
        height: tip.height,
        hash: tip.hash,
      });
      return true;
    } catch (error) {
      if (
        !(error instanceof Error) ||
        !/is down|was killed|behind block|reorganised while/.test(error.message)
      )
        throw error;
      history.push(`scan failed: ${error.message}`);
      return false;
    } finally {
      receipts.apply = apply;
      chain.expect({});
    }
  }

  async function sync(isQuiet = false): Promise<void> {
    for (const line of lines) {
      const { chain, network } = line;
      if (!isQuiet && random(2) === 0) continue;
      const trouble = isQuiet ? {} : makeTrouble(line);
      const isDone = await scan(line, trouble);
      if (!isDone && 'crashesAt' in trouble) await shop.restart();
      history.push(`scan ${network.code}: ${isDone ? `block ${chain.tip.height}` : 'failed'}`);
    }
    await shop.app.payments.expireOverdue(new AbortController().signal);
    models.live.assessAll(shop.time.now);
    models.test.assessAll(shop.time.now);
  }

  function makeTrouble({ network, chain }: Line): Trouble & { readonly crashesAt?: number } {
    switch (random(8)) {
      case 0: {
        const failsAt = 1 + random(5);
        history.push(`${network.code} fails at call ${failsAt}`);
        return { failsAt };
      }
      case 1: {
        const lag = views.get(chain) ?? chain.view();
        history.push(`${network.code} lags at block ${lag.tip.height}`);
        return { lag };
      }
      case 2:
        history.push(`${network.code} is scanned by a server that is killed`);
        return { crashesAt: 1 + random(2) };
      case 3:
      case 4: {
        const at = 1 + random(6);
        const isReorg = random(2) === 0;
        history.push(`${network.code} ${isReorg ? 'is reorganised' : 'mines'} at call ${at}`);
        return { moves: { at, move: () => (isReorg ? reorg(chain) : mine(chain, 1)) } };
      }
      default:
        return {};
    }
  }

  function mine(chain: ScriptedChain, count: number): void {
    history.push(`mine ${chain.network} ${count}`);
    chain.mine(count, shop.time.now, () => random(4) > 0);
  }

  function reorg(chain: ScriptedChain): void {
    const most = chain.tip.height - (lowest.get(chain) ?? 0);
    const depth = Math.min(random(8) === 0 ? 1 + random(60) : 1 + random(5), most);
    const longer = random(3);
    const fate = random(3);
    history.push(`reorg ${chain.network} ${depth} + ${longer}, ${['all', 'none', 'some'][fate]} return`);
    chain.reorg(depth, longer, shop.time.now, () => fate === 0 || (fate === 2 && random(2) === 0));
  }

  /** Takes a transaction out of the mempool, and maybe puts another one that spends the same coins in its place. */
  function replace(): void {
    const line = pick(lines);
    const { chain, network } = line;
    if (chain.mempool.length === 0) return;
    const tx = pick(chain.mempool);
    const { hash, coins } = tx;
    chain.mempool = chain.mempool.filter((other) => other !== tx);
    history.push(`replace ${hash} on ${network.code}`);
    if (random(3) > 0) payAtRandom(coins, undefined, line);
    else dropped.push({ chain, tx });
  }

  async function cancel(): Promise<void> {
    const payment = pick(payments());
    const actor = actors.get(payment.merchant);
    if (!actor || !['awaiting_funds', 'partially_paid', 'confirming'].includes(payment.state)) return;
    history.push(`cancel ${payment.id}`);
    payment.cancelledAt = shop.time.now;
    await shop.database.write((transaction) => shop.app.payments.cancel(transaction, actor, payment.id));
    modelOf(actor).assessAll(shop.time.now);
  }

  async function compare(): Promise<void> {
    const expected: Record<string, unknown> = {};
    const actual: Record<string, unknown> = {};
    const ids = payments().map(({ id }) => id);
    const { reader } = shop.database;
    const states = await reader
      .selectFrom('payments')
      .select(['id', 'state'])
      .where('id', 'in', ids)
      .execute();
    for (const { id, state } of states) actual[id] = state;
    for (const { id, state, txs } of payments()) {
      expected[id] = state;
      for (const { hash, network, place, amount, receipt } of txs) {
        if (!receipt) continue;
        const gone = receipt.wasLost ? 'reversed' : 'dropped';
        const present = receipt.isConfirmed ? 'confirmed' : 'seen';
        const height = typeof place === 'number' ? place : null;
        expected[`${network}/${hash}`] = [id, amount, receipt.isPresent ? present : gone, height].join();
      }
    }
    const rows = await reader.selectFrom('receipts').selectAll().where('payment_id', 'in', ids).execute();
    for (const row of rows) {
      const key = `${row.network}/${row.tx_hash}:${row.output_index}`;
      expect(actual, history.join('\n')).not.toHaveProperty([key]);
      actual[key] = [row.payment_id, row.amount, row.status, row.block_height].join();
    }
    for (const mode of ['live', 'test'] as const) {
      const model = models[mode];
      for (const currency of currencies) {
        const name = `${mode}/${currency}`;
        expected[name] = model.fees(currency);
        actual[name] = (await shop.feeIncome(currency, mode)) - (feesBefore.get(name) ?? 0n);
        for (const merchant of model.merchants) {
          const actor = actors.get(merchant);
          expected[`${name} of ${merchant.id}`] = model.balance(merchant, currency);
          actual[`${name} of ${merchant.id}`] = actor && (await shop.balance(actor, currency));
        }
      }
    }
    expect(actual, history.join('\n')).toEqual(expected);
  }

  for (let count = 0; count < 3; count += 1) await lock();
  for (let step = 0; step < steps; step += 1) {
    const { chain } = pick(lines);
    switch (random(16)) {
      case 0:
        if (payments().length < 7) await lock();
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        payAtRandom();
        break;
      case 5: {
        // Networks that share a key can share a transaction's hash too.
        const { hash, coins } = payAtRandom();
        for (const line of lines)
          if (!line.chain.mempool.some((tx) => tx.hash === hash)) payAtRandom(coins, hash, line);
        break;
      }
      case 6:
      case 7:
      case 8:
        mine(chain, 1 + random(3));
        break;
      case 9:
      case 10:
        reorg(chain);
        break;
      case 11:
        replace();
        break;
      case 12: {
        const ms = random(20) * 60_000;
        history.push(`pass ${ms}`);
        shop.time.now += ms;
        break;
      }
      case 13:
        if (random(3) === 0) mine(chain, 40 + random(40));
        else if (dropped.length > 0 && random(2) === 0) {
          const [again] = dropped.splice(random(dropped.length), 1);
          history.push(`again ${again?.tx.hash}`);
          if (again) again.chain.send(again.tx);
        } else shop.cents.set(pick(currencies), BigInt(95 + random(10)));
        break;
      case 14:
        if (random(2) === 0) views.set(chain, chain.view());
        else await cancel();
        break;
      default:
        history.push('another server');
        if (random(2) === 0) await shop.switchServer();
        else await shop.restart();
    }
    // Now and then, several things happen between two scans.
    if (random(3) === 0) continue;
    await sync();
    if (random(6) === 0) await compare();
  }
  shop.time.now += 3_600_000;
  for (const { chain } of lines) mine(chain, 5);
  await sync(true);
  await compare();
}
