/** Transfers are sent once, even if networks fail, forget or reorganise, and servers stop in the middle. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Signer } from '../../src/chains/signer.js';
import { pino } from 'pino';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openMerchant, externalAddresses, type MerchantFixture } from '../support/merchant-fixture.js';

/** The failures that these tests cause are logged as failed jobs, which would only be noise. */
const log = pino({ level: 'silent' });

describe.each(engines)('transfers in progress, on $name', (engine) => {
  let database: TestDatabase | undefined;
  let server: TestServer | undefined;

  afterEach(async () => {
    await server?.stop();
    await database?.dispose();
    server = undefined;
    database = undefined;
  });

  /** Starts or restarts the server on the same database, with changed signers. */
  async function start(change?: (signer: Signer) => Signer): Promise<MerchantFixture> {
    database ??= await engine.create();
    await server?.stop();
    server = await startServer({
      engine,
      databaseUrl: database.url,
      log,
      ...(change && { overrides: { signers: (signers) => signers.map(change) } }),
      env: keys,
    });
    return openMerchant(server);
  }
  const keys = {
    BOOTSTRAP_PUBLIC_KEY: `pk_test_${'p'.repeat(43)}`,
    BOOTSTRAP_SECRET_KEY: `sk_test_${'s'.repeat(43)}`,
  };

  async function accept(merchant: MerchantFixture, amount = 5): Promise<string> {
    const { status, body } = await merchant.transfer({ amount });
    expect(status, JSON.stringify(body)).toBe(200);
    return String(body.data['id']);
  }

  async function expectSentOnce(merchant: MerchantFixture, id: string, units = '5000000') {
    const { txHash } = await merchant.until(id, 'success');
    expect(await merchant.timesOnChain(txHash)).toBe(1);
    expect(await merchant.arrived(externalAddresses.tron)).toEqual([units]);
    await merchant.expectBooksInOrder();
  }

  it('are sent after a restart, with the same transaction, if the server stopped before it sent them', async () => {
    let merchant = await start((signer) => ({
      ...signer,
      broadcast: () => Promise.reject(new Error('The node is away')),
    }));
    await merchant.fund({ amount: 20 });
    const id = await accept(merchant);
    const signed = await vi.waitFor(
      async () => {
        const transfer = await merchant.retrieve(id);
        expect(transfer.status).toBe('processing');
        return transfer;
      },
      { timeout: 10_000 },
    );
    expect(await merchant.arrived(externalAddresses.tron)).toEqual([]);
    merchant = await start();
    await expectSentOnce(merchant, id);
    expect((await merchant.retrieve(id)).txHash).toBe(signed.txHash);
  });

  it('are not sent twice if a node accepts a transaction but its answer is lost', async () => {
    let broadcasts = 0;
    const merchant = await start((signer) => ({
      ...signer,
      async broadcast(...args) {
        broadcasts += 1;
        await signer.broadcast(...args);
        throw new Error('The answer was lost');
      },
      // At first the node does not know the transaction either, so it is broadcast again.
      confirmations: (...args) =>
        broadcasts < 3 ? Promise.resolve(new Map()) : signer.confirmations(...args),
    }));
    await merchant.fund({ amount: 20 });
    await expectSentOnce(merchant, await accept(merchant));
    expect(broadcasts).toBe(3);
  });

  it('are not sent twice if two servers share a database', async () => {
    const merchant = await start();
    await merchant.fund({ amount: 50 });
    // On SQLite a second server would wait for locks forever. It supports one process only.
    if (engine.name === 'SQLite') return expectSentOnce(merchant, await accept(merchant));
    const second = await startServer({ engine, databaseUrl: database?.url ?? '', log, env: keys });
    try {
      const ids = await Promise.all(Array.from({ length: 20 }, () => accept(merchant, 1)));
      const done = [];
      for (const id of ids) done.push(await merchant.until(id, 'success'));
      expect(new Set(done.map(({ txHash }) => txHash)).size).toBe(20);
      expect(await merchant.arrived(externalAddresses.tron)).toEqual(Array<string>(20).fill('1000000'));
      await merchant.expectBooksInOrder();
    } finally {
      await second.stop();
    }
  });

  it('wait for a network whose node is down, without delaying other networks', async () => {
    let isAway = true;
    const merchant = await start((signer) => ({
      ...signer,
      confirmations: (...args) =>
        isAway && signer.network === 'tron'
          ? Promise.reject(new Error('The node is away'))
          : signer.confirmations(...args),
    }));
    await merchant.fund({ amount: 20 });
    await merchant.fund({ network: 'bsc', amount: 20 });
    const waiting = await accept(merchant);
    const other = await merchant.transfer({ walletAddress: externalAddresses.evm, walletNetwork: 'bsc' });
    const reader = server?.database.reader;
    await vi.waitFor(
      async () => {
        const rows = await reader?.selectFrom('transfers').select(['id', 'status']).execute();
        expect(rows?.map(({ status }) => status)).toEqual(['processing', 'processing']);
      },
      { timeout: 5000 },
    );
    await server?.api('POST', '/sandbox/blocks', { body: { network: 'bsc', count: 1 } });
    await vi.waitFor(
      async () => {
        await server?.api('POST', '/sandbox/blocks', { body: { network: 'bsc', count: 1 } });
        expect((await merchant.retrieve(String(other.body.data['id']))).status).toBe('success');
      },
      { timeout: 5000 },
    );
    expect((await merchant.retrieve(waiting)).status).toBe('processing');
    isAway = false;
    await expectSentOnce(merchant, waiting);
  });

  it('are sent again if the chain drops them before they are confirmed', async () => {
    const merchant = await start();
    await merchant.fund({ amount: 20 });
    await merchant.mine(100);
    const id = await accept(merchant);
    await merchant.until(id, 'processing');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 90 });
    await expectSentOnce(merchant, id);
  });

  it('keep their state if a reorganisation moves them to another block', async () => {
    const merchant = await start();
    await merchant.fund({ amount: 20 });
    await merchant.mine(100);
    const id = await accept(merchant);
    await merchant.until(id, 'processing');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 90, keep: true });
    await expectSentOnce(merchant, id);
  });

  it('are sent again if the chain drops them after they were confirmed, and remain a success', async () => {
    const merchant = await start();
    await merchant.fund({ amount: 20 });
    await merchant.mine(100);
    const id = await accept(merchant);
    const { txHash } = await merchant.until(id, 'success');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 90 });
    await vi.waitFor(async () => expect(await merchant.timesOnChain(txHash)).toBe(1), { timeout: 10_000 });
    expect(await merchant.arrived(externalAddresses.tron)).toEqual(['5000000']);
    expect(await merchant.retrieve(id)).toMatchObject({ status: 'success', txHash });
    await merchant.expectBooksInOrder();
  });
});
