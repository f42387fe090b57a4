/** Random histories of payments, chains, withdrawals and refunds: states, balances and fees equal those of a naive model, to the unit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/shared/problem.js';
import { enginesOfSoak } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { randomOf } from '../support/random.js';
import { roundsOf, seedsOf, startRound } from '../support/rounds.js';
import {
  NaiveModel,
  type ModelMerchant,
  type ModelPayment,
  type ModelTransfer,
  type ModelTx,
} from './naive-model.js';
import { openSteppedShop, payee, reorgAll, type SteppedShop } from '../support/stepped-shop.js';
import type { Actor } from '../../src/core/shared/scope.js';
import { refunds as refundsModule } from '../../src/modules/refunds/module.js';

const batchSize = 50;
const steps = 50;
const networks = ['tron', 'bsc'] as const;
type Network = (typeof networks)[number];
const destinations = { tron: externalAddresses.tron, bsc: externalAddresses.evm };
/** In units of the currency. */
const refundFees: Readonly<Record<string, bigint>> = {
  'USDT tron': 200_000n,
  'TRX tron': 300_000n,
  'USDT bsc': 50_000n,
  'USDC bsc': 50_000n,
};
const withdrawalFees = { tron: 200_000n, bsc: 50_000n };
const assets = { tron: ['USDT'], bsc: ['USDT', 'USDC'] } as const;
const wrong = { tron: 'TRX', bsc: 'USDC' } as const;

describe.each(enginesOfSoak)('random histories, on $name', (engine) => {
  let shop: SteppedShop;
  beforeAll(async () => {
    shop = await openSteppedShop(engine);
    for (const network of networks) await shop.scan(network);
  });
  afterAll(() => shop.close());

  const seeds = seedsOf(roundsOf({ usual: 8, soak: 500 }));
  const batches = Math.ceil(seeds.length / batchSize);
  it.each(Array.from({ length: batches }, (_, index) => index))(
    `Random histories equal the naive model (batch %i of ${batches})`,
    { timeout: 600_000 },
    async (batch) => {
      const from = batch * batchSize;
      startRound(`histories on ${engine.name}`, batch, batches);
      for (const seed of seeds.slice(from, from + batchSize)) await live(shop, seed);
      await shop.expectBooksInOrder();
    },
  );
});

/** Lives one history, and compares it with the model after every step that the server has seen. */
async function live(shop: SteppedShop, seed: number): Promise<void> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length)];
  const model = new NaiveModel();
  const history: string[] = [`seed ${seed}`];
  const scopes = new Map<ModelMerchant, Actor>();
  const resend = new Map<ModelTx, () => Promise<void>>();
  const feesBefore = new Map<string, bigint>();
  for (const currency of ['USDT', 'USDC', 'TRX']) feesBefore.set(currency, await shop.feeIncome(currency));

  for (const network of networks) {
    const chain = { height: 0, time: 0, times: new Map<number, number>(), txs: [] };
    model.chains.set(network, chain);
    await shop.mine(network, 12);
    const head = await shop.database.reader
      .selectFrom('simulated_blocks')
      .selectAll()
      .where('network', '=', network)
      .orderBy('height', 'desc')
      .limit(13)
      .execute();
    chain.height = head[0]?.height ?? 0;
    chain.time = head[0]?.time ?? 0;
    for (const { height, time } of head) chain.times.set(height, time);
  }
  const start = new Map(networks.map((network) => [network, model.chain(network).height - 10]));
  for (let count = 0; count < 2; count += 1) {
    const feeBasisPoints = pick([100, 37, 0, 250]) ?? 100;
    const scope = await shop.merchant(feeBasisPoints);
    const merchant = {
      id: scope.merchantId,
      feeBasisPoints: BigInt(feeBasisPoints),
      payments: [],
      transfers: [],
    };
    model.merchants.push(merchant);
    scopes.set(merchant, scope);
  }
  const payments = () => model.merchants.flatMap((merchant) => merchant.payments);
  const scopeOf = (merchant: ModelMerchant) => {
    const scope = scopes.get(merchant);
    if (!scope) throw new Error('Each merchant of the model has a scope');
    return scope;
  };
  const cents = (currency: string) => shop.cents.get(currency) ?? 100n;

  async function lock(): Promise<void> {
    const merchant = pick(model.merchants);
    const network = pick(networks) ?? 'tron';
    if (!merchant) return;
    const currency = pick(assets[network]) ?? 'USDT';
    const baseAmount = 1 + random(3000);
    const amount = (baseAmount / 100).toFixed(2);
    const locked = await shop.lock(scopeOf(merchant), { amount, currency, network });
    history.push(`lock ${locked.id}: ${locked.amount} ${currency} on ${network}`);
    merchant.payments.push({
      id: locked.id,
      merchant,
      network,
      currency,
      amount: locked.amount,
      expiresAt: locked.expiresAt,
      baseAmount: BigInt(baseAmount),
      txs: [],
      cancelledAt: undefined,
      hasSucceeded: false,
      state: 'awaiting_funds',
    });
    addresses.set(locked.id, locked.address);
  }
  const addresses = new Map<string, string>();
  /** The networks on which something happened since the last scan. */
  const changed = new Set<Network>(networks);
  let syncedAt = 0;

  async function payAtRandom(payment: ModelPayment): Promise<void> {
    const network = payment.network as Network;
    const currency = random(8) === 0 ? wrong[network] : payment.currency;
    const { amount: due } = payment;
    const amount = pick([
      due,
      due / 2n,
      due - due / 2n,
      due + 1n,
      due / 3n + 1n,
      BigInt(1 + random(999)),
      due * 2n,
    ]);
    if (amount === undefined || amount === 0n) return;
    const hash = await shop.send(network, currency, addresses.get(payment.id) ?? '', amount);
    const tx: ModelTx = { hash, network, currency, amount, payment, place: 'pending', receipt: undefined };
    history.push(`pay ${payment.id} ${amount} ${currency}: ${hash.slice(0, 8)}`);
    payment.txs.push(tx);
    model.chain(network).txs.push(tx);
  }

  async function withdraw(): Promise<void> {
    const merchant = pick(model.merchants);
    const network = pick(networks) ?? 'tron';
    if (!merchant) return;
    const fee = withdrawalFees[network];
    const { net } = model.balance(merchant, 'USDT');
    const coins = model.coins(merchant, 'USDT', network);
    // Whole cents.
    const most = ((net < coins ? net : coins) - fee) / 10_000n;
    const wished = most > 0n ? 1n + (BigInt(random(1_000_000)) * most) / 700_000n : BigInt(1 + random(500));
    const amount = wished * 10_000n;
    const isAllowed = model.canWithdraw(merchant, 'USDT', network, amount + fee);
    history.push(`withdraw ${amount} on ${network}: ${isAllowed}`);
    const decimal = `${amount / 1_000_000n}.${String(amount % 1_000_000n)
      .padStart(6, '0')
      .slice(0, 2)}`;
    try {
      const { id } = await shop.withdraw(scopeOf(merchant), decimal, destinations[network], network);
      expect(isAllowed, history.join('\n')).toBe(true);
      merchant.transfers.push({
        id,
        network,
        currency: 'USDT',
        amount,
        fee,
        status: 'pending',
        tx: undefined,
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      expect([error.code, isAllowed], history.join('\n')).toEqual(['insufficient_balance', false]);
    }
  }

  /** Asks for a refund of a payment, in one of the coins that it may have been paid in. */
  async function refund(payment: ModelPayment): Promise<void> {
    const network = payment.network as Network;
    const { merchant } = payment;
    const currency = random(4) === 0 ? wrong[network] : payment.currency;
    const kinds = ['full', 'excess', 'unaccepted', 'partial'] as const;
    const wishes = kinds.map((kind) => ({
      kind,
      currency,
      network,
      amount: BigInt(1 + random(1200)) * (payment.amount / 1000n + 1n),
      withFee: random(2) === 0,
      isToday: random(3) === 0,
    }));
    // Mostly one that is possible.
    const possible = wishes.filter((one) => model.refundable(payment, one, cents(currency)) !== undefined);
    const wish = (random(4) > 0 ? pick(possible) : undefined) ?? pick(wishes);
    if (!wish) return;
    const isPayers = random(3) === 0;
    const fee = refundFees[`${currency} ${network}`] ?? 0n;
    const share = model.refundable(payment, wish, cents(currency));
    const amount = share === undefined ? 0n : share.coins - (isPayers ? fee : 0n);
    const feeBack = wish.kind === 'excess' ? (share?.serviceFee ?? 0n) : 0n;
    const isAllowed = amount > 0n && model.canWithdraw(merchant, currency, network, amount + fee - feeBack);
    const decimal = `${wish.amount / 1_000_000n}.${String(wish.amount % 1_000_000n).padStart(6, '0')}`;
    const hasAddress = random(2) === 0;
    history.push(`refund ${wish.kind} ${currency} of ${payment.id} ${decimal}: ${amount} ${isAllowed}`);
    const request = {
      paymentId: payment.id,
      kind: wish.kind,
      currency,
      network,
      refundFee: wish.withFee,
      by: wish.isToday ? ('today' as const) : ('coins' as const),
      networkFee: isPayers ? ('payer' as const) : ('merchant' as const),
      ...(wish.kind === 'partial' && { amount: decimal }),
      ...(hasAddress && { address: destinations[network] }),
    } as const;
    try {
      const { id, claimUrl = '' } = await shop.database.write((transaction) =>
        refundsModule.rules(shop.app).create(transaction, scopeOf(merchant), request, 'test'),
      );
      expect(isAllowed, history.join('\n')).toBe(true);
      tokens.set(id, new URL(claimUrl).hash.slice(1));
      merchant.transfers.push({
        id,
        network,
        currency,
        amount,
        fee,
        status: 'held',
        tx: undefined,
        refund: {
          id,
          payment,
          kind: wish.kind,
          hasAddress,
          used: share?.used ?? 0n,
          serviceFee: share?.serviceFee ?? 0n,
          ofSuccess: payment.state.startsWith('settled'),
        },
      });
      if (hasAddress) model.assessAll(shop.time.now);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      expect([error.code, isAllowed], history.join('\n')).toEqual([
        amount > 0n ? 'insufficient_balance' : 'invalid_state',
        false,
      ]);
    }
  }
  const tokens = new Map<string, string>();
  const secrets = new Map<string, string>();
  const browser = {
    find: (id: string) => secrets.get(id),
    keep: (id: string, secret: string) => void secrets.set(id, secret),
  };
  const held = () =>
    model.merchants.flatMap((merchant) =>
      merchant.transfers
        .filter(({ status }) => status === 'held')
        .map((transfer) => ({ merchant, transfer, refund: transfer.refund })),
    );

  /** A refund gets its address, is approved or cancelled. */
  async function goOn(): Promise<void> {
    const { merchant, transfer, refund: of } = pick(held()) ?? {};
    if (!merchant || !transfer || !of) return;
    const refunds = refundsModule.rules(shop.app);
    const what = pick(['address', 'approve', 'approve', 'cancel'] as const);
    history.push(`${what} ${of.id}`);
    const scope = scopeOf(merchant);
    if (what === 'address') {
      const address = destinations[transfer.network as Network];
      const token = tokens.get(of.id) ?? '';
      const isAllowed = of.hasAddress || model.isDue(transfer);
      try {
        await shop.database.write((transaction) =>
          refunds.claims.setAddress(transaction, { token, address }, undefined, browser),
        );
        expect(isAllowed, history.join('\n')).toBe(true);
        if (!of.hasAddress) of.ofSuccess = of.payment.state.startsWith('settled');
        of.hasAddress = true;
        model.assessAll(shop.time.now);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        expect([error.code, isAllowed], history.join('\n')).toEqual(['invalid_state', false]);
      }
    } else if (what === 'cancel') {
      await shop.database.write((transaction) => refunds.cancel(transaction, scope, of.id, 'test'));
      transfer.status = 'back';
      model.assessAll(shop.time.now);
    } else {
      const isAllowed = model.canApprove(transfer);
      try {
        const { transferId } = await shop.database.write((transaction) =>
          refunds.approve(transaction, scope, of.id, 'test'),
        );
        expect(isAllowed, history.join('\n')).toBe(true);
        Object.assign(transfer, { id: transferId, status: 'pending' });
        // The server pays in the order of its transfers, and this one is new.
        merchant.transfers.splice(merchant.transfers.indexOf(transfer), 1);
        merchant.transfers.push(transfer);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        expect([error.code, isAllowed], history.join('\n')).toEqual(['invalid_state', false]);
      }
    }
  }

  async function reorg(network: Network): Promise<void> {
    const lowest = start.get(network) ?? 0;
    const depth = Math.min(1 + random(6), model.chain(network).height - lowest);
    const keep = random(2) === 0;
    history.push(`reorg ${network} ${depth} ${keep ? 'keep' : 'drop'}`);
    await shop.database.write((transaction) => reorgAll(transaction, shop.app, network, depth, keep));
    const inBlocks = model.chain(network).txs.filter(({ place }) => typeof place === 'number');
    model.reorg(network, depth, keep, shop.time.now);
    for (const tx of inBlocks) if (tx.place === 'gone' && tx.payment) resend.set(tx, () => insertAgain(tx));
  }

  const insertAgain = (tx: ModelTx) =>
    shop.database.write(async (transaction) => {
      const row = {
        tx_hash: tx.hash,
        merchant_id: payee,
        network: tx.network,
        currency: tx.currency,
        sender: 'T',
      };
      const rest = { address: addresses.get(tx.payment?.id ?? '') ?? '', amount: tx.amount.toString() };
      await transaction
        .insertInto('simulated_transfers')
        .values({ ...row, ...rest, sent_at: shop.time.now, block_height: null })
        .execute();
    });

  async function dropPending(): Promise<void> {
    const waiting = [...model.chains.values()].flatMap(({ txs }) =>
      txs.filter(({ place, payment }) => place === 'pending' && payment),
    );
    const tx = pick(waiting);
    if (!tx) return;
    history.push(`drop ${tx.hash.slice(0, 8)}`);
    await shop.drop(tx.hash);
    tx.place = 'gone';
    changed.add(tx.network as Network);
    resend.set(tx, () => insertAgain(tx));
  }

  async function sendAgain(): Promise<void> {
    const tx = pick([...resend.keys()]);
    if (!tx) return;
    history.push(`again ${tx.hash.slice(0, 8)}`);
    await resend.get(tx)?.();
    resend.delete(tx);
    changed.add(tx.network as Network);
    tx.place = 'pending';
  }

  async function cancel(payment: ModelPayment): Promise<void> {
    // A payment can be cancelled depending on what the server has seen: the same as the model.
    const isOpen = ['awaiting_funds', 'partially_paid', 'confirming'].includes(payment.state);
    if (!isOpen) return;
    history.push(`cancel ${payment.id}`);
    payment.cancelledAt = shop.time.now;
    await shop.database.write((transaction) =>
      shop.app.payments.cancel(transaction, scopeOf(payment.merchant), payment.id),
    );
    model.assessAll(shop.time.now);
  }

  /** The server reads the chains and does its jobs, and so does the model. */
  async function sync(doesSend = true): Promise<void> {
    for (const network of syncedAt === shop.time.now ? changed : networks) {
      await shop.scan(network);
      model.scan(network, shop.time.now, cents);
    }
    changed.clear();
    syncedAt = shop.time.now;
    await shop.pass(0, []);
    model.assessAll(shop.time.now);
    if (!doesSend) return;
    await shop.advance();
    const { signed } = model.advance();
    model.assessAll(shop.time.now);
    for (const transfer of signed) {
      const { tx_hash: hash } = await shop.transfer(transfer.id);
      const { network, currency, amount } = transfer;
      const tx: ModelTx = {
        hash: hash ?? '',
        network,
        currency,
        amount,
        payment: undefined,
        place: 'pending',
        receipt: undefined,
      };
      transfer.tx = tx;
      model.chain(network).txs.push(tx);
    }
  }

  async function compare(): Promise<void> {
    const expected: Record<string, unknown> = {};
    const actual: Record<string, unknown> = {};
    const states = await shop.database.reader
      .selectFrom('payments')
      .select(['id', 'state'])
      .where(
        'merchant_id',
        'in',
        model.merchants.map(({ id }) => id),
      )
      .execute();
    for (const { id, state } of states) actual[id] = state;
    for (const { id, state } of payments()) expected[id] = state;
    for (const merchant of model.merchants) {
      for (const transfer of merchant.transfers) {
        const { id, status, refund: of } = transfer;
        if (of) {
          expected[of.id] = refundStatus(transfer);
          actual[of.id] = (await refundsModule.rules(shop.app).retrieve(scopeOf(merchant), of.id)).status;
        }
        if (status === 'held' || status === 'back') continue;
        expected[id] = status;
        actual[id] = (await shop.transfer(id)).status;
      }
    }
    for (const currency of ['USDT', 'USDC', 'TRX']) {
      expected[`fees ${currency}`] = model.fees(currency);
      actual[`fees ${currency}`] = (await shop.feeIncome(currency)) - (feesBefore.get(currency) ?? 0n);
      for (const merchant of model.merchants) {
        expected[`${merchant.id} ${currency}`] = model.balance(merchant, currency);
        actual[`${merchant.id} ${currency}`] = await shop.balance(scopeOf(merchant), currency);
      }
    }
    expect(actual, history.join('\n')).toEqual(expected);
  }

  for (let count = 0; count < 3; count += 1) await lock();
  for (let step = 0; step < steps; step += 1) {
    const payment = pick(payments());
    const network = pick(networks) ?? 'tron';
    changed.add(network);
    if (payment) changed.add(payment.network as Network);
    switch (random(23)) {
      case 16:
      case 17:
      case 18: {
        // Mostly of one that brought something.
        const credited = payments().filter(({ txs }) =>
          txs.some(({ receipt }) => receipt?.fee !== undefined),
        );
        const paid = (random(8) > 0 ? pick(credited) : undefined) ?? payment;
        if (paid) await refund(paid);
        break;
      }
      case 19:
      case 20:
      case 21:
      case 22:
        await goOn();
        break;
      case 0:
        await lock();
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        if (payment) await payAtRandom(payment);
        break;
      case 5:
      case 6:
      case 7: {
        const count = 1 + random(2);
        history.push(`mine ${network} ${count}`);
        await shop.database.write((transaction) =>
          shop.app.simulatedChains.mine(transaction, network, count),
        );
        model.mine(network, count, shop.time.now);
        break;
      }
      case 8:
      case 9:
        await reorg(network);
        break;
      case 10: {
        const ms = random(15) * 60_000;
        history.push(`pass ${ms}`);
        shop.time.now += ms;
        break;
      }
      case 11:
        await dropPending();
        break;
      case 12:
        await sendAgain();
        break;
      case 13:
        await withdraw();
        break;
      case 14: {
        const price = BigInt(95 + random(10));
        history.push(`price ${price}`);
        shop.cents.set('USDT', price);
        break;
      }
      default:
        if (random(4) === 0) {
          history.push('restart');
          await shop.restart();
        } else if (payment && random(2) === 0) await cancel(payment);
    }
    // Now and then, several things happen between two scans.
    if (random(4) === 0) continue;
    // Withdrawals are sent less often than chains are read, so that deposits can be lost in between.
    await sync(random(2) === 0);
    if (random(6) === 0) await compare();
  }
  shop.time.now += 3_600_000;
  // The second time, the last transaction is confirmed too: it would pay its fee in the next history.
  for (const blocks of [2, 20]) {
    for (const network of networks) {
      changed.add(network);
      await shop.database.write((transaction) => shop.app.simulatedChains.mine(transaction, network, blocks));
      model.mine(network, blocks, shop.time.now);
    }
    await sync();
    await sync();
    await compare();
  }
}

function refundStatus({ status, refund }: ModelTransfer): string {
  switch (status) {
    case 'held':
      return refund?.hasAddress ? 'awaiting_approval' : 'awaiting_address';
    case 'pending':
      return 'approved';
    case 'success':
      return 'paid';
    case 'back':
      return 'cancelled';
    default:
      return status;
  }
}
