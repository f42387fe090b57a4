/** Replies of nodes of all versions about transactions: amounts to the satoshi, and outputs that are no payments. */
import { describe, expect, it } from 'vitest';
import { addressOfScript } from '../../../src/core/addresses/bitcoin-scripts.js';
import { bitcoinRules } from '../../../src/core/families/kinds.js';
import { readSatoshis } from '../../../src/modules/networks/bitcoin/transactions.js';
import { readTransaction, transfersOf } from '../../../src/modules/networks/bitcoin/transactions.js';

const txid = 'ab'.repeat(32);
const { main } = bitcoinRules('litecoin').prefixes;

function received(answer: object, ours: readonly string[], prefixes = main) {
  const transaction = readTransaction({ txid, vin: [], ...answer }, prefixes);
  return transaction && transfersOf(transaction, new Set(ours), 'LTC', prefixes);
}

describe('Amounts', () => {
  const decimal = (satoshis: bigint) =>
    `${satoshis / 100_000_000n}.${(satoshis % 100_000_000n).toString().padStart(8, '0')}`;
  /** As a node writes it and `JSON.parse` reads it. */
  const parsed = (satoshis: bigint) => readSatoshis(JSON.parse(decimal(satoshis)));

  it('All amounts around powers of two and ten are exact, up to more coins than one output can have', () => {
    const most = (1n << 26n) * 100_000_000n - 1n;
    const powers = [...Array(56).keys()].flatMap((power) => [1n << BigInt(power), 10n ** BigInt(power % 16)]);
    const amounts = [...powers, most, 2_100_000_000_000_000n].flatMap((power) =>
      [-3n, -2n, -1n, 0n, 1n, 2n, 3n].map((difference) => power + difference),
    );
    for (const amount of amounts) {
      if (amount >= 0n && amount <= most) expect(parsed(amount), decimal(amount)).toBe(amount);
    }
    expect(parsed(most)).toBe(most);
  });

  it('Twenty thousand amounts from everywhere are exact', () => {
    let state = 1n;
    const wrong: bigint[] = [];
    for (let count = 0; count < 20_000; count += 1) {
      state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
      const amount = (state >> 11n) % 10n ** BigInt(1 + (count % 16));
      if (amount < (1n << 26n) * 100_000_000n && parsed(amount) !== amount) wrong.push(amount);
    }
    expect(wrong).toEqual([]);
  });

  it.each(['1e-8', '0.00000001', '1E-8'])('%s is one satoshi', (text) => {
    expect(readSatoshis(JSON.parse(text))).toBe(1n);
  });

  it.each([-1, 0.000000001, 1.234567891, Number.NaN, Infinity, 2 ** 26, 1e21, '1', null, undefined, {}, [1]])(
    '%j is not an amount',
    (value) => {
      expect(readSatoshis(value)).toBeUndefined();
    },
  );
});

describe('Outputs', () => {
  const hash = '751e76e8199196d454941c45d1b3a323f1433bd6';
  const address = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
  const ours = { n: 1, value: 0.5, scriptPubKey: { hex: `0014${hash}` } };
  const transfer = { txHash: txid, outputIndex: 1, currency: 'LTC', address, amount: 50_000_000n };

  it.each([
    ['Bitcoin Core 22 and later', { address, type: 'witness_v0_keyhash' }],
    [
      'Bitcoin Core before 22, Litecoin Core 0.21',
      { addresses: [address], reqSigs: 1, type: 'witness_v0_keyhash' },
    ],
    ['a node that gives only the script', {}],
    ['a node that names another address', { address: 'ltc1qother' }],
  ])('%s: the script decides', (_, more) => {
    const output = { ...ours, scriptPubKey: { ...ours.scriptPubKey, ...more } };
    expect(received({ vout: [output] }, [address])).toEqual([{ ...transfer, senders: [] }]);
  });

  it.each([
    ['data', { n: 0, value: 0, scriptPubKey: { hex: '6a0568656c6c6f', type: 'nulldata' } }],
    [
      'bare multisig with our key in it',
      {
        n: 0,
        value: 0.1,
        scriptPubKey: {
          hex: `5121${'02'.repeat(33)}21${'03'.repeat(33)}52ae`,
          type: 'multisig',
          addresses: [address, 'ltc1qother'],
        },
      },
    ],
    [
      'a bare public key',
      { n: 0, value: 0.1, scriptPubKey: { hex: `21${'02'.repeat(33)}ac`, addresses: [address] } },
    ],
    ['an output inside MWEB', { ismweb: true, output_id: 'cd'.repeat(32) }],
    ['an output without a script', { n: 0, value: 0.1 }],
    [
      'the head of the extension blocks',
      { n: 0, value: 123.4, scriptPubKey: { hex: `5820${'ef'.repeat(32)}`, type: 'witness_mweb_hogaddr' } },
    ],
    ['a script of the future', { n: 0, value: 1, scriptPubKey: { hex: `5220${'ef'.repeat(32)}` } }],
    ['nothing', null],
  ])('%s next to our output does no harm', (_, output) => {
    expect(received({ vout: [output, ours] }, [address])).toMatchObject([transfer]);
    expect(received({ vout: [output] }, [address])).toEqual([]);
  });

  it('A payment out of MWEB is a payment: it is an output of the last transaction of a block', () => {
    const vin = [{ txid: 'aa'.repeat(32), vout: 0, scriptSig: { asm: '', hex: '' }, sequence: 4294967295 }];
    const head = { n: 0, value: 123.4, scriptPubKey: { hex: `5820${'ef'.repeat(32)}` } };
    expect(received({ vin, vout: [head, ours] }, [address])).toMatchObject([transfer]);
  });

  it('A transaction that spends from MWEB has inputs without anything to read', () => {
    const vin = [{ ismweb: true, output_id: 'cd'.repeat(32) }];
    expect(received({ vin, vout: [ours], vkern: [{ kernel_id: 'ee'.repeat(32) }] }, [address])).toEqual([
      { ...transfer, senders: [] },
    ]);
  });

  it('A mining reward is not a payment', () => {
    expect(received({ vin: [{ coinbase: '03a1b2c3', sequence: 0 }], vout: [ours] }, [address])).toEqual([]);
  });

  it.each([
    ['no amount', { ...ours, value: undefined }],
    ['an amount as text', { ...ours, value: '0.5' }],
    ['a negative amount', { ...ours, value: -0.5 }],
    ['a tenth of a satoshi', { ...ours, value: 0.500000001 }],
    ['no index', { ...ours, n: undefined }],
    ['a fraction as index', { ...ours, n: 0.5 }],
  ])('Our own output with %s is an error, and never another amount', (_, output) => {
    expect(() => received({ vout: [output] }, [address])).toThrow('cannot be read');
  });

  it.each([
    `0014${hash}`,
    `0020${hash}${'00'.repeat(12)}`,
    `76a914${hash}88ac`,
    `a914${hash}87`,
    `5120${hash}${'00'.repeat(12)}`,
  ])('The script %s has an address, and one with a byte more, less or in front has none', (script) => {
    expect(addressOfScript(script, main)).toBeDefined();
    for (const other of [`${script}51`, script.slice(0, -2), `51${script}`]) {
      expect(addressOfScript(other, main), other).toBeUndefined();
    }
  });
});

describe('Senders', () => {
  const key = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const address = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
  const vout = [{ n: 0, value: 1, scriptPubKey: { hex: '0014751e76e8199196d454941c45d1b3a323f1433bd6' } }];
  const sendersOf = (...vin: object[]) => received({ vin, vout }, [address])?.[0]?.senders;
  const signature = '30'.repeat(71);

  it('Senders are read from the keys that unlock the inputs, each once', () => {
    const segwit = { scriptSig: { hex: '' }, txinwitness: [signature, key] };
    const nested = {
      scriptSig: { hex: '160014751e76e8199196d454941c45d1b3a323f1433bd6' },
      txinwitness: [signature, key],
    };
    const legacy = { scriptSig: { hex: `47${signature}21${key}` } };
    expect(sendersOf(segwit, segwit, nested, legacy)).toEqual([
      address,
      'MR8UQSBr5ULwWheBHznrHk2jxyxkHQu8vB',
      'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ',
    ]);
  });

  it('Senders are unknown where an input does not show the key', () => {
    const taproot = { scriptSig: { hex: '' }, txinwitness: ['ab'.repeat(64)] };
    const multisig = { scriptSig: { hex: '' }, txinwitness: ['', signature, signature, '52'] };
    expect(sendersOf(taproot, multisig, {}, { scriptSig: { hex: 'zz' } })).toEqual([]);
  });
});
