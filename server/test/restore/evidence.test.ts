/** The evidence that an old backup was restored, while the transaction that stores it fails. */
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database.js';
import type { ScanBatch } from '../../src/core/scanning/scan.js';
import { createChainEvidence } from '../../src/modules/restore/chain-evidence.js';
import { enginesOfTurn } from '../support/engines.js';

type Deps = Parameters<typeof createChainEvidence>[0];

const address = 'TExampleAddress';
const startedAt = Date.now();

/** A network whose blocks have reached the present, and a key that gave out no address yet. */
const parts = {
  connected: [{ network: { mode: 'live', code: 'tron', family: 'tron', addressNet: 'tron' } }],
  depositKeys: {
    list: () =>
      Promise.resolve([{ mode: 'live', state: 'in_use', family: 'tron', sourceId: 'key', used: 0 }]),
    preview: () => ({ derive: (index: number) => (index === 0 ? address : `${address}${index}`) }),
  },
  marker: { since: () => undefined },
  isDust: () => false,
  untouchedCoins: () => [],
  warn: () => Promise.resolve(),
  startedAt,
};

const block = { hash: 'h', parentHash: 'p' };
const paid = { txHash: 't', outputIndex: 0, currency: 'TRX', senders: [], address, amount: 1_000_000n };
const batch: ScanBatch = {
  mode: 'live',
  network: 'tron',
  orphanedAbove: undefined,
  checked: [],
  pending: undefined,
  finalHeight: undefined,
  readBefore: 0,
  syncedBefore: 1,
  head: { height: 2, hash: 'h' },
  blocks: [
    { ...block, height: 1, time: startedAt - 1000, transfers: [paid] },
    // From after the start: no further block can have evidence.
    { ...block, height: 2, time: startedAt + 1000, transfers: [] },
  ],
};

it.each(enginesOfTurn)(
  'The evidence of a batch whose transaction fails is found again when it is repeated, on $name',
  async (engine) => {
    const { url, dispose } = await engine.create();
    onTestFinished(dispose);
    const database = await openDatabase(url);
    onTestFinished(() => database.close());
    const suspected: unknown[] = [];
    const suspect: Deps['suspect'] = (_, found) => Promise.resolve(void suspected.push(found.addresses));
    const evidence = createChainEvidence({ ...parts, database, suspect } as unknown as Deps);
    await evidence.watched('live', [address]);
    const failing = database.write(async (transaction) => {
      await evidence.follow(transaction, batch);
      throw new Error('The disk is full');
    });
    await expect(failing).rejects.toThrow('The disk is full');
    expect(await evidence.watched('live', [address])).toEqual([address]);
    await database.write((transaction) => evidence.follow(transaction, batch));
    const found = [{ sourceId: 'key', index: 0, address, network: 'tron', txHash: 't' }];
    expect(suspected).toEqual([found, found]);
    expect(await evidence.watched('live', [address])).toEqual([]);
  },
);
