/** The parts of a PSBT that no node has to confirm: dust limits, sizes, fee shares, and how keys are named. */
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { readSpendingAccount, type AccountUse } from '../../src/modules/psbt-payouts/account.js';
import { dustLimit, feeOf, transactionWeight } from '../../src/modules/psbt-payouts/sizes.js';
import { chooseFeeRate } from '../../src/modules/psbt-payouts/fee-rate.js';
import { sharesOf } from '../../src/modules/psbt-payouts/transitions.js';

const scripts = {
  p2pkh: `76a914${'11'.repeat(20)}88ac`,
  p2sh: `a914${'11'.repeat(20)}87`,
  p2wpkh: `0014${'11'.repeat(20)}`,
  p2wsh: `0020${'11'.repeat(32)}`,
  p2tr: `5120${'11'.repeat(32)}`,
};
const master = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));
const hardened = 2 ** 31;
const use: AccountUse = {
  family: 'bitcoin',
  net: 'main',
  script: 'p2wpkh',
  fingerprint: undefined,
  path: undefined,
};
const publicKey = (path: string) => master.derive(path).publicExtendedKey;

describe('The smallest output that nodes relay', () => {
  // Bitcoin Core's and Litecoin Core's own figures, at their dust relay fees of 3 and 30 satoshis per virtual byte.
  it.each([
    ['p2pkh', 546n],
    ['p2sh', 540n],
    ['p2wpkh', 294n],
    ['p2wsh', 330n],
    ['p2tr', 330n],
  ] as const)('The smallest output to %s is %s satoshis', (script, limit) => {
    expect(dustLimit(hex.decode(scripts[script]), 'bitcoin')).toBe(limit);
    expect(dustLimit(hex.decode(scripts[script]), 'litecoin')).toBe(limit * 10n);
  });
});

describe('The weight of a transaction', () => {
  // One input and two outputs, as every wallet shows them: 226, 166, 141 and 153.5 virtual bytes with their own outputs.
  it.each([
    ['p2pkh', 'p2pkh', 226 * 4],
    ['p2sh-p2wpkh', 'p2sh', 166 * 4],
    ['p2wpkh', 'p2wpkh', 140.5 * 4],
    ['p2tr', 'p2tr', 154.25 * 4],
  ] as const)('A transaction of %s has the weight that every wallet shows', (type, output, weight) => {
    const outputs = [hex.decode(scripts[output]), hex.decode(scripts[output])];
    expect(Math.abs(transactionWeight(type, 1, outputs) - weight)).toBeLessThanOrEqual(4);
  });

  it('A fee by weight is rounded up', () => {
    expect(feeOf(561, 1000n)).toBe(141n);
    expect(feeOf(561, 1001n)).toBe(142n);
  });
});

describe('The fee', () => {
  it('A fee is divided without a rest', () => {
    expect(sharesOf(10n, 3)).toEqual([4n, 3n, 3n]);
    expect(sharesOf(2n, 3)).toEqual([2n, 0n, 0n]);
    expect(sharesOf(5n, 0)).toEqual([]);
  });

  it('The fee rate is the estimate, but at least what the node relays, and never absurd', () => {
    const rates = { estimate: 5_000n, minimum: 1_000n, increment: 1_000n };
    expect(chooseFeeRate(undefined, rates)).toBe(5_000n);
    expect(chooseFeeRate(undefined, { ...rates, minimum: 9_000n })).toBe(9_000n);
    expect(chooseFeeRate('1.25', rates)).toBe(1_250n);
    expect(() => chooseFeeRate(undefined, { ...rates, estimate: 2_000_000n })).toThrow(
      'The node estimates 2000 satoshis per virtual byte, which is above the highest rate of 1000',
    );
  });
});

describe('A key is named', () => {
  const origin = (path: string, changes: Partial<AccountUse>) =>
    readSpendingAccount(publicKey(path), { ...use, ...changes }).origin(1, 5);

  it('A key is named from the account if the master key is not known', () => {
    expect(origin("m/84'/0'/0'", {})).toEqual({
      fingerprint: master.derive("m/84'/0'/0'").fingerprint,
      path: [1, 5],
    });
  });

  it.each([
    ["m/84'/0'/3'", {}, [84 + hardened, hardened, 3 + hardened]],
    ["m/84'/2'/0'", { family: 'litecoin' }, [84 + hardened, 2 + hardened, hardened]],
    ["m/86'/0'/0'", { script: 'p2tr' }, [86 + hardened, hardened, hardened]],
    ['m', { script: 'p2pkh' }, []],
    ["m/0'", {}, [hardened]],
    ["m/48'/0'/7'", { path: 'm/48h/0h/7h' }, [48 + hardened, hardened, 7 + hardened]],
  ] as const)('A key is named from the master key: %s', (path, changes, account) => {
    const named = origin(path, { fingerprint: '0f056943', ...changes });
    expect(named).toEqual({ fingerprint: 0x0f056943, path: [...account, 1, 5] });
    // The path leads to the key that the address is of.
    const { publicKey: derive } = readSpendingAccount(publicKey(path), {
      ...use,
      fingerprint: '0f056943',
      ...changes,
    });
    const child = named.path.reduce<HDKey>((key, step) => key.deriveChild(step), master);
    expect(derive(1, 5)).toEqual(child.publicKey);
  });

  it('A key at depth 2 fits no convention, and needs its path', () => {
    expect(() => origin("m/1'/2'", { fingerprint: '0f056943' })).toThrow('give its path');
  });
});
