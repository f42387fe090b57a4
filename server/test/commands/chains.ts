/** `chains status` and `chains retry`, next to a running server: what is quarantined, and how it is tried again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { pino } from 'pino';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { openShop } from '../support/shop.js';
import type { Chain, ChainBlock } from '../../src/core/chains/chain.js';
import type { Network } from '../../src/core/chains/networks.js';
import { startServer } from '../support/server.js';

interface Status {
  readonly networks: readonly { network: string; height: number; headHeight: number; problem?: string }[];
  readonly quarantined: readonly { network: string; paymentId?: string; reason: string; tries: number }[];
}

export const testChainCommands = (engine: TestEngine): unknown =>
  describe(`the commands about chains, on ${engine.name}`, () => {
    it('list a payment that was quarantined, count it, and try it again at once', async () => {
      const lines: string[] = [];
      const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
      const token = 'scrape-me-0123456789';
      const server = await startServer({ engine, log, env: { METRICS_TOKEN: token } });
      try {
        const merchant = openShop(server);
        const quarantined = async () => {
          const { exitCode, stdout } = await merchant.run('chains', 'status', '--json');
          const { networks, quarantined: found } = JSON.parse(stdout) as Status;
          expect(networks.map(({ network }) => network)).toContain('tron');
          expect(exitCode).toBe(found.length > 0 ? 1 : 0);
          return found;
        };
        const { id, address } = await merchant.lock();
        expect(await quarantined()).toEqual([]);
        const setAmount = (base_amount: string) =>
          server.database.write((transaction) =>
            transaction.updateTable('payments').set({ base_amount }).where('id', '=', id).execute(),
          );
        await setAmount('broken');
        await merchant.send(address, 10);
        // The payment and its transfer, because of a column whose value is not shown.
        const one = {
          network: 'tron',
          paymentId: id,
          reason: expect.stringMatching(/^payments\.base_amount: (?!.*broken)/) as string,
        };
        expect(await quarantined()).toMatchObject([one, one]);
        expect((await merchant.run('chains', 'status')).stdout).toContain(`payment ${id}`);
        expect(lines.find((line) => line.includes('A payment was quarantined'))).toContain(id);
        const scrape = await fetch(`${server.url}/metrics`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        expect(await scrape.text()).toContain('checkout_payments_quarantined{mode="test",network="tron"} 2');

        // As if it had failed so often that it is not due for a long time.
        const later = Date.now() + 600_000;
        await server.database.write((transaction) =>
          transaction.updateTable('quarantine').set({ retry_at: later }).execute(),
        );
        await setAmount('1000');
        // The transfer is found in a block, so only the payment still waits.
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
        expect(await quarantined()).toEqual([]);
        await merchant.expectBooksInOrder();
      } finally {
        await server.stop();
      }
    });

    it('list a network whose node never worked, and one that is not configured any more', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
      const file = join(directory, 'networks.json');
      const node = 'http://127.0.0.1:9/';
      await writeFile(file, JSON.stringify({ networks: { 'evm-dev': { nodes: [node] } } }));
      const server = await startServer({
        engine,
        env: { NETWORKS_FILE: file },
        log: pino({ level: 'silent' }),
      });
      try {
        const status = () => runWith(commandContext(server), 'chains status');
        await vi.waitFor(async () => expect((await status()).text).not.toContain('start the server'), {
          timeout: 10_000,
        });
        await server.database.write((transaction) =>
          transaction
            .insertInto('chain_cursors')
            .columns([
              'mode',
              'network',
              'height',
              'hash',
              'head_height',
              'first_height',
              'synced_at',
              'read_until',
              'is_wrong_chain',
              'gaps',
              'lease_until',
              'problem',
            ])
            .expression((e) =>
              e
                .selectFrom('chain_cursors')
                .select([
                  'mode',
                  e.val('sepolia').as('network'),
                  'height',
                  'hash',
                  'head_height',
                  'first_height',
                  'synced_at',
                  'read_until',
                  'is_wrong_chain',
                  'gaps',
                  'lease_until',
                  e.val('The node was off').as('problem'),
                ])
                .where('network', '=', 'tron'),
            )
            .execute(),
        );
        const { text, json, hasFailed } = await status();
        expect(hasFailed).toBe(true);
        const lineOf = (code: string) => text.split('\n').find((line) => line.startsWith(`test  ${code}  `));
        expect(lineOf('evm-dev')).toMatch(
          /^test {2}evm-dev {2}fails: it has not been read yet: No node of evm-dev can be used: node 1 /,
        );
        expect(lineOf('sepolia')).toMatch(/not configured any more: what arrives there is not seen$/);
        const { networks } = json as {
          networks: { network: string; isConfigured: boolean; problem?: string }[];
        };
        expect(networks).toContainEqual(expect.objectContaining({ network: 'sepolia', isConfigured: false }));
        expect(networks.filter((one) => one.isConfigured && one.problem !== undefined)).toMatchObject([
          { network: 'evm-dev' },
        ]);
      } finally {
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });

    it('chains status shows how far a server is that was off for 100,000 blocks, and why it makes no progress', async () => {
      const lines: { msg: string; network?: string; height?: number; left?: number }[] = [];
      const log = pino(
        { level: 'info' },
        { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) },
      );
      const token = 'scrape-me-0123456789';
      const env = { METRICS_TOKEN: token, SANDBOX: 'on' };
      const made = await engine.create();
      const chain = new LongChain();
      const overrides = { networks: [{ network: longNetwork, chain }] };
      const start = () => startServer({ engine, databaseUrl: made.url, log, env, overrides });
      await (await start()).stop();
      chain.top = 100_010;
      chain.lastReported = 60_000;
      const server = await start();
      try {
        const merchant = openShop(server);
        const status = async () =>
          (JSON.parse((await merchant.run('chains', 'status', '--json')).stdout) as Status).networks.find(
            ({ network }) => network === 'long',
          );
        const lineOf = async () =>
          (await merchant.run('chains', 'status')).stdout.split('\n').find((line) => line.includes('long'));
        const scan = () => server.app.scanner.scanNow(chain);
        const metric = async (name: string) => {
          const scrape = await fetch(`${server.url}/metrics`, {
            headers: { Authorization: `Bearer ${token}` },
          });
          return new RegExp(`^${name}{mode="live",network="long"} (\\d+)`, 'm').exec(
            await scrape.text(),
          )?.[1];
        };
        await expect(scan()).rejects.toThrow('not synchronised');
        const stuck = await status();
        expect(stuck).toMatchObject({ headHeight: 100_010, problem: 'The node is not synchronised' });
        expect(stuck?.height).toBeGreaterThan(50_000);
        expect(await lineOf()).toMatch(
          /block 5\d{4} of 100010, [45]\d{4} left to read {2}read up to .* {2}fails: The node is not synchronised/,
        );
        expect(await metric('checkout_chain_height')).toBe(String(stuck?.height));
        expect(await metric('checkout_chain_head_height')).toBe('100010');

        chain.lastReported = Infinity;
        await scan();
        expect(chain.gaps).toBe(0);
        expect(await status()).toMatchObject({ height: 100_010, headHeight: 100_010 });
        expect(await lineOf()).toMatch(/block 100010 {2}read up to \S+ {2}not configured any more/);
        const logged = lines.filter(({ network }) => network === 'long');
        expect(logged.map(({ msg }) => msg)).toEqual(
          expect.arrayContaining([
            'Reading missed blocks',
            'Scanning failed; retrying',
            'Read all missed blocks',
          ]),
        );
        expect(logged.find(({ msg }) => msg === 'Reading missed blocks')?.left).toBeGreaterThan(99_000);
      } finally {
        await server.stop();
        await made.dispose();
      }
    });
  });

const longNetwork: Network = {
  mode: 'live',
  code: 'long',
  name: 'Long',
  family: 'tron',
  confirmations: 20,
  assets: { USDT: { minAmount: '0.01', withdrawalFee: '1' } },
};

/** A chain of empty blocks, read in ranges of 50, that knows how it was read. */
class LongChain implements Chain {
  readonly mode = 'live';
  readonly network = 'long';
  top = 10;
  /** The node fails above this height. */
  lastReported = Infinity;
  /** The number of ranges that did not begin within or after what was read before. */
  gaps = 0;
  #read = 10;

  head = () => Promise.resolve({ height: this.top, hash: `long-${this.top}` });
  pending = () => Promise.resolve([]);
  block = (height: number) => Promise.resolve(height > this.top ? undefined : this.#make(height));

  blocks(from: number, to: number): Promise<ChainBlock[]> {
    const end = Math.min(to, from + 49);
    if (end > this.lastReported) return Promise.reject(new Error('The node is not synchronised'));
    if (from > this.#read + 1) this.gaps += 1;
    this.#read = end;
    return Promise.resolve(Array.from({ length: end - from + 1 }, (_, index) => this.#make(from + index)));
  }

  #make(height: number): ChainBlock {
    return { height, hash: `long-${height}`, parentHash: `long-${height - 1}`, time: 0, transfers: [] };
  }
}
