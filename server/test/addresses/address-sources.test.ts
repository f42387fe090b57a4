/** Deposit addresses: derivation compared with published vectors, and parsing of valid and invalid addresses. */
import { pbkdf2Sync } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { createAddressSource, createTestAddressSources } from '../../src/core/addresses/address-sources.js';
import { addressFormat, parseAddress } from '../../src/core/addresses/formats.js';
import type { Family } from '../../src/core/chains/networks.js';
import type { Mode } from '../../src/core/shared/scope.js';

const mnemonic = `${'abandon '.repeat(11)}about`;
const seed = pbkdf2Sync(mnemonic, 'mnemonic', 2048, 64, 'sha512');
const xpub = { public: 0x0488b21e, private: 0x0488ade4 };
const tpub = { public: 0x043587cf, private: 0x04358394 };
const zpub = { public: 0x04b24746, private: 0x04b2430c };
const vpub = { public: 0x045f1cf6, private: 0x045f18bc };
const account = (path: string, versions = xpub) => HDKey.fromMasterSeed(seed, versions).derive(path);

const families = ['bitcoin', 'litecoin', 'evm', 'tron'] as const satisfies Family[];
/** Accounts of the published mnemonic, so that addresses can be compared with published ones. */
const testExtendedPublicKeys: Readonly<Record<Family, string>> = {
  bitcoin:
    'vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc',
  litecoin:
    'vpub5Y6cjg78GGuNQePrLecqwMCGL7x8YYGFKqN5LCciiMAuXWPjwsX9pvXhqKJdkzDeoE9xvFGM1j6cVLPqHEVDK5idBAye5LzWyqxjXcen358',
  evm: 'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
  tron: 'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
};
const sourceOf = (family: Family, key = testExtendedPublicKeys[family]) =>
  createAddressSource('test', family, key);
const sources: Readonly<Record<Family, ReturnType<typeof sourceOf>>> = {
  bitcoin: sourceOf('bitcoin'),
  litecoin: sourceOf('litecoin'),
  evm: sourceOf('evm'),
  tron: sourceOf('tron'),
};

describe('Derivation', () => {
  it('The seed is the published seed of the mnemonic', () => {
    expect(seed.toString('hex')).toBe(
      '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1' +
        '9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
    );
  });

  it.each([
    ['bitcoin', "m/84'/1'/0'", vpub],
    ['litecoin', "m/84'/1'/1'", vpub],
    ['evm', "m/44'/60'/0'", xpub],
    ['tron', "m/44'/195'/0'", xpub],
  ] as const)('The key of %s is that of the path %s', (family, path, versions) => {
    expect(testExtendedPublicKeys[family]).toBe(account(path, versions).publicExtendedKey);
    const found = createTestAddressSources(seed).find({ merchantId: '', mode: 'test' }, family);
    expect(found?.derive(0)).toBe(sources[family].derive(0));
  });

  it.each([
    ['bitcoin', 0, 'tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl'],
    ['evm', 0, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
    ['evm', 1, '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0'],
    ['tron', 0, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'],
  ] as const)('%s address %i is the published %s', (family, index, address) => {
    expect(sources[family].derive(index)).toBe(address);
  });

  it.each([
    [0, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
    [1, 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
  ])('The zpub of BIP-84 has the published address %i in live mode', (index, published) => {
    const key =
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
    expect(createAddressSource('live', 'bitcoin', key).derive(index)).toBe(published);
  });

  it.each([0, 1, 7, 123_456])('Litecoin address %i comes from the seed, with the testnet prefix', (index) => {
    const { publicKey } = account(`m/84'/1'/1'/0/${index}`);
    const program = ripemd160(sha256(publicKey ?? new Uint8Array()));
    expect(sources.litecoin.derive(index)).toBe(bech32.encode('tltc', [0, ...bech32.toWords(program)]));
  });

  it('Every child key is the one that the library derives', () => {
    const receiving = HDKey.fromExtendedKey(testExtendedPublicKeys.bitcoin, vpub).deriveChild(0);
    for (const index of [...Array(100).keys(), 0x7fffffff]) {
      const { publicKey } = receiving.deriveChild(index);
      const words = bech32.toWords(ripemd160(sha256(publicKey ?? new Uint8Array())));
      expect(sources.bitcoin.derive(index)).toBe(bech32.encode('tb', [0, ...words]));
    }
  });

  it.each([-1, 0.5, 0x80000000])('There is no child key with the index %d', (index) => {
    expect(() => sources.evm.derive(index)).toThrow(RangeError);
  });

  it('Every derived address is valid in its family, and in canonical form', () => {
    for (const family of families) {
      const addresses = Array.from({ length: 20 }, (_, index) => sources[family].derive(index));
      expect(new Set(addresses).size).toBe(20);
      expect(addresses.map((address) => parseAddress({ mode: 'test', family }, address))).toEqual(addresses);
    }
  });
});

describe('Refused keys', () => {
  it.each([
    ['xprv', xpub],
    ['tprv', tpub],
    ['zprv', zpub],
    ['vprv', vpub],
  ] as const)('%s is private, and the message does not repeat it', (prefix, versions) => {
    const key = account("m/84'/1'/0'", versions).privateExtendedKey;
    expect(key.startsWith(prefix)).toBe(true);
    const refuse = () => sourceOf('bitcoin', key);
    expect(refuse).toThrow('extended private key');
    expect(refuse).not.toThrow(key.slice(4, 20));
  });

  it.each([
    ['', 'extended public key'],
    ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'extended public key'],
    ['xpub', 'checksum of this key'],
    [testExtendedPublicKeys.evm.replace(/.$/, '1'), 'checksum of this key'],
  ])('%j is not an extended key', (key, reason) => {
    expect(() => sourceOf('evm', key)).toThrow(reason);
  });
});

const canonical: readonly (readonly [Family, string, string])[] = [
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['bitcoin', 'TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  [
    'bitcoin',
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  ],
  [
    'bitcoin',
    'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
    'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
  ],
  ['bitcoin', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['bitcoin', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
  ['litecoin', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'QTmhZTeRJcLvaMbw5bS7zkYy2yAhn7UDZp'],
  ['litecoin', 'QTmhZTeRJcLvaMbw5bS7zkYy2yAhn7UDZp', 'QTmhZTeRJcLvaMbw5bS7zkYy2yAhn7UDZp'],
  ['evm', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['evm', '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['evm', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
  ['evm', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'],
  ['evm', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'],
  ['tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
];

const refused: readonly (readonly [Family, string, string])[] = [
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy', 'a wrong checksum'],
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsX', 'mixed case'],
  ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'a mainnet address'],
  ['bitcoin', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', 'a mainnet address'],
  ['bitcoin', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm', 'a wrong checksum'],
  ['bitcoin', ' tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'a space'],
  ['bitcoin', '', 'nothing'],
  ['litecoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', "Bitcoin's prefix"],
  ['litecoin', 'QTmhZTeRJcLvaMbw5bS7zkYy2yAhn7UDZq', 'a wrong checksum'],
  ['evm', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', 'a wrong checksum'],
  ['evm', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae', '39 digits'],
  ['evm', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 'no 0x'],
  ['evm', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg', 'a letter that is not a hexadecimal digit'],
  ['evm', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'an address of another family'],
  ['tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv9', 'a wrong checksum'],
  ['tron', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', "Bitcoin's version"],
  ['tron', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 'an address of another family'],
];

describe('Parsing', () => {
  it.each(canonical)('%s: %s is parsed as %s', (family, given, expected) => {
    expect(parseAddress({ mode: 'test', family }, given)).toBe(expected);
  });

  it.each(refused)('%s: %j is refused: %s', (family, given) => {
    expect(parseAddress({ mode: 'test', family }, given)).toBeUndefined();
  });

  it.each(families.flatMap((family) => (['test', 'live'] as const).map((mode) => [family, mode] as const)))(
    '%s in %s mode: an address made from 20 bytes is parsed',
    (family: Family, mode: Mode) => {
      const address = addressFormat(mode, family).write(new Uint8Array(20).fill(7));
      expect(parseAddress({ mode, family }, address)).toBe(address);
    },
  );

  it.each([
    ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bitcoin', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
    ['litecoin', '3CDJNfdWX8m2NwuGUV3nhXHXEeLygMXoAj', 'MJRSgZ3UUFcTBTBAaN38XAXvZLwRe8WVw7'],
  ] as const)('%s in live mode: %s is parsed as %s', (family, given, expected) => {
    expect(parseAddress({ mode: 'live', family }, given)).toBe(expected);
  });

  it('Live mode refuses testnet addresses', () => {
    expect(
      parseAddress({ mode: 'live', family: 'bitcoin' }, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'),
    ).toBeUndefined();
  });
});
