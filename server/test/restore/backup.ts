/** A backup made while the server is running is complete: a server starts on it, and its ledger is consistent. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.js';
import type { TestEngine } from '../support/engines.js';
import { startServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { backUp, restoreFrom } from './backups.js';

export const testBackup = (engine: TestEngine): unknown =>
  describe(`a backup of ${engine.name}`, () => {
    it('A backup contains every change that was answered before it, even under load', async () => {
      const server = await startServer({ engine, env: { BLOCK_INTERVAL_MS: '50' } });
      const { databaseUrl, secretKey } = server;
      const made: string[] = [];
      const done = new AbortController();
      const load = (async () => {
        while (!done.signal.aborted) {
          const shop = openShop(server);
          const { id, address, amount } = await shop.lock();
          await shop.send(address, amount);
          made.push(id);
        }
      })();
      await expect.poll(() => made.length, { timeout: 20_000 }).toBeGreaterThan(3);
      const before = [...made];
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-backup-'));
      const backup = join(directory, 'backup');
      await backUp(engine, databaseUrl, backup, async (line) =>
        expect(await runCommandLine(databaseUrl, line.split(' '))).toMatchObject({ exitCode: 0 }),
      );
      await expect.poll(() => made.length, { timeout: 20_000 }).toBeGreaterThan(before.length);
      done.abort();
      await load;
      await server.stop();

      const copy = await engine.createEmpty();
      await restoreFrom(engine, copy.url, backup);
      const check = await runCommandLine(copy.url, ['ledger', 'check']);
      expect([check.exitCode, check.stdout]).toEqual([0, expect.not.stringContaining('FAIL')]);
      const restored = await startServer({
        engine,
        databaseUrl: copy.url,
        env: { BOOTSTRAP_SECRET_KEY: secretKey, BLOCK_INTERVAL_MS: '50' },
      });
      const read = (id: string) => restored.api('GET', `/v1/payments/${id}`, { key: secretKey });
      for (const id of before) expect((await read(id)).status).toBe(200);
      // Payments in progress continue: the copy has the transfers on the simulated chain too.
      await expect
        .poll(async () => (await read(before[0] ?? '')).body.data['status'], { timeout: 10_000 })
        .toBe('success');
      await restored.stop();
      await copy.dispose();
      await rm(directory, { recursive: true });
    });
  });
