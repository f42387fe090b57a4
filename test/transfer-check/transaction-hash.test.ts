/** Payers' input, and the hash that is found in it. */
import { expect, test } from 'vitest';
import { transactionHashIn } from '../../src/transfer-check/transaction-hash.js';

const hash = '0123456789abcdef'.repeat(4);

test.each([
  hash,
  `0x${hash}`,
  hash.toUpperCase(),
  `  ${hash}\n`,
  `https://etherscan.io/tx/0x${hash}`,
  `https://tronscan.org/#/transaction/${hash}`,
  `https://mempool.space/tx/${hash}#vout=0`,
  `https://polygonscan.com/tx/0x${hash}?a=b`,
  `https://blockchair.com/litecoin/transaction/${hash}/`,
])('a hash is found in %s', (pasted) => {
  expect(transactionHashIn(pasted)).toBe(hash);
});

test.each(['', 'abc', hash.slice(1), `${hash}0`, `g${hash}`, `0x0x${hash.slice(4)}`, '0x' + 'z'.repeat(64)])(
  'no hash is found in “%s”',
  (pasted) => {
    expect(transactionHashIn(pasted)).toBeUndefined();
  },
);
