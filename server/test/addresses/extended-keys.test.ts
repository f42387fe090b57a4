/** Extended public keys: script types by prefix, compared with the published vectors of BIP-32, 44, 49, 84, 86, 380 and SLIP-132. */
import { pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import { descriptorChecksum } from '../../src/core/addresses/descriptor-checksum.js';
import { readAccountKey } from '../../src/core/addresses/extended-keys.js';
import { parseAddress } from '../../src/core/addresses/formats.js';
import type { Family } from '../../src/core/chains/networks.js';
import type { Mode } from '../../src/core/shared/scope.js';
import { withVersion } from '../support/extended-keys.js';

const seed = pbkdf2Sync(`${'abandon '.repeat(11)}about`, 'mnemonic', 2048, 64, 'sha512');
const account = (path: string) => HDKey.fromMasterSeed(seed).derive(path);
const versions = {
  xpub: '0488b21e',
  ypub: '049d7cb2',
  zpub: '04b24746',
  tpub: '043587cf',
  upub: '044a5262',
  vpub: '045f1cf6',
  Ltub: '019da462',
  Mtub: '01b26ef6',
  ttub: '0436f6e1',
  Ypub: '0295b43f',
  Zpub: '02aa7ed3',
  Upub: '024289ef',
  Vpub: '02575483',
} as const;
const privateVersions = {
  xprv: '0488ade4',
  yprv: '049d7878',
  zprv: '04b2430c',
  tprv: '04358394',
  uprv: '044a4e28',
  vprv: '045f18bc',
  Ltpv: '019d9cfe',
  Mtpv: '01b26792',
  ttpv: '0436ef7d',
} as const;
type Prefix = keyof typeof versions;
const keyAt = (path: string, prefix: Prefix) =>
  withVersion(account(path).publicExtendedKey, versions[prefix]);

interface Vector {
  readonly of: string;
  readonly family: Family;
  readonly mode: Mode;
  readonly key: string;
  readonly options?: NonNullable<Parameters<typeof createAddressSource>[3]>;
  readonly addresses: readonly string[];
}

const vectors: readonly Vector[] = [
  {
    of: 'SLIP-132, BIP-44',
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj',
    addresses: ['1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA'],
  },
  {
    of: 'SLIP-132, BIP-49',
    family: 'bitcoin',
    mode: 'live',
    key: 'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP',
    addresses: ['37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf'],
  },
  {
    of: 'BIP-49, on the test network',
    family: 'bitcoin',
    mode: 'test',
    key: keyAt("m/49'/1'/0'", 'upub'),
    addresses: ['2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2'],
  },
  {
    of: 'BIP-84 and SLIP-132',
    family: 'bitcoin',
    mode: 'live',
    key: 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
    addresses: ['bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
  },
  {
    of: 'BIP-86',
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ',
    options: { script: 'p2tr' },
    addresses: [
      'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
      'bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh',
    ],
  },
  {
    of: 'BIP-44, on Litecoin',
    family: 'litecoin',
    mode: 'live',
    key: keyAt("m/44'/2'/0'", 'Ltub'),
    addresses: ['LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez'],
  },
];

describe('Published vectors', () => {
  it.each(vectors)('$of', ({ family, mode, key, options, addresses }) => {
    const source = createAddressSource(mode, family, key, options);
    expect(addresses.map((_, index) => source.derive(index))).toEqual(addresses);
    for (const address of addresses) expect(parseAddress({ mode, family }, address)).toBe(address);
  });

  it.each([
    ["m/44'/0'/0'", 'xpub', vectors[0]?.key],
    ["m/49'/0'/0'", 'ypub', vectors[1]?.key],
    ["m/84'/0'/0'", 'zpub', vectors[3]?.key],
    ["m/86'/0'/0'", 'xpub', vectors[4]?.key],
  ] as const)('The account %s is the published %s', (path, prefix, published) => {
    expect(keyAt(path, prefix)).toBe(published);
  });

  it('BIP-32, vector 2: children of the master key are those of the published child', () => {
    const master =
      'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB';
    const child =
      'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH';
    const { derive } = readAccountKey(master, { family: 'bitcoin', net: 'main' });
    for (const index of [0, 1, 19, 0x7fffffff]) {
      expect(Buffer.from(derive(index, true))).toEqual(
        Buffer.from(HDKey.fromExtendedKey(child).deriveChild(index).publicKey ?? []),
      );
    }
  });

  it('BIP-380: the checksum of a descriptor', () => {
    expect(descriptorChecksum('raw(deadbeef)')).toBe('89f8spxm');
  });
});

describe('The prefix decides', () => {
  const path = "m/84'/1'/0'";
  it.each([
    ['bitcoin', 'live', 'xpub', undefined, /^1/],
    ['bitcoin', 'live', 'xpub', 'p2wpkh', /^bc1q/],
    ['bitcoin', 'live', 'xpub', 'p2sh-p2wpkh', /^3/],
    ['bitcoin', 'live', 'xpub', 'p2tr', /^bc1p/],
    ['bitcoin', 'live', 'ypub', undefined, /^3/],
    ['bitcoin', 'live', 'zpub', 'p2wpkh', /^bc1q/],
    ['bitcoin', 'test', 'tpub', undefined, /^[mn]/],
    ['bitcoin', 'test', 'tpub', 'p2tr', /^tb1p/],
    ['bitcoin', 'test', 'upub', undefined, /^2/],
    ['bitcoin', 'test', 'vpub', undefined, /^tb1q/],
    ['litecoin', 'live', 'Ltub', undefined, /^L/],
    ['litecoin', 'live', 'Ltub', 'p2tr', /^ltc1p/],
    ['litecoin', 'live', 'Mtub', undefined, /^M/],
    ['litecoin', 'live', 'xpub', undefined, /^L/],
    ['litecoin', 'live', 'ypub', undefined, /^M/],
    ['litecoin', 'live', 'zpub', undefined, /^ltc1q/],
    ['litecoin', 'test', 'ttub', undefined, /^[mn]/],
    ['litecoin', 'test', 'upub', undefined, /^Q/],
    ['litecoin', 'test', 'vpub', undefined, /^tltc1q/],
    ['evm', 'live', 'xpub', undefined, /^0x/],
    ['tron', 'test', 'tpub', undefined, /^T/],
  ] as const)('%s in %s mode: %s with script %s', (family, mode, prefix, script, start) => {
    const address = createAddressSource(mode, family, keyAt(path, prefix), { script }).derive(0);
    expect(address).toMatch(start);
    expect(parseAddress({ mode, family }, address)).toBe(address);
  });

  it.each([
    ['bitcoin', 'bcrt1'],
    ['litecoin', 'rltc1'],
  ] as const)('On regtest, %s addresses begin with %s', (family, start) => {
    const address = createAddressSource('test', family, keyAt(path, 'vpub'), { net: 'regtest' }).derive(0);
    expect(address.startsWith(start)).toBe(true);
    expect(parseAddress({ mode: 'test', family, addressNet: 'regtest' }, address)).toBe(address);
    expect(parseAddress({ mode: 'test', family }, address)).toBeUndefined();
  });

  it('One key has one id, however it is written, so that no two merchants get one address', () => {
    const idOf = (
      prefix: Prefix,
      script?: NonNullable<Parameters<typeof createAddressSource>[3]>['script'],
      at = path,
    ) => createAddressSource('live', 'bitcoin', keyAt(at, prefix), { script }).id;
    expect(idOf('xpub', 'p2wpkh')).toBe(idOf('zpub'));
    expect(idOf('xpub', 'p2sh-p2wpkh')).toBe(idOf('ypub'));
    // Other addresses are counted on their own.
    const others = [
      idOf('zpub'),
      idOf('ypub'),
      idOf('xpub'),
      idOf('xpub', 'p2tr'),
      idOf('zpub', undefined, "m/84'/0'/1'"),
    ];
    expect(new Set(others).size).toBe(5);
  });

  it.each([
    ['xpub', undefined, /^pkh\(xpub.*\/0\/\*\)#/],
    ['zpub', undefined, /^wpkh\(xpub/],
    ['ypub', undefined, /^sh\(wpkh\(xpub.*\/0\/\*\)\)#/],
    ['xpub', 'p2tr', /^tr\(xpub/],
  ] as const)('The descriptor of %s with script %s', (prefix, script, form) => {
    expect(createAddressSource('live', 'bitcoin', keyAt(path, prefix), { script }).descriptor).toMatch(form);
  });
});

describe('Refused keys', () => {
  const path = "m/84'/0'/0'";
  it.each([
    ['bitcoin', 'live', 'vpub', undefined, 'a key of a test network'],
    ['litecoin', 'live', 'ttub', undefined, 'a key of a test network'],
    ['bitcoin', 'test', 'zpub', undefined, 'a key of the main network'],
    ['bitcoin', 'live', 'Ltub', undefined, 'a key of litecoin, not of bitcoin'],
    ['evm', 'live', 'zpub', undefined, 'a key of bitcoin or litecoin, not of evm'],
    ['evm', 'live', 'tpub', undefined, 'a key of a test network'],
    ['tron', 'live', 'xpub', 'p2tr', 'Leave it out for tron'],
    ['bitcoin', 'live', 'zpub', 'p2pkh', 'a key of p2wpkh, not of p2pkh'],
    ['bitcoin', 'live', 'Zpub', undefined, 'multisig'],
    ['bitcoin', 'test', 'Upub', undefined, 'multisig'],
  ] as const)('%s in %s mode: %s with script %s', (family, mode, prefix, script, reason) => {
    expect(() => createAddressSource(mode, family, keyAt(path, prefix), { script })).toThrow(reason);
  });

  it.each(Object.entries(privateVersions))('%s is private; revoke it', (prefix, version) => {
    const key = withVersion(account(path).privateExtendedKey, version);
    expect(key.startsWith(prefix)).toBe(true);
    for (const family of ['bitcoin', 'litecoin', 'evm', 'tron'] as const) {
      const refuse = () => createAddressSource('live', family, key);
      expect(refuse).toThrow('Treat it as revoked: move the coins to a new wallet');
      expect(refuse).not.toThrow(key.slice(4, 20));
    }
  });

  it('A private key behind the prefix of a public one is private, too', () => {
    const key = withVersion(account(path).privateExtendedKey, versions.zpub);
    expect(() => createAddressSource('live', 'bitcoin', key)).toThrow('extended private key');
  });

  it('A key below account level would give other addresses than the wallet', () => {
    const key = keyAt("m/84'/0'/0'/0", 'zpub');
    expect(() => createAddressSource('live', 'bitcoin', key)).toThrow('below account level');
  });

  it('Spaces around a pasted key do not matter', () => {
    const key = keyAt(path, 'zpub');
    expect(createAddressSource('live', 'bitcoin', ` ${key}\n`).id).toBe(
      createAddressSource('live', 'bitcoin', key).id,
    );
  });
});
