/**
 * Payments of a multisig in the coin, in a block in which coins come to it as well, and in one that is dropped when it
 * was final.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressFormat } from '../../src/core/addresses/formats.js';
import { hexOf } from '../../src/modules/networks/evm/abi.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick } from '../support/engines.js';
import { addressFrom, contractTx, sweepTx, walletTx, type ModelTx } from '../support/evm-model.js';
import { openWorld, type World } from '../reconciliation/liars.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const { signal } = new AbortController();
const network = 'evm-dev';
const ether = 10n ** 18n;
const canonical = (hex: string): string => addressFormat('live', 'evm').read(hex) ?? hex;

describe.each(enginesOfQuick)('payments of a multisig, on $name', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(engine);
  });
  afterAll(() => world.close());

  const run = (line: string) => runWith(commandContext(world.shop), line);

  async function block(count = 1): Promise<void> {
    const { shop, model } = world;
    for (let made = 0; made < count; made += 1) {
      shop.time.now += 1000;
      model.mine(1, shop.time.now / 1000);
      await shop.app.scanner.scanNow({ mode: 'test', network });
      await treasuryModule.rules(shop.app).watcher.advance(signal);
    }
  }

  async function sweep(name: string): Promise<void> {
    const { json } = await run(`sweeps export --network ${network} --format json --all`);
    for (const { data } of (json as { transactions: { data: string }[] }).transactions)
      world.model.send(sweepTx({ name: `${name} ${data}` }, data));
  }

  /** A multisig with coins, more coins on a forwarder, and a transfer that waits. */
  async function openTransfer() {
    const { shop, model } = world;
    const actor = await shop.merchant(0);
    const { merchantId } = actor;
    const treasury = canonical(addressFrom(`treasury of ${merchantId}`));
    model.give(treasury, 'code' as 'coin', 1n);
    await shop.database.write((transaction) =>
      shop.app.depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', { treasury }, true),
    );
    await shop.app.depositKeys.refresh();
    await block();
    await treasuryModule.rules(shop.app).forwarderChecks.refresh(signal);
    for (const name of ['first', 'second']) {
      const { address } = await shop.lock(actor, { currency: 'ETH', network, amount: '5.00' });
      model.send(walletTx({ name: `${name} ${address}` }, { address, currency: 'ETH', amount: 5n * ether }));
      await block(4);
      if (name === 'first') await sweep(name);
      await block(4);
    }
    const address = canonical(addressFrom(`destination of ${merchantId}`));
    const { id } = await shop.withdraw(actor, '2', address, network, 'ETH');
    const tx = contractTx(
      { name: `pays ${id}`, from: addressFrom('owner') },
      [{ address, currency: 'ETH', amount: 2n * ether }],
      treasury,
    );
    return { id, treasury, tx };
  }

  const status = async (id: string) => (await world.shop.transfer(id)).status;

  it('A payment settles a transfer automatically, when a sweep brought more in the same block', async () => {
    const { id, tx } = await openTransfer();
    await sweep(id);
    world.model.send(tx);
    await block(5);
    expect(await status(id)).toBe('success');
    await world.shop.expectBooksInOrder();
  });

  it('A payment settles a transfer also if the treasury is an account that calls itself to send a batch', async () => {
    const { id, treasury, tx } = await openTransfer();
    // The value comes back to the account: it is no income.
    const self = treasury.toLowerCase();
    world.model.send({ ...tx, from: self, to: self, value: ether });
    await block(5);
    expect(await status(id)).toBe('success');
    await world.shop.expectBooksInOrder();
  });

  it('A transfer waits if more left in the same batch: it cannot fail, and is settled by its hash', async () => {
    const { id, treasury } = await openTransfer();
    const self = treasury.toLowerCase();
    const { address } = await world.shop.transfer(id);
    const batch = contractTx(
      { name: `batch of ${id}`, from: self },
      [address, addressFrom(`somebody other than ${id}`)].map((to) => ({
        address: to,
        currency: 'ETH' as const,
        amount: 2n * ether,
      })),
      treasury,
    );
    world.model.send(batch);
    await block(5);
    expect(await status(id)).toBe('pending');
    await expect(run(`transfers fail ${id} --reason No`)).rejects.toThrow('may have paid');
    await run(`transfers settle ${id} --tx-hash ${batch.hash}`);
    expect(await status(id)).toBe('success');
    await world.shop.expectBooksInOrder();
  });

  it('A transfer is not paid twice if a contract sends the multisig more in the same block: a log proves it', async () => {
    const { shop, model } = world;
    const { id, treasury, tx } = await openTransfer();
    model.send(
      contractTx({ name: `gives ${id}` }, [{ address: treasury, currency: 'ETH', amount: 3n * ether }]),
    );
    const topics = [hexOf(keccak_256(utf8ToBytes('ExecutionSuccess(bytes32,uint256)')))];
    const safe: ModelTx = {
      ...tx,
      run: (state, height) => [
        ...(tx.run(state, height) ?? []),
        { address: treasury.toLowerCase(), topics, data: '0x' },
      ],
    };
    model.send(safe);
    await block(5);
    expect(await status(id)).toBe('pending');
    const { json } = await run(`transfers export --network ${network} --format json`);
    expect((json as { transfers: { id: string }[] }).transfers.map((one) => one.id)).not.toContain(id);
    await run(`transfers settle ${id} --tx-hash ${tx.hash}`);
    expect(await status(id)).toBe('success');
    await shop.expectBooksInOrder();
  });

  it('A payment that reverts inside settles nothing, even if a stranger sends the destination as much', async () => {
    const { shop, model } = world;
    const { id, treasury, tx } = await openTransfer();
    const topics = [hexOf(keccak_256(utf8ToBytes('ExecutionFailure(bytes32,uint256)')))];
    model.send({ ...tx, run: () => [{ address: treasury.toLowerCase(), topics, data: '0x' }] });
    const { address } = await shop.transfer(id);
    model.send(walletTx({ name: `stranger ${id}` }, { address, currency: 'ETH', amount: 2n * ether }));
    await block(5);
    expect(await status(id)).toBe('pending');
    await expect(run(`transfers settle ${id} --tx-hash ${tx.hash}`)).rejects.toThrow('pays nothing to');
    expect(await status(id)).toBe('pending');
    await shop.expectBooksInOrder();
  });

  it('A transfer waits again when a deep reorganisation undoes it, and is settled once when its payment returns', async () => {
    const { shop, model } = world;
    const { id, tx } = await openTransfer();
    const paidAt = model.tip.height + 1;
    model.send(tx);
    await block(6);
    expect(await status(id)).toBe('success');
    model.reorg(model.tip.height - paidAt + 1, 1, shop.time.now / 1000, () => false);
    await block(2);
    expect(await status(id)).toBe('pending');
    await shop.expectBooksInOrder();
    const reversed = async () => {
      const [found] = await treasuryModule.rules(shop.app).status();
      const figure = treasuryModule
        .rules(shop.app)
        .figures()
        .find(({ name }) => name === 'checkout_transfers_reversed');
      return { named: found?.reversed, counted: (await figure?.read())?.map(([, count]) => count) };
    };
    expect(await reversed()).toEqual({ named: [id], counted: [1] });
    expect(await run('chains status')).toMatchObject({
      hasFailed: true,
      text: expect.stringContaining(
        `transfer ${id} was paid in a block that the network has dropped`,
      ) as string,
    });
    // The wallet's transaction may return: nobody may pay it once more, or give it up.
    const { json } = await run(`transfers export --network ${network} --format json`);
    expect((json as { transfers: { id: string }[] }).transfers.map((one) => one.id)).not.toContain(id);
    await expect(run(`transfers fail ${id} --reason No`)).rejects.toThrow('transfers release');
    model.send(tx);
    await block(6);
    expect(await status(id)).toBe('success');
    await shop.expectBooksInOrder();
    expect(await reversed()).toEqual({ named: [], counted: [0] });
    model.reorg(model.tip.height - paidAt + 1, 1, shop.time.now / 1000, () => true);
    await block(6);
    expect(await status(id)).toBe('success');
    await shop.expectBooksInOrder();
  });
});
