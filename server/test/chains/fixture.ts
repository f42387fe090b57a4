/** A database with simulated chains, a clock that stands still, and a sink that keeps in the database what it was given. */
import pino, { type Logger } from 'pino';
import { createTestAddressSources } from '../../src/chains/addresses/address-sources.js';
import type { Chain, NetworkRef } from '../../src/chains/chain.js';
import type { Family } from '../../src/chains/networks.js';
import type { ScannedNetwork } from '../../src/chains/network-scan.js';
import type { ScanBatch, ScanSink } from '../../src/chains/scan.js';
import { createScanner, type Scanner } from '../../src/chains/scanner.js';
import { createSimulatedChains, type SimulatedChains } from '../../src/chains/simulated/simulated-chain.js';
import { type Database } from '../../src/db/database.js';
import { newId } from '../../src/shared/ids.js';
import { simulatedNetworks } from '../../src/chains/simulated/networks.js';
import type { Reader } from '../../src/db/engine.js';
import { openDatabase } from '../../src/db/open.js';

const tables = [
  'simulated_blocks',
  'simulated_transfers',
  'chain_cursors',
  'scanned_blocks',
  'settings',
] as const;

/** An address of the family that test payments are given. */
export function testAddress(family: Family, index = 0): string {
  const source = createTestAddressSources().find({ merchantId: '', mode: 'test' }, family);
  if (!source) throw new Error(`There is no test key for ${family}`);
  return source.derive(index);
}

export const testNetwork = (network: string): NetworkRef => ({ mode: 'test', network });

/** A clock that tests move by hand, the same in both modes. */
export class HandClock {
  time = Date.UTC(2026, 0, 1);
  readonly now = () => this.time;
}

export interface ChainFixture {
  readonly database: Database;
  readonly clock: HandClock;
  readonly simulated: SimulatedChains;
  readonly sink: RecordingSink;
  chain(network: string): Chain;
  send(network: string, currency: string, amount?: bigint): Promise<string>;
  mine(network: string, count?: number): Promise<void>;
  reorg(network: string, depth: number, keep: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openFixture(url: string, clock = new HandClock()): Promise<ChainFixture> {
  const database = await openDatabase(url);
  return fixtureOn(database, clock);
}

/** For a database that several tests use one after the other. */
export async function openEmptyFixture(url: string): Promise<ChainFixture> {
  const database = await openDatabase(url);
  await database.write(async (transaction) => {
    for (const table of tables) await transaction.deleteFrom(table).execute();
  });
  return fixtureOn(database, new HandClock());
}

async function fixtureOn(database: Database, clock: HandClock): Promise<ChainFixture> {
  const simulated = createSimulatedChains({ database, clock, networks: simulatedNetworks });
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
        simulated.send(transaction, { network, currency, address: testAddress('tron'), amount }),
      ),
    async mine(network, count = 1) {
      await database.write((transaction) => simulated.mine(transaction, network, count));
    },
    async reorg(network, depth, keep) {
      await database.write((transaction) => simulated.reorg(transaction, network, depth, keep));
    },
    close: () => database.close(),
  };
}

export interface ScannerOnStage {
  readonly scanner: Scanner;
  /** What was logged, as parsed lines. */
  readonly lines: { readonly msg: string; readonly network?: string }[];
}

export interface ScannerChanges {
  readonly chains?: readonly Chain[];
  readonly database?: Database;
  readonly sink?: ScanSink;
}

export function scannerOn(fixture: ChainFixture, changes: ScannerChanges = {}): ScannerOnStage {
  const lines: ScannerOnStage['lines'] = [];
  const log: Logger = pino(
    { level: 'info' },
    { write: (line: string) => lines.push(JSON.parse(line) as ScannerOnStage['lines'][number]) },
  );
  const networks = (changes.chains ?? [fixture.chain('tron')]).map((chain): ScannedNetwork => ({
    chain,
    confirmations: 2,
    intervalMs: 5,
  }));
  const { database, clock, sink } = { ...fixture, ...changes };
  return { scanner: createScanner({ networks, database, clock, sink, newId, log }), lines };
}

interface RecordedBlock {
  readonly height: number;
  readonly hash: string;
  readonly txHashes: readonly string[];
}

/** What the sink was given and what of it was committed: a block that is applied twice violates a primary key. */
export class RecordingSink implements ScanSink {
  /** Every batch, also of transactions that were rolled back later. */
  readonly batches: ScanBatch[] = [];

  async apply(transaction: Parameters<ScanSink['apply']>[0], batch: ScanBatch): Promise<void> {
    this.batches.push(batch);
    const { network, orphanedAbove, blocks, pending } = batch;
    for (const { height } of orphanedAbove === undefined ? [] : await recordedBlocks(transaction, network)) {
      if (height > (orphanedAbove ?? height)) {
        await transaction.deleteFrom('settings').where('name', '=', blockName(network, height)).execute();
      }
    }
    for (const { height, hash, transfers } of blocks) {
      const value = JSON.stringify({ height, hash, txHashes: transfers.map(({ txHash }) => txHash) });
      await transaction
        .insertInto('settings')
        .values({ name: blockName(network, height), value })
        .execute();
    }
    if (!pending) return;
    const value = JSON.stringify(pending.map(({ txHash }) => txHash));
    await transaction
      .insertInto('settings')
      .values({ name: `pending/${network}`, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
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

/** What a chain says now about the blocks from a height on, in the form that the sink keeps. */
export async function bestChain(chain: Chain, from: number): Promise<RecordedBlock[]> {
  const { signal } = new AbortController();
  const { height: end } = await chain.head(signal);
  const blocks: RecordedBlock[] = [];
  for (let height = from; height <= end; height += 1) {
    const block = await chain.block(height, signal);
    if (!block) throw new Error(`${chain.network} has no block ${height}`);
    blocks.push({ height, hash: block.hash, txHashes: block.transfers.map(({ txHash }) => txHash) });
  }
  return blocks;
}

function blockName(network: string, height: number): string {
  return `block/${network}/${String(height).padStart(9, '0')}`;
}
