/** Transfers on networks that fail, forget and reorganise, and servers that stop in the middle: each is sent once. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Signer } from '../../src/chains/signer.js';
import { pino } from 'pino';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openMerchant, externalAddresses, type MerchantFixture } from '../support/merchant-fixture.js';

/** What the tests make fail is logged as a failed job; that is no news here. */
const log = pino({ level: 'silent' });

describe.each(engines)('transfers on their way, on $name', (engine) => {
  let database: TestDatabase | undefined;
  let server: TestServer | undefined;

  afterEach(async () => {
    await server?.stop();
    await database?.dispose();
    server = undefined;
    database = undefined;
  });

  /** Starts a server, again on the same database if there was one, with signers that behave otherwise. */
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

  it('are sent again, the same transaction, by a server that starts after one that stopped before it sent', async () => {
    let merchant = await start((signer) => ({
      ...signer,
      broadcast: () => Promise.reject(new Error('The node is away')),
    }));
    await merchant.fund({ amount: 20 });
    const id = await accept(merchant);
    const signed = await vi.waitFor(async () => {
      const transfer = await merchant.retrieve(id);
      expect(transfer.status).toBe('processing');
      return transfer;
    });
    expect(await merchant.arrived(externalAddresses.tron)).toEqual([]);
    merchant = await start();
    await expectSentOnce(merchant, id);
    expect((await merchant.retrieve(id)).txHash).toBe(signed.txHash);
  });

  it('are not sent twice where a node takes a transaction and its answer is lost', async () => {
    let broadcasts = 0;
    const merchant = await start((signer) => ({
      ...signer,
      async broadcast(...args) {
        broadcasts += 1;
        await signer.broadcast(...args);
        throw new Error('The answer was lost');
      },
      // Nor can it be asked about it at first, so that it is sent again.
      confirmations: (...args) =>
        broadcasts < 3 ? Promise.resolve(new Map()) : signer.confirmations(...args),
    }));
    await merchant.fund({ amount: 20 });
    await expectSentOnce(merchant, await accept(merchant));
    expect(broadcasts).toBe(3);
  });

  it('are sent by nobody twice where two servers work on one database', async () => {
    const merchant = await start();
    await merchant.fund({ amount: 50 });
    // On SQLite a second server would wait for locks without an end: there one process is the rule.
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

  it('wait for a network that cannot be asked, and hold up no other', async () => {
    let isAway = true;
    const merchant = await start((signer) => ({
      ...signer,
      confirmations: (...args) =>
        isAway && signer.network === 'tron'
          ? Promise.reject(new Error('The node is away'))
          : signer.confirmations(...args),
    }));
    // The sandbox answers after the transfers were looked at, which fails here.
    const fund = merchant.fund({ network: 'bsc', amount: 20 });
    await fund;
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

  it('are sent again when the chain drops them before they are confirmed', async () => {
    const merchant = await start();
    await merchant.fund({ network: 'bsc', amount: 20 });
    const id = await accept(merchant);
    await merchant.until(id, 'processing');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 100 });
    await expectSentOnce(merchant, id);
  });

  it('keep their state when the chain takes them into another block', async () => {
    const merchant = await start();
    await merchant.fund({ network: 'bsc', amount: 20 });
    const id = await accept(merchant);
    await merchant.until(id, 'processing');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 100, keep: true });
    await expectSentOnce(merchant, id);
  });

  it('are sent again when the chain drops them after they were confirmed, and stay a success', async () => {
    const merchant = await start();
    await merchant.fund({ network: 'bsc', amount: 20 });
    const id = await accept(merchant);
    const { txHash } = await merchant.until(id, 'success');
    await merchant.sandbox('reorgs', { network: 'tron', depth: 100 });
    await vi.waitFor(async () => expect(await merchant.timesOnChain(txHash)).toBe(1));
    expect(await merchant.arrived(externalAddresses.tron)).toEqual(['5000000']);
    expect(await merchant.retrieve(id)).toMatchObject({ status: 'success', txHash });
    await merchant.expectBooksInOrder();
  });
});
