/** Keys as wallets give them: with origins, as descriptors, and in the files that wallets export, in the shapes of public reports. */
import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import { descriptorChecksum } from '../../src/core/addresses/descriptor-checksum.js';
import { readWalletKey } from '../../src/core/addresses/wallet-key.js';
import { errorMessage } from '../../src/core/shared/error-message.js';
import type { ScriptType } from '../../src/core/addresses/bitcoin-scripts.js';
import { withVersion } from '../support/extended-keys.js';

/**
 * The seed of "abandon … about", BIP-39's published words, whose fingerprint is 73c5da0a. Its addresses are in BIP-84
 * and BIP-86.
 */
const seed = Buffer.from(
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
  'hex',
);
const root = HDKey.fromMasterSeed(seed);
const xpubAt = (path: string) => root.derive(path).publicExtendedKey;
const [legacy, nested, segwit, taproot] = ["m/44'/0'/0'", "m/49'/0'/0'", "m/84'/0'/0'", "m/86'/0'/0'"].map(
  xpubAt,
) as [string, string, string, string];
const zpub = withVersion(segwit, '04b24746');
const firstOf = {
  p2pkh: '1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA',
  'p2sh-p2wpkh': '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf',
  p2wpkh: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  p2tr: 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
} as const satisfies Record<ScriptType, string>;

const live = { family: 'bitcoin', mode: 'live', script: undefined } as const;
const summed = (descriptor: string) => `${descriptor}#${descriptorChecksum(descriptor)}`;

/** The first address of the given key, as a payer would get it. */
function firstAddress(text: string, use: Parameters<typeof readWalletKey>[1] = live): string {
  const { extendedPublicKey, script } = readWalletKey(text, use);
  return createAddressSource(use.mode, use.family, extendedPublicKey, { script }).derive(0);
}

describe('A key with its origin', () => {
  it.each([
    ['zpub', `[73c5da0a/84'/0'/0']${zpub}`, 'p2wpkh'],
    ['an xpub whose path says segwit', `[73c5da0a/84h/0h/0h]${segwit}`, 'p2wpkh'],
    ['H for hardened', `[73C5DA0A/84H/0H/0H]${segwit}`, 'p2wpkh'],
    ['an xpub whose path says nested segwit', `[73c5da0a/49'/0'/0']${nested}`, 'p2sh-p2wpkh'],
    ['an xpub whose path says taproot', `[73c5da0a/86'/0'/0']${taproot}`, 'p2tr'],
    ['an xpub whose path says legacy', `[73c5da0a/44'/0'/0']${legacy}`, 'p2pkh'],
    ['the branches behind it', `[73c5da0a/84'/0'/0']${segwit}/<0;1>/*`, 'p2wpkh'],
  ] as const)('A key with its origin gives the addresses that the wallet shows: %s', (_, text, script) => {
    expect(firstAddress(text)).toBe(firstOf[script]);
  });

  it('A key with its origin is taken for EVM networks too', () => {
    const account = root.derive("m/44'/60'/0'").publicExtendedKey;
    const use = { ...live, family: 'evm' } as const;
    expect(firstAddress(`[73c5da0a/44'/60'/0']${account}`, use)).toBe(firstAddress(account, use));
  });

  it.each([
    ['a path that is too short', `[73c5da0a/84'/0']${segwit}`, 'does not lead to the key'],
    ['the path of another account', `[73c5da0a/84'/0'/1']${segwit}`, 'does not lead to the key'],
    ['the path of Litecoin', `[73c5da0a/84'/2'/0']${segwit}`, 'for litecoin, not for bitcoin'],
    ['the path of test networks', `[73c5da0a/84'/1'/0']${segwit}`, 'test networks'],
    ['half of an origin', `[73c5da0a/84'/0'/0'${segwit}`, 'Not an extended public key'],
  ])('A key with %s is refused', (_, text, problem) => {
    expect(() => readWalletKey(text, live)).toThrow(problem);
  });

  it('A key with a wrong or missing character has another error than an address or a text that is no key', () => {
    const problemOf = (text: string, use: Parameters<typeof firstAddress>[1] = live) => {
      try {
        return firstAddress(text, use);
      } catch (error) {
        return errorMessage(error);
      }
    };
    const evm = { ...live, family: 'evm' } as const;
    const mistyped = segwit.slice(0, 50) + (segwit[50] === 'w' ? 'x' : 'w') + segwit.slice(51);
    for (const text of [mistyped, segwit.slice(0, -1)])
      expect(problemOf(text)).toMatch(/^The checksum of this key is wrong: .* Copy it again$/);
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    expect(problemOf(address, evm)).toMatch(/^This is an address, not a key\. .* use --treasury$/);
    expect(problemOf(address)).toContain('Not an extended public key');
  });

  it('A key whose path and --script disagree is refused, and the error names both', () => {
    expect(() => readWalletKey(`[73c5da0a/84'/0'/0']${segwit}`, { ...live, script: 'p2tr' })).toThrow(
      'The wallet says that this is a key of p2wpkh, and --script says p2tr',
    );
  });
});

describe('A descriptor', () => {
  const origin = (purpose: number) => `[73c5da0a/${purpose}h/0h/0h]`;
  it.each([
    ['p2pkh', `pkh(${origin(44)}${legacy}/<0;1>/*)`],
    ['p2sh-p2wpkh', `sh(wpkh(${origin(49)}${nested}/<0;1>/*))`],
    ['p2wpkh', `wpkh(${origin(84)}${segwit}/<0;1>/*)`],
    ['p2tr', `tr(${origin(86)}${taproot}/<0;1>/*)`],
    // sparrow#1822: Bitcoin Core lists the two branches apart.
    ['p2wpkh', `wpkh(${origin(84)}${segwit}/0/*)`],
    ['p2wpkh', `wpkh(${segwit}/**)`],
    ['p2wpkh', `wpkh(${zpub}/0/*)`],
  ] as const)(
    'A descriptor of %s, with its checksum and without, gives the addresses that the wallet shows: %s',
    (script, descriptor) => {
      expect(firstAddress(summed(descriptor))).toBe(firstOf[script]);
      expect(firstAddress(descriptor)).toBe(firstOf[script]);
      expect(readWalletKey(descriptor, live).readAs).toContain(script);
    },
  );

  it('A descriptor of the server itself, as "addresses export" writes it, is read again', () => {
    const { descriptor = '' } = createAddressSource('live', 'bitcoin', zpub);
    expect(firstAddress(descriptor)).toBe(firstOf.p2wpkh);
  });

  // sparrow#1443: a taproot descriptor of a test network without an origin, with the checksum of the report.
  it('A descriptor of a test network without an origin is taken in test mode', () => {
    const text =
      'tr(tpubD6NzVbkrYhZ4WgbWCZzth8yn8BEuHduo3Yqn1mNrPF5o48BWW9FS4dkytsAEcLtDjJNP6m1TMmFRVL6KKsDZJow7JQpwpdnnK2ZwaWCyt8r/<0;1>/*)#ckrgkmx6';
    expect(firstAddress(text, { ...live, mode: 'test' })).toMatch(/^tb1p/);
    expect(() => firstAddress(text)).toThrow('test network');
  });

  it.each([0, 5, 20, 60, 130])('A descriptor with another character at %i is refused', (at) => {
    const text = summed(`wpkh(${origin(84)}${segwit}/<0;1>/*)`);
    const changed = text.slice(0, at) + (text[at] === 'w' ? 'p' : 'w') + text.slice(at + 1);
    expect(() => readWalletKey(changed, live)).toThrow(
      /checksum of the descriptor is wrong|Not an extended public key/,
    );
  });

  // BIP-380's own vectors.
  it.each([
    ['no checksum after #', 'raw(deadbeef)#'],
    ['a checksum that is too long', 'raw(deadbeef)#89f8spxmx'],
    ['a checksum that is too short', 'raw(deadbeef)#89f8spx'],
    ['an error in the payload', 'raw(dedbeef)#89f8spxm'],
    ['an error in the checksum', 'raw(deadbeef)##9f8spxm'],
    ['an invalid character', 'raw(Ü)#00000000'],
  ])('A descriptor with %s is refused, as BIP-380 has it', (_, text) => {
    expect(() => readWalletKey(text, live)).toThrow(/checksum/);
  });

  it.each([
    ['multi', `sh(multi(2,${legacy}/0/*,${nested}/0/*))`],
    ['sortedmulti', `wsh(sortedmulti(2,${legacy}/0/*,${nested}/0/*))`],
    ['musig', `tr(musig(${legacy},${nested})/0/*)`],
    ['wsh of one key', `wsh(pk(${legacy}/0/*))`],
  ])('A descriptor of several keys (%s) is refused in words', (_, text) => {
    expect(() => readWalletKey(summed(text), live)).toThrow('a wallet that several people sign for');
  });

  it.each([
    // btcpayserver#2538, sparrow#1226: Core Lightning's wallet.
    ['of addresses elsewhere', `wpkh(${segwit}/0/0/*)`, 'are at 0/0/*'],
    ['of change addresses only', `wpkh(${segwit}/1/*)`, 'only the change addresses'],
    ['of one address', `wpkh(${segwit})`, 'describes one address'],
    ['of one address of a branch', `wpkh(${segwit}/0/5)`, 'describes one address'],
    ['of hardened addresses', `wpkh(${segwit}/0/*h)`, 'hardened'],
    [
      'with scripts next to the key',
      `tr(${taproot}/0/*,pk(${segwit}/0/*))`,
      'scripts in addition to its key',
    ],
    ['of no key', 'addr(bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu)', 'A descriptor must be'],
    ['of another kind', `combo(${segwit}/0/*)`, 'A descriptor must be'],
    ['with another prefix than its script', `pkh(${zpub}/0/*)`, 'A zpub is a key of p2wpkh, not of p2pkh'],
  ])('A descriptor %s is refused in words', (_, text, problem) => {
    expect(() => firstAddress(text)).toThrow(problem);
  });

  it('A descriptor is refused for networks other than bitcoin and litecoin', () => {
    expect(() => readWalletKey(`pkh(${legacy}/0/*)`, { ...live, family: 'evm' })).toThrow(
      'only the extended public key',
    );
  });

  it('A descriptor with another --script is refused, and the error names both', () => {
    expect(() => readWalletKey(`wpkh(${segwit}/0/*)`, { ...live, script: 'p2pkh' })).toThrow(
      'a key of p2wpkh, and --script says p2pkh',
    );
  });
});

describe('Exports of wallets', () => {
  const coldcard = {
    chain: 'BTC',
    xfp: '73C5DA0A',
    account: 0,
    xpub: root.publicExtendedKey,
    bip44: { name: 'p2pkh', xfp: 'AABBCCDD', deriv: "m/44'/0'/0'", xpub: legacy, first: firstOf.p2pkh },
    bip49: {
      name: 'p2sh-p2wpkh',
      deriv: "m/49'/0'/0'",
      xpub: nested,
      _pub: 'ypub',
      first: firstOf['p2sh-p2wpkh'],
    },
    bip84: { name: 'p2wpkh', deriv: "m/84'/0'/0'", xpub: segwit, _pub: zpub, first: firstOf.p2wpkh },
    bip48_2: {
      name: 'p2wsh',
      deriv: "m/48'/0'/0'/2'",
      xpub: root.derive("m/48'/0'/0'/2'").publicExtendedKey,
    },
  };
  const core = (scripts: readonly string[]) => ({
    wallet_name: 'shop',
    descriptors: scripts.flatMap((one) => [
      { desc: summed(one), timestamp: 1, active: true, internal: false, range: [0, 999], next: 0 },
      {
        desc: summed(one.replace('/0/*', '/1/*')),
        timestamp: 1,
        active: true,
        internal: true,
        range: [0, 999],
        next: 0,
      },
    ]),
  });

  it.each([
    ['Coldcard’s generic JSON', { ...coldcard, bip44: undefined, bip49: undefined }],
    [
      'Coldcard’s generic JSON with a descriptor',
      {
        xfp: '73C5DA0A',
        bip84: { ...coldcard.bip84, desc: summed(`wpkh([73c5da0a/84h/0h/0h]${segwit}/0/*)`) },
      },
    ],
    [
      'Coldcard’s file for Wasabi',
      { MasterFingerprint: '73C5DA0A', ColdCardFirmwareVersion: '5', ExtPubKey: segwit },
    ],
    ['Wasabi', { ExtPubKey: segwit, MasterFingerprint: '73c5da0a', AccountKeyPath: "84'/0'/0'" }],
    [
      'Sparrow',
      {
        name: 'shop',
        policyType: 'SINGLE',
        scriptType: 'P2WPKH',
        keystores: [
          {
            label: 'Coldcard',
            keyDerivation: { masterFingerprint: '73c5da0a', derivationPath: "m/84'/0'/0'" },
            extendedPublicKey: segwit,
          },
        ],
      },
    ],
    [
      'Electrum',
      {
        wallet_type: 'standard',
        keystore: { type: 'bip32', xpub: zpub, derivation: "m/84'/0'/0'", root_fingerprint: '73c5da0a' },
      },
    ],
    [
      'Electrum without an origin',
      { wallet_type: 'standard', keystore: { xpub: zpub, derivation: null, root_fingerprint: null } },
    ],
    // BlueWallet#2406.
    [
      'Specter',
      { label: 'Coldcard', blockheight: 6506, descriptor: summed(`wpkh([73c5da0a/84h/0h/0h]${segwit}/0/*)`) },
    ],
    // sparrow#1990: what `listdescriptors` prints, and what people cut out of it.
    ['Bitcoin Core', core([`wpkh([73c5da0a/84h/0h/0h]${segwit}/0/*)`])],
    ['a part of what Bitcoin Core prints', core([`wpkh([73c5da0a/84h/0h/0h]${segwit}/0/*)`]).descriptors],
  ])('An export gives the addresses that the wallet shows: %s', (_, file) => {
    expect(firstAddress(JSON.stringify(file, null, 2))).toBe(firstOf.p2wpkh);
    expect(firstAddress(JSON.stringify(file).replaceAll('/', '\\/'))).toBe(firstOf.p2wpkh);
  });

  it.each([
    // sparrow#1748: Bitkey's labels.
    ['labels', `External: ${summed(`wpkh(${segwit}/0/*)`)}\nInternal: ${summed(`wpkh(${segwit}/1/*)`)}\n`],
    [
      'comments',
      `# Receive and change descriptor (BIP389):\r\n${summed(`wpkh(${segwit}/<0;1>/*)`)}\r\n\r\n# Receive:\r\n${summed(`wpkh(${segwit}/0/*)`)}\r\n`,
    ],
  ])('a text file with %s gives the addresses that the wallet shows', (_, text) => {
    expect(firstAddress(text)).toBe(firstOf.p2wpkh);
  });

  it.each(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh'] as const)(
    'In an export of several accounts, --script picks that of %s',
    (script) => {
      expect(() => readWalletKey(JSON.stringify(coldcard), live)).toThrow('p2pkh, p2sh-p2wpkh, p2wpkh. Pick');
      expect(firstAddress(JSON.stringify(coldcard), { ...live, script })).toBe(firstOf[script]);
    },
  );

  it.each([
    [
      'a first address that is not the key’s',
      { ...coldcard, bip44: undefined, bip49: undefined, bip84: { ...coldcard.bip84, first: firstOf.p2tr } },
      'not the first of its key',
    ],
    ['several signers', { wallet_type: '2of3', x1: {} }, 'several people'],
    [
      'several signers, by Sparrow',
      { policyType: 'MULTI', scriptType: 'P2WSH', keystores: [] },
      'several people',
    ],
    [
      'another script',
      { policyType: 'SINGLE', scriptType: 'P2WSH', keystores: [{ extendedPublicKey: segwit }] },
      'script type',
    ],
    ['nothing known', { hello: 'world' }, 'no extended public key'],
    // comit-network/xmr-btc-swap#878: a descriptor with the private key.
    [
      'a private key',
      { descriptor: `wpkh(${root.privateExtendedKey}/84'/0'/0'/0/*)`, blockheight: 1, label: 'asb' },
      'Treat it as revoked',
    ],
  ])('An export with %s is refused in words that contain no key', (_, file, problem) => {
    const read = () => readWalletKey(JSON.stringify(file), live);
    expect(read).toThrow(problem);
    expect(read).not.toThrow(/[xz](pub|prv)[0-9A-Za-z]{20}/);
  });

  it('half of a file is refused', () => {
    expect(() => readWalletKey(JSON.stringify(coldcard).slice(0, 200), live)).toThrow(
      'part of the file is missing',
    );
  });
});
