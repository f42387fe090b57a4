/** The standard scripts of Bitcoin's kind: the address of a key in each, and of an output that a node shows. */
import { hex } from '@scure/base';
import { Address, NETWORK } from '@scure/btc-signer';
import { hash160, taprootTweakPubkey } from '@scure/btc-signer/utils.js';

/** The ways in which a wallet locks an account's coins: BIP-44, BIP-49, BIP-84 and BIP-86. */
export const scriptTypes = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;
export type ScriptType = (typeof scriptTypes)[number];

/** The prefixes of a family's addresses on one of its networks. */
export interface AddressPrefixes {
  /** The human-readable part of segwit addresses. */
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  /** Litecoin once shared Bitcoin's prefix for script addresses, and wallets still show that form. */
  readonly oldScriptHash?: number;
}

const codecOf = (prefixes: AddressPrefixes) => Address({ ...NETWORK, ...prefixes });

/**
 * The address that only the holder of a key can spend from.
 * @param publicKey 33 bytes, compressed
 */
export function addressOfKey(publicKey: Uint8Array, script: ScriptType, prefixes: AddressPrefixes): string {
  const { encode } = codecOf(prefixes);
  switch (script) {
    case 'p2pkh':
      return encode({ type: 'pkh', hash: hash160(publicKey) });
    case 'p2sh-p2wpkh':
      return encode({ type: 'sh', hash: hash160(Uint8Array.of(0x00, 0x14, ...hash160(publicKey))) });
    case 'p2wpkh':
      return encode({ type: 'wpkh', hash: hash160(publicKey) });
    case 'p2tr':
      // BIP-341: the output key commits to no script, which BIP-86 requires of single keys.
      return encode({ type: 'tr', pubkey: taprootTweakPubkey(publicKey.subarray(1), new Uint8Array())[0] });
    default:
      return script satisfies never;
  }
}

type AddressValue = Parameters<ReturnType<typeof Address>['encode']>[0];

const standardScripts: readonly (readonly [RegExp, (hash: Uint8Array) => AddressValue])[] = [
  [/^0014([0-9a-f]{40})$/, (hash) => ({ type: 'wpkh', hash })],
  [/^5120([0-9a-f]{64})$/, (pubkey) => ({ type: 'tr', pubkey })],
  [/^a914([0-9a-f]{40})87$/, (hash) => ({ type: 'sh', hash })],
  [/^76a914([0-9a-f]{40})88ac$/, (hash) => ({ type: 'pkh', hash })],
  [/^0020([0-9a-f]{64})$/, (hash) => ({ type: 'wsh', hash })],
];

/**
 * The address that an output pays to, whichever version of the node shows it; undefined for a script without an
 * address, such as OP_RETURN, a bare public key, or bare multisig.
 * @param script in lower-case hexadecimal digits
 */
export function addressOfScript(script: string, prefixes: AddressPrefixes): string | undefined {
  for (const [pattern, valueOf] of standardScripts) {
    const hash = pattern.exec(script)?.[1];
    if (hash !== undefined) return codecOf(prefixes).encode(valueOf(hex.decode(hash)));
  }
  return undefined;
}
