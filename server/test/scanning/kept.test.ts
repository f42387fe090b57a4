/** When the nodes are asked about transfers that are about to be dropped, and about how many. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Forgotten, TransferId } from '../../src/core/chains/chain.js';
import type { Reader } from '../../src/core/db/engine.js';
import { createKeepWaiting } from '../../src/core/scanning/kept.js';
import { comparePending } from '../../src/core/scanning/pending.js';
import { keyOf } from '../../src/core/scanning/scan.js';

const { signal } = new AbortController();
const idOf = (number: number): TransferId => ({ txHash: String(number).padStart(5, '0'), outputIndex: 0 });
const idsTo = (count: number) => Array.from({ length: count }, (_, index) => idOf(index));

const forgottenBy = (whom: Forgotten) => (hashes: readonly string[]) =>
  Promise.resolve(new Map(hashes.map((hash) => [hash, whom] as const)));

describe('Transfers that are about to be dropped', () => {
  let missing: readonly TransferId[];
  let time: number;
  let asked: (readonly string[])[];
  let answer: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Forgotten>>;
  let keep: ReturnType<typeof createKeepWaiting>;

  beforeEach(() => {
    time = 0;
    asked = [];
    missing = [];
    answer = forgottenBy('by none');
    const chain: Pick<Chain, 'mode' | 'network' | 'forgotten'> = {
      mode: 'test',
      network: 'evm-dev',
      forgotten: (hashes) => {
        asked.push(hashes);
        return answer(hashes);
      },
    };
    const sink = { missing: () => Promise.resolve(missing) };
    keep = createKeepWaiting(chain as Chain, sink, undefined as unknown as Reader, () => time);
  });

  const scan = async (isUrgent = false) => {
    const head = { height: 1, hash: '1', finalized: undefined };
    const pending = comparePending([], missing);
    return keep({ orphanedAbove: undefined, blocks: [], head, pending }, isUrgent, signal);
  };
  const kept = async (isUrgent?: boolean) => {
    const pending = await scan(isUrgent);
    expect(missing.filter((one) => pending.has(keyOf(one)))).toEqual(pending.kept ?? []);
    return pending.kept?.length ?? 0;
  };

  it('The nodes are asked nothing if there are none', async () => {
    expect(await kept()).toBe(0);
    expect(asked).toEqual([]);
  });

  it('The nodes are asked every ten seconds, and at once by an urgent scan', async () => {
    missing = idsTo(1);
    for (let scans = 0; scans < 5; scans += 1) expect(await kept()).toBe(1);
    expect(asked).toHaveLength(1);
    time += 10_000;
    expect(await kept()).toBe(1);
    expect(await kept(true)).toBe(1);
    expect(asked).toHaveLength(3);
    answer = forgottenBy('by all');
    expect(await kept()).toBe(1);
    time += 10_000;
    const pending = await scan();
    expect(pending.kept).toBeUndefined();
    expect(pending.gone).toEqual(missing);
  });

  it('A flood of transfers is asked about in turns of 200, and none is dropped before its turn', async () => {
    missing = idsTo(450);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await kept()).toBe(450);
      time += 10_000;
    }
    expect(asked.map(({ length }) => length)).toEqual([200, 200, 200]);
    expect(new Set(asked.flat()).size).toBe(450);
    answer = forgottenBy('by all');
    expect(await kept()).toBe(250);
  });

  it('Transfers that only some nodes have forgotten are dropped after ten minutes in which no node had them', async () => {
    missing = idsTo(1);
    const scanFor = async (minutes: number) => {
      for (let seconds = 0; seconds < minutes * 60; seconds += 10) {
        time += 10_000;
        expect(await kept()).toBe(1);
      }
    };
    answer = forgottenBy('by some');
    await scanFor(9);
    answer = forgottenBy('by none');
    await scanFor(1);
    answer = forgottenBy('by some');
    await scanFor(5);
    // No node answers, or the budget is used up.
    answer = () => Promise.resolve(new Map());
    await scanFor(20);
    answer = forgottenBy('by some');
    time += 10_000;
    expect(await kept()).toBe(0);
  });

  it('A transfer that came back in between has its ten minutes again', async () => {
    missing = idsTo(1);
    answer = forgottenBy('by some');
    expect(await kept()).toBe(1);
    missing = [];
    time += 3_600_000;
    expect(await kept()).toBe(0);
    missing = idsTo(1);
    expect(await kept()).toBe(1);
  });

  it('Transfers that the nodes were not asked about are asked about next', async () => {
    missing = idsTo(5);
    answer = (hashes) => Promise.resolve(new Map(hashes.slice(0, 2).map((hash) => [hash, 'by none'])));
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await kept()).toBe(5);
      time += 10_000;
    }
    expect(asked.map(([first]) => first)).toEqual(['00000', '00002', '00004']);
  });
});
