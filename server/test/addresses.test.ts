/** Addresses that are derived ahead are the ones that would be derived when they are asked for. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deriveAhead } from '../src/addresses/ahead.js';

describe('Derivation ahead', () => {
  function recorded() {
    const derived: number[] = [];
    const derive = (index: number) => {
      if (index >= 1000) throw new RangeError('There is no such child');
      derived.push(index);
      return `address ${index}`;
    };
    return { derived, ahead: deriveAhead(derive) };
  }

  async function idle(derived: readonly number[]) {
    for (let before = -1; before !== derived.length; await nextTurn()) before = derived.length;
  }

  it('answers what the derivation answers, whatever is asked for in whatever order', async () => {
    const { derived, ahead } = recorded();
    // Rising, with a gap that another server took, and one index again after a rollback.
    for (const index of [0, 1, 2, 300, 301, 301, 299, 302]) {
      expect(ahead(index)).toBe(`address ${index}`);
      if (index % 2 === 0) await idle(derived);
    }
  });

  it('has the next ones ready once there was time, and derives none of them twice', async () => {
    const { derived, ahead } = recorded();
    ahead(0);
    await idle(derived);
    const ready = derived.length;
    expect(ready).toBeGreaterThan(20);
    for (let index = 1; index <= 20; index += 1) expect(ahead(index)).toBe(`address ${index}`);
    expect(derived).toHaveLength(ready);
    await idle(derived);
    expect(new Set(derived).size).toBe(derived.length);
  });

  it('keeps up: what is taken in one turn is replaced in the next', async () => {
    const { derived, ahead } = recorded();
    ahead(0);
    await idle(derived);
    for (let turn = 0; turn < 10; turn += 1) {
      const before = derived.length;
      for (let taken = 1; taken <= 10; taken += 1) ahead(turn * 10 + taken);
      expect(derived).toHaveLength(before);
      await nextTurn();
      expect(derived).toHaveLength(before + 10);
    }
  });

  it('fails only for whoever asks for a child that is not there', async () => {
    const { derived, ahead } = recorded();
    expect(ahead(998)).toBe('address 998');
    await idle(derived);
    expect(ahead(999)).toBe('address 999');
    await idle(derived);
    expect(() => ahead(1000)).toThrow('There is no such child');
  });
});
