/**
 * Reads an account's public key in the forms that wallets give it: bare, with its origin, as an output descriptor
 * (BIP-380, BIP-389), or in the JSON of Coldcard, Sparrow, Electrum, Specter, Wasabi and Bitcoin Core. Only the key
 * and its script type are kept.
 */
import { families, secretIn, secretWarning } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { AddressNet, Family } from '../chains/networks.js';
import { addressFamilies } from '../families/addresses.js';
import { createAddressSource } from './address-sources.js';
import { bitcoinFamilies, bitcoinRules, isBitcoinLike, isEvm } from '../families/kinds.js';
import { scriptTypes, type ScriptType } from './bitcoin-scripts.js';
import { descriptorChecksum } from './descriptor-checksum.js';
import { positionOf } from './extended-keys.js';

interface Use {
  readonly family: Family;
  readonly mode: 'test' | 'live';
  /** The script type that the operator gave; undefined if none. */
  readonly script: ScriptType | undefined;
}

/** A key as it appears in a wallet's text. */
interface FoundKey {
  readonly extendedPublicKey: string;
  /** Undefined if nothing says so but the key's own prefix. */
  readonly script: ScriptType | undefined;
  /** Its position in the wallet: `m/84'/0'/0'` below the master key with a fingerprint. */
  readonly origin: { readonly fingerprint: string; readonly path: readonly string[] } | undefined;
  readonly isChange: boolean;
  /** The wallet's own first address, if it says that. */
  readonly first?: string | undefined;
}

export interface WalletKey {
  readonly extendedPublicKey: string;
  readonly script: ScriptType | undefined;
  /** The parts of the wallet's text other than the key, for people; empty for a bare key. */
  readonly readAs: string;
}

/** @throws Error with a sentence for the operator, which never repeats what was given */
export function readWalletKey(text: string, use: Use): WalletKey {
  const secret = secretIn(text, 'key');
  if (secret) throw new Error(secretWarning(secret));
  if (isEvm(use.family) && /^0x[0-9a-f]{40}$/i.test(text.trim())) {
    throw new Error(
      'This is an address, not a key. For a wallet or multisig that all payments end up in, use --treasury',
    );
  }
  const found = pick(foundIn(text.trim()), use.script);
  const { extendedPublicKey, origin, first } = found;
  if (found.script && !isBitcoinLike(use.family)) {
    throw new Error(
      `A descriptor is for ${bitcoinFamilies.join(' and ')}. For ${use.family}, give only the extended public key`,
    );
  }
  const script = found.script ?? scriptOfPath(origin?.path, use);
  if (use.script && script && use.script !== script) {
    throw new Error(
      `The wallet says that this is a key of ${script}, and --script says ${use.script}. Leave --script out`,
    );
  }
  if (origin) refuseOtherPlace(extendedPublicKey, origin.path, use);
  const given = use.script ?? script;
  if (first !== undefined) {
    const net = firstNet(first, use.family);
    const derived = createAddressSource(use.mode, use.family, extendedPublicKey, {
      script: given,
      net,
    }).derive(0);
    if (derived !== first) {
      throw new Error(
        'The first address that the file names is not the first of its key: the file was changed, or the key belongs to another wallet',
      );
    }
  }
  const place =
    origin &&
    `m/${origin.path.join('/')} of the wallet ${origin.fingerprint}`.replace('m/ of', 'the master key of');
  const isAlone = extendedPublicKey === text.trim();
  return {
    extendedPublicKey,
    script: given,
    readAs: isAlone ? '' : [extendedPublicKey, given, place].filter((part) => part !== undefined).join(', '),
  };
}

/** Regtest and testnet share keys. */
const firstNet = (address: string, family: Family): AddressNet | undefined =>
  isBitcoinLike(family) && address.startsWith(`${bitcoinRules(family).prefixes.regtest.bech32}1`)
    ? 'regtest'
    : undefined;

/** The receiving key. Wallets also list the change keys, and keys of other scripts. */
function pick(all: readonly FoundKey[], wanted: ScriptType | undefined): FoundKey {
  const receiving = all.filter(({ isChange }) => !isChange);
  if (all.length > 0 && receiving.length === 0) {
    throw new Error(
      'This describes only the change addresses (/1/*). Give the descriptor of the receiving ones: /0/* or /<0;1>/*',
    );
  }
  const unique = [
    ...new Map(receiving.map((one) => [`${one.extendedPublicKey} ${one.script ?? ''}`, one])).values(),
  ];
  const ofScript = unique.filter(({ script }) => script === wanted);
  const [only, ...others] = unique.length > 1 && ofScript.length > 0 ? ofScript : unique;
  if (!only) throw new Error(notAKey);
  if (others.length === 0) return only;
  const scripts = unique.flatMap(({ script }) => script ?? []);
  throw new Error(
    new Set(scripts).size === unique.length
      ? `The wallet gives keys of several scripts: ${scripts.join(', ')}. Pick the one that its addresses are of, with --script`
      : 'This holds several keys. Give the one of the account that payments are received on',
  );
}

const notAKey =
  'Not an extended public key (xpub, ypub, zpub, tpub, upub, vpub, Ltub, Mtub or ttub), a descriptor of one such as wpkh([…]xpub…/<0;1>/*), or a file that a wallet exported';

function foundIn(text: string): FoundKey[] {
  if (/^(?:\{|\[\s*["{])/.test(text)) return foundInJson(text);
  // Bitkey and others write labels before descriptors, and Sparrow comments.
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:external|internal|descriptor|receive|change)\s*:/i, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => foundInLine(line));
}

function foundInLine(line: string): FoundKey {
  return /^[a-z_]+\(/.test(line) ? readDescriptor(line) : readKey(line, undefined);
}

const severalKeys =
  'This is a descriptor of several keys, for a wallet that several people sign for. Payments take the key of a wallet with a single key';

/** @throws Error if it is none of a single key whose addresses are numbered, or its checksum is wrong */
function readDescriptor(text: string): FoundKey {
  const [body = '', checksum, ...rest] = text.split('#');
  if (rest.length > 0) throw new Error('A descriptor has one # at most, before its checksum');
  if (checksum !== undefined && checksum !== checksumOf(body)) {
    throw new Error('The checksum of the descriptor is wrong: it was changed, or not copied as a whole');
  }
  if (/(?:multi(?:_a)?|musig|wsh)\(/.test(body)) throw new Error(severalKeys);
  for (const [script, pattern] of descriptorForms) {
    const [, key] = pattern.exec(body) ?? [];
    if (key !== undefined) return readKey(key, script);
  }
  if (body.startsWith('tr(')) {
    throw new Error(
      'This descriptor has scripts in addition to its key. Payments take the key of a wallet with a single key: tr(KEY)',
    );
  }
  throw new Error(
    'A descriptor must be pkh(KEY), sh(wpkh(KEY)), wpkh(KEY) or tr(KEY), of a wallet with a single key',
  );
}

const descriptorForms: readonly (readonly [ScriptType, RegExp])[] = [
  ['p2pkh', /^pkh\(([^(),{}]+)\)$/],
  ['p2sh-p2wpkh', /^sh\(wpkh\(([^(),{}]+)\)\)$/],
  ['p2wpkh', /^wpkh\(([^(),{}]+)\)$/],
  ['p2tr', /^tr\(([^(),{}]+)\)$/],
];

function checksumOf(body: string): string | undefined {
  try {
    return descriptorChecksum(body);
  } catch {
    return undefined;
  }
}

/** `[fingerprint/path]xpub/<0;1>/*`. */
const keyExpression =
  /^(?:\[([0-9a-f]{8})((?:\/\d{1,10}['hH]?)*)\])?([1-9A-HJ-NP-Za-km-z]{100,120})((?:\/[^/]+)*)$/i;

function readKey(text: string, script: ScriptType | undefined): FoundKey {
  const [, fingerprint, path = '', extendedPublicKey, children = ''] = keyExpression.exec(text) ?? [];
  if (extendedPublicKey === undefined) throw new Error(notAKey);
  const branch = children.slice(1).replaceAll(/['hH]/g, "'");
  const isAlone = branch === '' && script === undefined;
  if (!isAlone && !['<0;1>/*', '0/*', '1/*', '**'].includes(branch)) throw new Error(branchProblem(branch));
  return {
    extendedPublicKey,
    script,
    isChange: branch === '1/*',
    origin:
      fingerprint === undefined ? undefined : { fingerprint: fingerprint.toLowerCase(), path: stepsOf(path) },
  };
}

function branchProblem(branch: string): string {
  const must =
    'The server gives out the addresses 0/0, 0/1, … of an account: the descriptor must end with /<0;1>/* or /0/*';
  if (branch.includes("'"))
    return `The path after the key is hardened, and cannot be derived from a public key. ${must}`;
  return branch.includes('*')
    ? `The addresses of this descriptor are at ${branch}, which the server cannot give out. ${must}`
    : `This descriptor describes one address. ${must}`;
}

/** `84'`, `0'`, `0'`. */
const stepsOf = (path: string): string[] =>
  path
    .replace(/^m/, '')
    .split('/')
    .filter((step) => step !== '')
    .map((step) => step.replace(/[hH']$/, "'"));

const purposes: Readonly<Record<string, ScriptType>> = {
  "44'": 'p2pkh',
  "49'": 'p2sh-p2wpkh',
  "84'": 'p2wpkh',
  "86'": 'p2tr',
};

/** The script type by only the path: an xpub at m/84' shows other addresses than one at m/44'. */
function scriptOfPath(path: readonly string[] | undefined, { family }: Use): ScriptType | undefined {
  return path?.length === 3 && isBitcoinLike(family) ? purposes[path[0] ?? ''] : undefined;
}

/** @throws Error if the path does not lead to the key, or to a key of other coins */
function refuseOtherPlace(key: string, path: readonly string[], { family, mode }: Use): void {
  const position = positionOf(key);
  const last = path.at(-1) ?? '';
  const index = last.endsWith("'") ? Number.parseInt(last, 10) + 0x80000000 : Number(last);
  if (position && (position.depth !== path.length || (path.length > 0 && position.index !== index))) {
    throw new Error(
      'The path in brackets does not lead to the key behind it: the text was put together from several, or changed',
    );
  }
  const isAccount = path.length === 3 && purposes[path[0] ?? ''] !== undefined;
  const coin = families.find((one) => isAccount && path[1] === `${addressFamilies[one].coinType}'`);
  if (isBitcoinLike(family) && coin !== undefined && coin !== family) {
    throw new Error(`The path m/${path.join('/')} is that of an account for ${coin}, not for ${family}`);
  }
  if (isBitcoinLike(family) && mode === 'live' && path.length === 3 && path[1] === "1'") {
    throw new Error(`The path m/${path.join('/')} is that of an account on test networks`);
  }
}

const text = z.optional(z.string());
const coldcardAccount = z.optional(z.object({ xpub: text, deriv: text, first: text, desc: text }));
/** The fields that exports of wallets have, of which each has some. */
const exported = z.object({
  // Coldcard, "Generic JSON".
  xfp: text,
  bip44: coldcardAccount,
  bip49: coldcardAccount,
  bip84: coldcardAccount,
  bip86: coldcardAccount,
  // Specter and Bitcoin Core.
  descriptor: text,
  desc: text,
  descriptors: z.optional(z.array(z.object({ desc: z.string(), internal: z.optional(z.boolean()) }))),
  // Electrum.
  wallet_type: text,
  keystore: z.optional(
    z.object({
      xpub: z.string(),
      derivation: z.nullish(z.string()),
      root_fingerprint: z.nullish(z.string()),
    }),
  ),
  // Wasabi, and what Coldcard writes for it.
  ExtPubKey: text,
  MasterFingerprint: text,
  AccountKeyPath: text,
  // Sparrow.
  policyType: text,
  scriptType: text,
  keystores: z.optional(
    z.array(
      z.object({
        extendedPublicKey: z.string(),
        keyDerivation: z.optional(z.object({ masterFingerprint: text, derivationPath: text })),
      }),
    ),
  ),
});
type Exported = z.output<typeof exported>;

const sparrowScripts: Readonly<Record<string, ScriptType>> = {
  P2PKH: 'p2pkh',
  P2SH_P2WPKH: 'p2sh-p2wpkh',
  P2WPKH: 'p2wpkh',
  P2TR: 'p2tr',
};

function foundInJson(json: string): FoundKey[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new Error('This JSON is incomplete: part of the file is missing');
  }
  // `listdescriptors` has the list in an object; some cut it out.
  const { data, success } = exported.safeParse(Array.isArray(parsed) ? { descriptors: parsed } : parsed);
  const found = success ? [...ofDescriptors(data), ...ofColdcard(data), ...ofOthers(data)] : [];
  if (found.length > 0) return found;
  throw new Error(
    'The JSON has no extended public key of an account, and no descriptor of one, in a form that the server knows',
  );
}

function ofDescriptors({ descriptor, desc, descriptors = [] }: Exported): FoundKey[] {
  const listed = descriptors.filter(({ internal }) => internal !== true).map((one) => one.desc);
  return [descriptor, desc, ...listed].flatMap((one) => (one === undefined ? [] : [readDescriptor(one)]));
}

function ofColdcard({ xfp, bip44, bip49, bip84, bip86 }: Exported): FoundKey[] {
  const accounts = [bip44, bip49, bip84, bip86].map((account, index) => ({
    account,
    script: scriptTypes[index],
  }));
  return accounts.flatMap(({ account, script }) => {
    if (account?.desc !== undefined) return [{ ...readDescriptor(account.desc), first: account.first }];
    if (account?.xpub === undefined) return [];
    return [
      { ...readKey(originText(xfp, account.deriv) + account.xpub, undefined), script, first: account.first },
    ];
  });
}

function ofOthers(data: Exported): FoundKey[] {
  const { wallet_type: walletType = 'standard', keystore, keystores = [], policyType = 'SINGLE' } = data;
  if (walletType !== 'standard' || policyType !== 'SINGLE' || keystores.length > 1)
    throw new Error(severalKeys);
  const found: FoundKey[] = [];
  if (keystore) {
    const { xpub, derivation, root_fingerprint: root } = keystore;
    found.push(readKey(originText(root, derivation) + xpub, undefined));
  }
  if (data.ExtPubKey !== undefined) {
    const origin = originText(data.MasterFingerprint, data.AccountKeyPath);
    // Wasabi has no other wallets.
    found.push({ ...readKey(origin + data.ExtPubKey, undefined), script: 'p2wpkh' });
  }
  for (const { extendedPublicKey, keyDerivation } of keystores) {
    const script = sparrowScripts[data.scriptType ?? ''];
    if (!script) throw new Error('The file names a script type that the server does not know');
    const origin = originText(keyDerivation?.masterFingerprint, keyDerivation?.derivationPath);
    found.push({ ...readKey(origin + extendedPublicKey, undefined), script });
  }
  return found;
}

const originText = (fingerprint: string | null | undefined, path: string | null | undefined): string =>
  fingerprint && path ? `[${fingerprint}/${stepsOf(path).join('/')}]`.replace('/]', ']') : '';
