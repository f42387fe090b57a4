/** The keys of a merchant's account, as payouts need them: receiving and change keys, and where a wallet finds them. */
import type { HDKey } from '@scure/bip32';
import type { AddressNet, Family } from '../../core/chains/networks.js';
import type { ScriptType } from '../../core/addresses/bitcoin-scripts.js';
import { addressFamilies } from '../../core/families/addresses.js';
import { bitcoinRules } from '../../core/families/kinds.js';
import { readAccountKey } from '../../core/addresses/extended-keys.js';

/** 0: receiving, 1: change. */
export type Branch = 0 | 1;

export type SpendingAccount = ReturnType<typeof readSpendingAccount>;

interface KeyOrigin {
  /** The fingerprint of the key that the path starts from. */
  readonly fingerprint: number;
  readonly path: number[];
}

export interface AccountUse {
  readonly family: Family;
  readonly net: AddressNet;
  /** If the key's prefix leaves it open. */
  readonly script: ScriptType | undefined;
  /** The fingerprint of the wallet's master key, eight hexadecimal digits; undefined if it is not known. */
  readonly fingerprint: string | undefined;
  /** From the master key to the account, such as `m/84'/0'/0'`; undefined for the usual one. */
  readonly path: string | undefined;
}

const hardened = 0x80000000;
const purposes: Readonly<Record<ScriptType, number>> = {
  p2pkh: 44,
  'p2sh-p2wpkh': 49,
  p2wpkh: 84,
  p2tr: 86,
};

/** @throws Error with a sentence about `--fingerprint` or `--path`, if they do not fit the key */
export function readSpendingAccount(extendedPublicKey: string, use: AccountUse) {
  const { script, account } = readAccountKey(extendedPublicKey, use);
  const branches = { 0: account.deriveChild(0), 1: account.deriveChild(1) };
  const prefixes = bitcoinRules(use.family).prefixes[use.net];
  const root = rootOf(account, script, use);

  /** 33 bytes, compressed. @throws if the index has no key */
  function publicKey(branch: Branch, index: number): Uint8Array {
    const key = branches[branch].deriveChild(index).publicKey;
    if (!key) throw new RangeError(`There is no key ${branch}/${index}`);
    return key;
  }

  return {
    script,
    prefixes,
    publicKey,
    /** The path by which a wallet finds the key of an address (BIP-174). */
    origin: (branch: Branch, index: number): KeyOrigin => ({
      fingerprint: root.fingerprint,
      path: [...root.path, branch, index],
    }),
  };
}

/**
 * The root of the paths. Without the fingerprint of the master key, the account itself counts as the master: wallets
 * that imported only its extended key, such as Sparrow and Bitcoin Core, know it like that.
 */
function rootOf(account: HDKey, script: ScriptType, use: AccountUse): KeyOrigin {
  const { fingerprint, path, family, net } = use;
  if (fingerprint === undefined) {
    if (path !== undefined) throw new Error('--path needs --fingerprint: the path starts at the master key');
    return { fingerprint: account.fingerprint, path: [] };
  }
  if (!/^[0-9a-f]{8}$/i.test(fingerprint)) {
    throw new Error('--fingerprint must be the eight hexadecimal digits that the wallet shows');
  }
  const master = Number.parseInt(fingerprint, 16);
  if (path !== undefined) return { fingerprint: master, path: checkedPath(path, account) };
  const { depth, index } = account;
  if (depth === 0) return { fingerprint: master, path: [] };
  if (depth === 1) return { fingerprint: master, path: [index] };
  if (depth !== 3) {
    throw new Error(`The key is at depth ${depth}: give its path from the master key with --path`);
  }
  const coin = net === 'main' ? addressFamilies[family].coinType : 1;
  return { fingerprint: master, path: [purposes[script] + hardened, coin + hardened, index] };
}

function checkedPath(text: string, { depth, index }: HDKey): number[] {
  const steps = text
    .trim()
    .replace(/^m\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  const path = steps.map((step) => {
    const [, number, mark] = /^(\d{1,10})(['hH]?)$/.exec(step) ?? [];
    const value = Number(number);
    if (number === undefined || value >= hardened) {
      throw new Error(`--path must be like m/84'/0'/0', not "${text}"`);
    }
    return mark === '' ? value : value + hardened;
  });
  if (path.length !== depth || (depth > 0 && path.at(-1) !== index)) {
    const last = index >= hardened ? `${index - hardened}'` : String(index);
    throw new Error(
      `--path does not lead to the key: that has ${depth} steps below its master key, the last of which is ${last}`,
    );
  }
  return path;
}
