/** A backup made while the server is running is complete: a server starts on it, and its ledger is consistent. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from './support/command-line.js';
import { engines } from './support/engines.js';
import { startServer } from './support/server.js';

const engine = engines.find(({ name }) => name === 'SQLite');
if (!engine) throw new Error('SQLite is always available');

describe('database backup', () => {
  it('contains every change that was answered before it, even under load', async () => {
    const server = await startServer({ engine, env: { BLOCK_INTERVAL_MS: '50' } });
    const { databaseUrl, secretKey } = server;
    const made: string[] = [];
    const done = new AbortController();
    const load = (async () => {
      while (!done.signal.aborted) {
        const { body } = await server.api('POST', '/v1/payments/checkout', {
          body: { amount: 10, baseCurrency: 'USD' },
        });
        const { id } = body.data['payment'] as { id: string };
        await server.api('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        const locked = await server.api('PATCH', `/v1/payments/${id}/currency/lock`);
        const { address } = locked.body.data['addressInformation'] as { address: string };
        const { amount } = locked.body.data;
        await server.api('POST', '/sandbox/transfers', {
          body: { network: 'tron', currency: 'USDT', address, amount },
        });
        made.push(id);
      }
    })();
    await expect.poll(() => made.length, { timeout: 20_000 }).toBeGreaterThan(10);
    const before = [...made];
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-backup-'));
    const copy = join(directory, 'copy.db');
    const backup = (file: string) => runCommandLine(databaseUrl, ['database', 'backup', file]);
    expect(await backup(copy)).toEqual({
      exitCode: 0,
      stdout: `Copied the database to ${copy}\n`,
      stderr: expect.stringMatching(/^Database: /) as string,
    });
    // An existing file is never overwritten.
    expect(await backup(copy)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`\n${copy} exists already. Nothing was overwritten;`) as string,
    });
    const nowhere = join(directory, 'missing', 'copy.db');
    expect((await backup(nowhere)).stderr).toContain(`there is no folder ${join(directory, 'missing')}`);
    await expect.poll(() => made.length).toBeGreaterThan(before.length);
    done.abort();
    await load;
    await server.stop();
    expect(existsSync(databaseUrl.slice('sqlite:'.length))).toBe(false);

    const copyUrl = `sqlite:${copy}`;
    const check = await runCommandLine(copyUrl, ['ledger', 'check']);
    expect([check.exitCode, check.stdout]).toEqual([0, expect.not.stringContaining('FAIL')]);
    const restored = await startServer({
      engine,
      databaseUrl: copyUrl,
      env: { BOOTSTRAP_SECRET_KEY: secretKey, BLOCK_INTERVAL_MS: '50' },
    });
    for (const id of before)
      expect((await restored.api('GET', `/v1/payments/${id}`, { key: secretKey })).status).toBe(200);
    // Payments in progress continue: the copy has the transfers on the simulated chain too.
    await expect
      .poll(
        async () =>
          (await restored.api('GET', `/v1/payments/${before[0] ?? ''}`, { key: secretKey })).body.data[
            'status'
          ],
        { timeout: 10_000 },
      )
      .toBe('success');
    await restored.stop();
    await rm(directory, { recursive: true });
  }, 60_000);

  const postgres = engines.find(({ name }) => name === 'PostgreSQL');
  it.runIf(postgres)('refers to pg_dump for PostgreSQL', async () => {
    const made = await postgres?.create();
    if (!made) return;
    const { exitCode, stderr } = await runCommandLine(made.url, ['database', 'backup', 'x']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('pg_dump')]);
    await made.dispose();
  });
});
