/** In test mode, transfers are sent once, even if networks reorganise and servers stop in the middle. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pino } from 'pino';
import type { TestDatabase, TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Shop } from '../support/shop.js';

/** The failures that these tests cause are logged as failed jobs, which would only be noise. */
const log = pino({ level: 'silent' });

export const testExecution = (engine: TestEngine): unknown =>
  describe(`transfers in progress, on ${engine.name}`, () => {
    let database: TestDatabase | undefined;
    let server: TestServer | undefined;

    afterEach(async () => {
      await server?.stop();
      await database?.dispose();
      server = undefined;
      database = undefined;
    });

    /** Starts or restarts the server on the same database. */
    async function start(): Promise<Shop> {
      database ??= await engine.create();
      await server?.stop();
      server = await startServer({
        engine,
        databaseUrl: database.url,
        log,
        env: keys,
      });
      return openShop(server);
    }
    const keys = {
      BOOTSTRAP_PUBLIC_KEY: `pk_test_${'p'.repeat(43)}`,
      BOOTSTRAP_SECRET_KEY: `sk_test_${'s'.repeat(43)}`,
    };

    const withdraw = async (merchant: Shop, amount = 5) => (await merchant.withdraw({ amount })).id;

    async function transferOf(id: string) {
      if (!server) throw new Error('The server has not been started');
      return server.database.reader
        .selectFrom('transfers')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    }

    async function expectSentOnce(merchant: Shop, id: string, units = '5000000') {
      const { txHash } = await merchant.until(id, 'success');
      expect(await merchant.timesOnChain(txHash)).toBe(1);
      expect(await merchant.arrived(externalAddresses.tron)).toEqual([units]);
      await merchant.expectBooksInOrder();
    }

    it('A transfer is on the chain as soon as it is in progress, and a restart does not send it again', async () => {
      let merchant = await start();
      await merchant.fund({ amount: 20 });
      const id = await withdraw(merchant);
      const { txHash } = await merchant.until(id, 'processing');
      expect(await merchant.timesOnChain(txHash)).toBe(1);
      merchant = await start();
      await expectSentOnce(merchant, id);
      expect((await merchant.retrieve(id)).txHash).toBe(txHash);
    });

    it('A transfer is not sent twice if runs of the payer overlap', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 20 });
      const id = await withdraw(merchant);
      const { signal } = new AbortController();
      const payer = server?.app.testPayer;
      await Promise.all(Array.from({ length: 8 }, async () => payer?.advance(signal)));
      await expectSentOnce(merchant, id);
    });

    it('A transfer is not sent twice if two servers share a database', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 50 });
      // On SQLite a second server would wait for locks forever. It supports one process only.
      if (engine.name === 'SQLite') return expectSentOnce(merchant, await withdraw(merchant));
      const second = await startServer({ engine, databaseUrl: database?.url ?? '', log, env: keys });
      try {
        const ids = await Promise.all(Array.from({ length: 20 }, () => withdraw(merchant, 1)));
        const done = [];
        for (const id of ids) done.push(await merchant.until(id, 'success'));
        expect(new Set(done.map(({ txHash }) => txHash)).size).toBe(20);
        expect(await merchant.arrived(externalAddresses.tron)).toEqual(Array<string>(20).fill('1000000'));
        await merchant.expectBooksInOrder();
      } finally {
        await second.stop();
      }
    });

    it('A transfer that cannot be completed does not delay others', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 20 });
      const setFee = (id: string, fee: string) =>
        server?.database.write((transaction) =>
          transaction.updateTable('transfers').set({ fee }).where('id', '=', id).execute(),
        );
      const first = await withdraw(merchant, 1);
      await merchant.until(first, 'processing');
      const { fee } = await transferOf(first);
      await setFee(first, 'broken');
      const second = await withdraw(merchant);
      await merchant.until(second, 'success');
      expect((await transferOf(first)).status).toBe('processing');
      await setFee(first, fee);
      await merchant.until(first, 'success');
      await merchant.expectBooksInOrder();
    });

    it('A transfer is sent again if the chain drops it before it is confirmed', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 20 });
      await merchant.mine(100);
      const id = await withdraw(merchant);
      await merchant.until(id, 'processing');
      await merchant.sandbox('reorgs', { network: 'tron', depth: 90 });
      await expectSentOnce(merchant, id);
    });

    it('A transfer is not sent twice if a reorganisation moves it to another block', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 20 });
      await merchant.mine(100);
      const id = await withdraw(merchant);
      await merchant.until(id, 'processing');
      await merchant.sandbox('reorgs', { network: 'tron', depth: 90, keep: true });
      await expectSentOnce(merchant, id);
    });

    it('A transfer that the chain drops after confirmation is sent again and remains a success', async () => {
      const merchant = await start();
      await merchant.fund({ amount: 20 });
      await merchant.mine(100);
      const id = await withdraw(merchant);
      const { txHash } = await merchant.until(id, 'success');
      await merchant.sandbox('reorgs', { network: 'tron', depth: 90 });
      await vi.waitFor(async () => expect(await merchant.timesOnChain(txHash)).toBe(1), { timeout: 10_000 });
      expect(await merchant.arrived(externalAddresses.tron)).toEqual(['5000000']);
      expect(await merchant.retrieve(id)).toMatchObject({ status: 'success', txHash });
      await merchant.expectBooksInOrder();
    });
  });
