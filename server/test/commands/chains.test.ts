/** `chains status` and `chains retry`, next to a running server, on both engines: what is set aside, and how it is tried again. */
import { describe, expect, it, vi } from 'vitest';
import { pino } from 'pino';
import { engines } from '../support/engines.js';
import { openMerchant } from '../support/merchant-fixture.js';
import { startServer } from '../support/server.js';

interface Status {
  readonly networks: readonly { network: string; height: number }[];
  readonly setAside: readonly { network: string; paymentId?: string; reason: string; tries: number }[];
}

describe.each(engines)('the commands about chains, on $name', (engine) => {
  it('list a payment that was set aside, count it, and try it again at once', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
    const token = 'scrape-me-0123456789';
    const server = await startServer({ engine, log, env: { METRICS_TOKEN: token } });
    try {
      const merchant = openMerchant(server);
      const setAside = async () => {
        const { exitCode, stdout } = await merchant.run('chains', 'status', '--json');
        const { networks, setAside: found } = JSON.parse(stdout) as Status;
        expect(networks.map(({ network }) => network)).toContain('tron');
        expect(exitCode).toBe(found.length > 0 ? 1 : 0);
        return found;
      };
      const { id, address } = await merchant.lock();
      expect(await setAside()).toEqual([]);
      const setAmount = (base_amount: string) =>
        server.database.write((transaction) =>
          transaction.updateTable('payments').set({ base_amount }).where('id', '=', id).execute(),
        );
      await setAmount('broken');
      await merchant.sandbox('transfers', { network: 'tron', currency: 'USDT', address, amount: 10 });
      expect(await setAside()).toMatchObject([
        { network: 'tron', paymentId: id, reason: expect.stringContaining('broken') as string },
      ]);
      expect((await merchant.run('chains', 'status')).stdout).toContain(`payment ${id}`);
      expect(lines.find((line) => line.includes('A payment was set aside'))).toContain(id);
      const scrape = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
      expect(await scrape.text()).toContain('checkout_payments_set_aside{mode="test",network="tron"} 1');

      // As if it had failed so often that it is not due for a long time.
      const later = Date.now() + 600_000;
      await server.database.write((transaction) =>
        transaction.updateTable('set_aside').set({ retry_at: later }).execute(),
      );
      await setAmount('1000');
      await merchant.mine();
      expect((await merchant.ask<{ status: string }>('GET', `/v1/payments/${id}`)).status).toBe(
        'in progress',
      );
      expect(await merchant.command('chains', 'retry', '--network', 'tron')).toEqual({ count: 1 });
      await vi.waitFor(
        async () =>
          expect(await merchant.ask<{ status: string }>('GET', `/v1/payments/${id}`)).toMatchObject({
            status: 'success',
          }),
        { timeout: 10_000, interval: 50 },
      );
      expect(await setAside()).toEqual([]);
      await merchant.expectBooksInOrder();
    } finally {
      await server.stop();
    }
  });
});
