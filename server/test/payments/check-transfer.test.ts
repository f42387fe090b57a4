/** A payer asks whether a transaction has paid their payment, on both engines, on simulated networks and with nodes that fail. */
import type { TransferCheck } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFindTransfers } from '../../src/core/chains/find-transfers.js';
import { NodesUnavailable } from '../../src/core/chains/nodes-unavailable.js';
import { enginesOfTurn } from '../support/engines.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';
import type { LockedPayment } from '../support/shop.js';

const noHash = 'ab'.repeat(32);

describe.each(enginesOfTurn)('the check of a transfer, on $name', (engine) => {
  let server: TestServer;
  let records: Records;

  beforeAll(async () => {
    server = await startServer({ engine });
    records = createRecords(server);
  });
  afterAll(() => server.stop());

  const ask = (id: string, hash: string) =>
    server.api('GET', `/v1/payments/${id}/transfers/${hash}`, { key: server.publicKey });
  const check = async (id: string, hash: string) => {
    const { status, body } = await ask(id, hash);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data as unknown as TransferCheck;
  };
  async function sendTo(payment: LockedPayment, amount: number, currency = 'USDT'): Promise<string> {
    const { network = '' } = payment.addressInformation ?? {};
    return (await records.shop.send(payment.address, amount, { network, currency })).txHash;
  }

  it.each(['tron', 'ethereum'])('The check shows amount and depth of a transfer on %s', async (network) => {
    const payment = await records.lockedPayment(network);
    const hash = await sendTo(payment, 1.5);
    const paid = { answer: 'paid_this', network, currency: 'USDT', amount: 1.5 };
    const first = await check(payment.id, hash);
    expect(first).toMatchObject({ ...paid, confirmations: 0 });
    await records.shop.mine(1, network);
    expect(await check(payment.id, hash)).toEqual({ ...first, confirmations: 1 });
    const bare = hash.replace(/^0x/, '');
    for (const form of [bare, `0x${bare}`, bare.toUpperCase()])
      expect(await check(payment.id, form)).toMatchObject(paid);
  });

  it('The check names the wrong coin and its amount', async () => {
    const payment = await records.lockedPayment();
    const hash = await sendTo(payment, 7, 'TRX');
    expect(await check(payment.id, hash)).toMatchObject({ answer: 'other_coin', currency: 'TRX', amount: 7 });
  });

  it('The check says about the transfers of others only that they paid another address', async () => {
    const [mine, theirs] = [await records.lockedPayment(), await records.lockedPayment()];
    const hash = await sendTo(theirs, 2);
    expect(await check(mine.id, hash)).toEqual({ answer: 'other_address', network: 'tron' });
    expect(await check(mine.id, noHash)).toEqual({ answer: 'unknown', network: 'tron' });
    const foreign = await server.foreignKey('public', 'test');
    const stolen = await server.api('GET', `/v1/payments/${theirs.id}/transfers/${hash}`, { key: foreign });
    expect([stolen.status, stolen.body.data.code]).toEqual([404, 'not_found']);
  });

  it('The check knows no transfer that a reorganisation removed', async () => {
    const payment = await records.lockedPayment();
    const hash = await sendTo(payment, 1);
    await records.shop.mine(1);
    await records.shop.sandbox('reorgs', { network: 'tron', depth: 1 });
    expect((await check(payment.id, hash)).answer).toBe('unknown');
  });

  it('The check refuses a text that is no hash, and a payment without an address', async () => {
    const { id } = await records.lockedPayment();
    for (const hash of [
      '1',
      `${noHash}0`,
      'zz'.repeat(32),
      encodeURIComponent(`https://x.example/${noHash}`),
    ])
      expect((await ask(id, hash)).body.data.code, hash).toBe('validation_error');
    expect((await ask(await records.setPayment(), noHash)).body.data.code).toBe('currency_not_set');
  });

  it('The check of a transfer changes nothing', async () => {
    const payment = await records.lockedPayment();
    const hash = await sendTo(payment, 1);
    const read = async () =>
      (await records.merchant.transactions.verify({ params: { transaction_id: payment.id } })).data;
    const before = await read();
    await check(payment.id, hash);
    await check(payment.id, noHash);
    expect(await read()).toEqual(before);
  });
});

it('a flood of checks is limited for each payer', async () => {
  const [engine] = enginesOfTurn;
  if (!engine) throw new Error('No database engine is available');
  const env = { RATE_LIMIT: 'on', RATE_LIMIT_TEST_FACTOR: '1' };
  const limited = await startServer({ engine, env });
  const statuses: number[] = [];
  for (let index = 0; index < 11; index += 1) {
    const path = `/v1/payments/none/transfers/${noHash}`;
    statuses.push((await limited.api('GET', path, { key: limited.publicKey })).status);
  }
  await limited.stop();
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});

describe('a real network', () => {
  const transfer = { outputIndex: 0, currency: 'USDT', senders: [], address: '0xA', amount: 1n };
  const transfers = [noHash, 'cd'.repeat(32)].map((hash) => ({ ...transfer, txHash: `0x${hash}` }));
  type Locate = () => Promise<{ height: number; isFailed: boolean } | undefined>;
  const finder = (locate: Locate, budget: { requestsSpare?: number } = {}) => {
    const network = { mode: 'live', code: 'ethereum', name: 'Ethereum' };
    const chain = { block: () => Promise.resolve({ transfers }) };
    const status = () => budget;
    const connected = [{ network, locate, chain, status }] as unknown as Parameters<
      typeof createFindTransfers
    >[0];
    const never = () => Promise.reject(new Error('It is not simulated'));
    const ref = { mode: 'live', network: 'ethereum' } as const;
    const found = createFindTransfers(connected, never);
    return () => found(ref, noHash, new AbortController().signal);
  };
  const find = (locate: Locate) => finder(locate)();

  it('The check finds only the transfers of the transaction in its block', async () => {
    expect(await find(() => Promise.resolve({ height: 1, isFailed: false }))).toEqual([transfers[0]]);
    expect(await find(() => Promise.resolve({ height: 1, isFailed: true }))).toBe('failed');
    expect(await find(() => Promise.resolve(undefined))).toBeUndefined();
  });

  it('a network whose nodes do not answer is an outage, and never an unknown transfer', async () => {
    const outage = find(() => Promise.reject(new NodesUnavailable('No node of ethereum can be used', [])));
    await expect(outage).rejects.toMatchObject({
      code: 'chain_unavailable',
      message: expect.stringContaining('Ethereum cannot be asked right now') as string,
    });
  });

  it('half of a budget of requests is kept for the scan', async () => {
    const budget = { requestsSpare: 1 };
    let asked = 0;
    const ask = finder(() => {
      asked += 1;
      return Promise.resolve(undefined);
    }, budget);
    expect(await ask()).toBeUndefined();
    budget.requestsSpare = 0;
    await expect(ask()).rejects.toMatchObject({
      code: 'chain_unavailable',
      details: { retryAfterSeconds: 10 },
    });
    expect(asked).toBe(1);
  });

  it('many simultaneous checks leave the scan its half of the budget, and stop counting once they end', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ask = finder(() => answered.then(() => undefined), { requestsSpare: 51 });
    const outcomes = Promise.allSettled(Array.from({ length: 60 }, ask));
    answer();
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await ask()).toBeUndefined();
  });
});
