/** The state of a PSBT that the wallet broadcasts on its own: found by its payments, where its hash cannot be known. */
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { expect, it } from 'vitest';
import { addressOfKey } from '../../src/core/addresses/bitcoin-scripts.js';
import type { UtxoNode } from '../../src/modules/networks/bitcoin/utxo-node.js';
import { readSpendingAccount } from '../../src/modules/psbt-payouts/account.js';
import { expectedOf } from '../../src/modules/psbt-payouts/context.js';
import { findLocation } from '../../src/modules/psbt-payouts/location.js';
import type { StoredPsbt } from '../../src/modules/psbt-payouts/psbt-store.js';

const { signal } = new AbortController();
const account = readSpendingAccount(HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).publicExtendedKey, {
  ...({ family: 'bitcoin', net: 'main', script: 'p2pkh' } as const),
  fingerprint: undefined,
  path: undefined,
});
const receiver = addressOfKey(account.publicKey(0, 9), 'p2pkh', account.prefixes);
const coin = { txHash: 'ab'.repeat(32), outputIndex: 1 };

/** A wallet that is emptied: nobody knows the hash of its transaction, and the fee is taken out of the only transfer. */
const version = { number: 1, tx_hash: null, fee: 300n, change_amount: 0n, block_hash: null };
const psbt = {
  from_height: 100,
  change_index: null,
  versions: [version],
  inputs: [
    { tx_hash: coin.txHash, output_index: coin.outputIndex, amount: 10000n, branch: 0, derivation_index: 3 },
  ],
  transfers: [{ id: 'a transfer', address: receiver, amount: 10000n, bears_fee: true }],
} as unknown as StoredPsbt;

const nodeOf = (amount: bigint) => {
  const [output] = expectedOf(psbt, version, account).outputs;
  const outputs = [{ script: hex.encode(output?.script ?? new Uint8Array()), amount }];
  const spender = {
    txHash: 'cd'.repeat(32),
    blockHash: 'ef'.repeat(32),
    height: 120,
    inputs: [coin],
    outputs,
  };
  return {
    unspent: () => Promise.resolve([undefined]),
    findSpender: () => Promise.resolve(spender),
    confirmations: () => Promise.resolve(6),
  } as unknown as UtxoNode;
};
const books = {
  account: () => Promise.resolve(account),
  claims: () => Promise.resolve([]),
  isBooked: () => Promise.resolve(false),
};
const find = (node: UtxoNode) => findLocation(psbt, node, books, signal);

it('A payout that empties a p2pkh wallet is known by its payment, although its transfer bears the fee', async () => {
  const place = { txHash: 'cd'.repeat(32), blockHash: 'ef'.repeat(32), height: 120, confirmations: 6 };
  expect(await find(nodeOf(9_700n))).toEqual({ kind: 'block', version, ...place });
});

it('a PSBT is not taken for one that pays another amount, which may be its own with a higher fee', async () => {
  expect(await find(nodeOf(9_699n))).toMatchObject({ kind: 'conflict', pays: new Set(['a transfer']) });
  expect(await find(nodeOf(10_001n))).toMatchObject({ kind: 'conflict', pays: new Set() });
});
