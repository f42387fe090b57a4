/** The account keys that payouts keep derived: the last hundred. */
import { HDKey } from '@scure/bip32';
import { afterEach, expect, it, vi } from 'vitest';
import { readSpendingAccount } from '../../src/psbt-payouts/account.js';

const accounts = Array.from({ length: 101 }, (_, index) =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(index + 1)),
).map(({ publicExtendedKey }) => publicExtendedKey);

const read = (extendedKey: string) =>
  readSpendingAccount(extendedKey, {
    family: 'bitcoin',
    net: 'main',
    script: 'p2wpkh',
    fingerprint: undefined,
    path: undefined,
  }).address(0, 0);

afterEach(() => {
  vi.restoreAllMocks();
});

it('a hundred accounts are derived once, and one more takes the place of the oldest', () => {
  const [oldest = '', ...rest] = accounts;
  const addresses = accounts.map(read);
  expect(new Set(addresses).size).toBe(101);
  const derived = vi.spyOn(HDKey, 'fromExtendedKey');
  for (const account of rest) read(account);
  expect(derived).not.toHaveBeenCalled();
  expect(read(oldest)).toBe(addresses[0]);
  expect(derived).toHaveBeenCalled();
});
