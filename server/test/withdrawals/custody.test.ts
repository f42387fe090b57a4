/** A withdrawal takes coins of the merchant on its network, and is never silently short, on both engines. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/core/shared/scope.js';
import { enginesOfTurn } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

const usdt = (amount: number) => BigInt(Math.round(amount * 1_000_000));
const { tron, evm } = externalAddresses;
const hour = 3_600_000;

describe.each(enginesOfTurn)('the coins of a withdrawal, on $name', (engine) => {
  let shop: SteppedShop;
  afterEach(() => shop.close());

  async function startShop(): Promise<Actor> {
    shop = await openSteppedShop(engine);
    for (const network of ['tron', 'ethereum']) await shop.scan(network);
    return shop.merchant();
  }

  async function fund(scope: Actor, network: string, amount: number): Promise<string> {
    const payment = await shop.lock(scope, { amount: '1', network });
    const hash = await shop.send(network, 'USDT', payment.address, usdt(amount));
    await shop.mine(network, 2);
    expect((await shop.payment(payment.id)).state).toBe('settled_over');
    return hash;
  }

  it('The coins of a withdrawal must be on its network, and the refusal says where they are', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await expect(shop.withdraw(scope, '50', evm, 'ethereum')).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: 'This takes 50.5 USDT on ethereum, but only 0 USDT is held there; there is 100 USDT on tron',
    });
    await fund(scope, 'ethereum', 20);
    await expect(shop.withdraw(scope, '50', evm, 'ethereum')).rejects.toMatchObject({
      message: 'This takes 50.5 USDT on ethereum, but only 20 USDT is held there; there is 100 USDT on tron',
    });
    await shop.withdraw(scope, '19.5', evm, 'ethereum');
    await shop.withdraw(scope, '98', tron, 'tron');
    await shop.expectBooksInOrder();
  });

  it('Coins of another merchant on the network are not touched', async () => {
    const scope = await startShop();
    const other = await shop.merchant();
    await fund(scope, 'tron', 100);
    await fund(other, 'ethereum', 100);
    await expect(shop.withdraw(scope, '50', evm, 'ethereum')).rejects.toMatchObject({
      code: 'insufficient_balance',
    });
  });

  it('Coins are reserved on their network, so that withdrawals at the same time cannot take them twice', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await fund(scope, 'ethereum', 20);
    const answers = await Promise.allSettled(
      Array.from({ length: 5 }, () => shop.withdraw(scope, '9', evm, 'ethereum')),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'insufficient_balance' });
    }
    await shop.expectBooksInOrder();
  });

  it('The coins of a withdrawal are sent only while the deposits are confirmed', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    const { id } = await shop.withdraw(scope, '50', tron, 'tron');
    await shop.reorg('tron', 2, true);
    await shop.advance();
    expect(await shop.transfer(id)).toMatchObject({ status: 'pending', tx_hash: null });
    await shop.mine('tron', 2);
    await shop.advance();
    expect((await shop.transfer(id)).status).toBe('processing');
    await shop.expectBooksInOrder();
  });

  it('A withdrawal fails and releases its coins if the deposits are gone for good', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    const { id } = await shop.withdraw(scope, '50', tron, 'tron');
    await shop.reorg('tron', 2, false);
    await shop.advance();
    expect(await shop.transfer(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failure_reason: 'The deposits that would have paid it left the chain',
    });
    expect(await shop.balance(scope)).toEqual({ net: 0n, reserved: 0n, unallocated: 0n, custody: 0n });
    await shop.expectBooksInOrder();
  });

  it('Coins on one network are sent although deposits on another one are no longer confirmed', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await fund(scope, 'ethereum', 100);
    const onTron = await shop.withdraw(scope, '90', tron, 'tron');
    const onEthereum = await shop.withdraw(scope, '90', evm, 'ethereum');
    await shop.reorg('tron', 2, true);
    await shop.advance();
    expect((await shop.transfer(onTron.id)).status).toBe('pending');
    expect((await shop.transfer(onEthereum.id)).status).toBe('processing');
    await shop.expectBooksInOrder();
  });

  async function sendTen(scope: Actor): Promise<{ id: string; hash: string }> {
    const { id } = await shop.withdraw(scope, '10', tron, 'tron');
    await shop.advance();
    await shop.mine('tron', 2);
    await shop.advance();
    const { status, tx_hash: hash } = await shop.transfer(id);
    expect(status).toBe('success');
    return { id, hash: hash ?? '' };
  }

  it('Coins are sent again if a chain drops them long after the withdrawal was made, but soon after its end', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await shop.mine('tron', 5);
    const { id } = await shop.withdraw(scope, '10', tron, 'tron');
    shop.time.now += 30 * hour;
    await shop.advance();
    await shop.mine('tron', 2);
    await shop.advance();
    expect((await shop.transfer(id)).status).toBe('success');
    await shop.reorg('tron', 2, false);
    const rows = await shop.database.reader
      .selectFrom('simulated_transfers')
      .selectAll()
      .where('address', '=', tron)
      .execute();
    expect(rows).toHaveLength(1);
    await shop.expectBooksInOrder();
  });

  it('Coins are sent again if a chain drops them, and the withdrawal stays a success', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await shop.mine('tron', 5);
    const { id, hash } = await sendTen(scope);
    const blocks = () =>
      shop.database.reader
        .selectFrom('simulated_transfers')
        .select('block_height')
        .where('tx_hash', '=', hash)
        .execute();
    for (const keep of [true, false]) {
      await shop.reorg('tron', 2, keep);
      await shop.advance();
      expect(await blocks()).toEqual([{ block_height: null }]);
      await shop.mine('tron', 2);
      await shop.advance();
      expect(await blocks()).toEqual([{ block_height: expect.any(Number) as number }]);
      expect((await shop.transfer(id)).status).toBe('success');
    }
    await shop.expectBooksInOrder();
  });

  it('A withdrawal that a chain drops before it is confirmed continues with the same transaction', async () => {
    const scope = await startShop();
    await fund(scope, 'tron', 100);
    await shop.mine('tron', 5);
    const { id } = await shop.withdraw(scope, '10', tron, 'tron');
    await shop.advance();
    await shop.mine('tron', 1);
    const { tx_hash: hash } = await shop.transfer(id);
    await shop.reorg('tron', 1, false);
    await shop.mine('tron', 1);
    await shop.advance();
    expect(await shop.transfer(id)).toMatchObject({ status: 'processing', tx_hash: hash });
    await shop.mine('tron', 1);
    await shop.advance();
    expect(await shop.transfer(id)).toMatchObject({ status: 'success', tx_hash: hash });
    await shop.expectBooksInOrder();
  });
});
