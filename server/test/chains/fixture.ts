/** A database with simulated chains, a clock that tests move by hand, and a sink that records its batches. */
import pino, { type Logger } from 'pino';
import { createTestAddressSources } from '../../src/core/addresses/address-sources.js';
import type { Chain, ChainTransfer, NetworkRef } from '../../src/core/chains/chain.js';
import type { Family } from '../../src/core/chains/networks.js';
import type { ScannedNetwork } from '../../src/core/scanning/network-scan.js';
import type { ScanBatch, ScanSink } from '../../src/core/scanning/scan.js';
import { createScanner, type Scanner } from '../../src/core/scanning/scanner.js';
import {
  createSimulatedChains,
  type SimulatedChains,
} from '../../src/core/chains/simulated/simulated-chain.js';
import { type Database } from '../../src/core/db/database.js';
import { newId } from '../../src/core/shared/ids.js';
import { simulatedNetworks } from '../../src/core/chains/simulated/networks.js';
import type { Reader } from '../../src/core/db/engine.js';
import { openDatabase } from '../../src/database.js';

const tables = [
  'simulated_blocks',
  'simulated_transfers',
  'chain_cursors',
  'scanned_blocks',
  'settings',
] as const;

const testSources = createTestAddressSources(new Uint8Array(32).fill(7));

/** A deposit address of test mode. */
export function testAddress(family: Family, index = 0): string {
  const source = testSources.find({ merchantId: '', mode: 'test' }, family);
  if (!source) throw new Error(`There is no test key for ${family}`);
  return source.derive(index);
}

export const testNetwork = (network: string): NetworkRef => ({ mode: 'test', network });

/** A clock that tests move by hand. It shows the same time in both modes. */
export class ManualClock {
  time = Date.UTC(2026, 0, 1);
  readonly real = () => this.time;
  readonly now = () => this.time;
  readonly at = (_scope: unknown, realTime: number) => realTime;
}

export interface ChainFixture {
  readonly database: Database;
  readonly clock: ManualClock;
  readonly simulated: SimulatedChains;
  readonly sink: RecordingSink;
  chain(network: string): Chain;
  send(network: string, currency: string, amount?: bigint): Promise<string>;
  mine(network: string, count?: number): Promise<void>;
  reorg(network: string, depth: number, keep: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openFixture(url: string, clock = new ManualClock()): Promise<ChainFixture> {
  const database = await openDatabase(url);
  return fixtureOn(database, clock);
}

/** Opens a database that several tests use one after the other, and empties it. */
export async function openEmptyFixture(url: string): Promise<ChainFixture> {
  const database = await openDatabase(url);
  await database.write(async (transaction) => {
    for (const table of tables) await transaction.deleteFrom(table).execute();
  });
  return fixtureOn(database, new ManualClock());
}

/** The merchant that all transfers go to. */
export const merchantId = 'MERCHANT';
export const blockIntervalMs = 1000;

async function fixtureOn(database: Database, clock: ManualClock): Promise<ChainFixture> {
  const simulated = createSimulatedChains({
    database,
    clock,
    networks: simulatedNetworks,
    blockIntervalMs,
  });
  await simulated.prepare();
  const chain = (network: string) => {
    const found = simulated.chains.find((candidate) => candidate.network === network);
    if (!found) throw new Error(`No chain ${network}`);
    return found;
  };
  return {
    database,
    clock,
    simulated,
    sink: new RecordingSink(),
    chain,
    send: (network, currency, amount = 1_000_000n) =>
      database.write((transaction) =>
        simulated.send(transaction, {
          merchantId,
          network,
          currency,
          address: testAddress('tron'),
          amount,
        }),
      ),
    async mine(network, count = 1) {
      await database.write((transaction) => simulated.mine(transaction, network, count));
    },
    async reorg(network, depth, keep) {
      await database.write((transaction) =>
        simulated.reorg(transaction, { merchantId, network, depth, keep }),
      );
    },
    close: () => database.close(),
  };
}

export interface TestScanner {
  readonly scanner: Scanner;
  /** The parsed lines of the log. */
  readonly lines: { readonly msg: string; readonly network?: string }[];
}

export interface ScannerChanges {
  readonly chains?: readonly Chain[];
  readonly database?: Database;
  readonly sink?: ScanSink;
  readonly lagLimitMs?: number;
}

export function scannerOn(fixture: ChainFixture, changes: ScannerChanges = {}): TestScanner {
  const lines: TestScanner['lines'] = [];
  const log: Logger = pino(
    { level: 'info' },
    { write: (line: string) => lines.push(JSON.parse(line) as TestScanner['lines'][number]) },
  );
  const networks = (changes.chains ?? [fixture.chain('tron')]).map((chain): ScannedNetwork => ({
    chain,
    confirmations: 2,
    intervalMs: 5,
    lagLimitMs: changes.lagLimitMs,
  }));
  const { database, clock, sink } = { ...fixture, ...changes };
  return { scanner: createScanner({ networks, database, clock, sink, newId, log }), lines };
}

interface RecordedBlock {
  readonly height: number;
  readonly hash: string;
  readonly txHashes: readonly string[];
}

/** A batch, with its pending transfers as a list. */
interface RecordedBatch extends Omit<ScanBatch, 'pending'> {
  readonly pending: readonly ChainTransfer[] | undefined;
}

/** Records every batch, and in the database those that are committed. Applying a block twice violates a primary key. */
export class RecordingSink implements ScanSink {
  /** Every batch, including those that were rolled back later. */
  readonly batches: RecordedBatch[] = [];
  /** The hashes of the transfers that each batch calls newly pending. */
  readonly appeared: (readonly string[])[] = [];

  readonly hasDue = () => Promise.resolve(false);

  async apply(transaction: Parameters<ScanSink['apply']>[0], batch: ScanBatch): Promise<'complete'> {
    const pending = batch.pending?.transfers;
    this.batches.push({ ...batch, pending });
    this.appeared.push(batch.pending?.appeared.map(({ txHash }) => txHash) ?? []);
    const { network, orphanedAbove, blocks } = batch;
    if (orphanedAbove !== undefined) {
      const orphaned = transaction
        .deleteFrom('settings')
        .where('name', 'like', `block/${network}/%`)
        .where('name', '>', blockName(network, orphanedAbove));
      await orphaned.execute();
    }
    const values = blocks.map(({ height, hash, transfers }) => ({
      name: blockName(network, height),
      value: JSON.stringify({ height, hash, txHashes: transfers.map(({ txHash }) => txHash) }),
    }));
    if (values.length > 0) await transaction.insertInto('settings').values(values).execute();
    if (!pending) return 'complete';
    const value = JSON.stringify(pending.map(({ txHash }) => txHash));
    await transaction
      .insertInto('settings')
      .values({ name: `pending/${network}`, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
    return 'complete';
  }
}

/** Oldest first. */
export async function recordedBlocks(reader: Reader, network: string): Promise<RecordedBlock[]> {
  const rows = await reader
    .selectFrom('settings')
    .select('value')
    .where('name', 'like', `block/${network}/%`)
    .orderBy('name')
    .execute();
  return rows.map(({ value }) => JSON.parse(value) as RecordedBlock);
}

export async function recordedPending(
  reader: Reader,
  network: string,
): Promise<readonly string[] | undefined> {
  const row = await reader
    .selectFrom('settings')
    .select('value')
    .where('name', '=', `pending/${network}`)
    .executeTakeFirst();
  return row && (JSON.parse(row.value) as string[]);
}

/** The chain's current blocks from a height on, in the form in which the sink records them. */
export async function bestChain(chain: Chain, from: number): Promise<RecordedBlock[]> {
  const { signal } = new AbortController();
  const { height: end } = await chain.head(signal);
  const heights = Array.from({ length: Math.max(0, end - from + 1) }, (_, index) => from + index);
  return Promise.all(
    heights.map(async (height) => {
      const block = await chain.block(height, signal);
      if (!block) throw new Error(`${chain.network} has no block ${height}`);
      return { height, hash: block.hash, txHashes: block.transfers.map(({ txHash }) => txHash) };
    }),
  );
}

function blockName(network: string, height: number): string {
  return `block/${network}/${String(height).padStart(9, '0')}`;
}
