/** Reads signatures as wallets give them, and says who can have made them. Pure. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { eip191Signer } from 'micro-eth-signer';
import { invalidField } from '../../core/shared/problem.js';

/** A message that someone has signed with `personal_sign`. */
export interface Signed {
  /** The EIP-191 digest of the text. */
  readonly hash: string;
  /** The question to a contract (EIP-1271), without the wrapper of wallets that are not deployed yet (EIP-6492). */
  readonly signature: string;
  /** The account whose key has signed, in lower case; undefined if no key has. */
  readonly signer: string | undefined;
}

/** Problem: `validation_error`. */
export function readSignature(text: string, given: string): Signed {
  // Empty where a contract keeps on its chain what its owners have signed.
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(given)) {
    throw invalidField('signature', 'Must be what personal_sign returned: 0x and hexadecimal digits');
  }
  const signature = unwrapped(hexToBytes(given.slice(2)));
  return {
    hash: `0x${eip191Signer.getHash(text).replace(/^0x/, '')}`,
    signature: `0x${bytesToHex(signature)}`,
    signer: signerOf(text, signature),
  };
}

function signerOf(text: string, signature: Uint8Array): string | undefined {
  const plain = withRecovery(signature);
  if (!plain) return undefined;
  try {
    return eip191Signer.recoverAddress(`0x${bytesToHex(plain)}`, text).toLowerCase();
  } catch {
    // No point of the curve: perhaps a contract reads it in another way.
    return undefined;
  }
}

/** In the form `r, s, v` with a v of 27 or 28. Some wallets and devices write 0 or 1, and EIP-2098 puts it into `s`. */
function withRecovery(signature: Uint8Array): Uint8Array | undefined {
  const last = signature[64];
  if (signature.length === 65 && last !== undefined) {
    if (last === 27 || last === 28) return signature;
    return last < 2 ? Uint8Array.of(...signature.subarray(0, 64), 27 + last) : undefined;
  }
  const first = signature[32];
  if (signature.length !== 64 || first === undefined) return undefined;
  const s = signature.slice(32);
  s[0] = first & 0x7f;
  return Uint8Array.of(...signature.subarray(0, 32), ...s, 27 + (first >> 7));
}

const wrapperMark = '6492'.repeat(16);
const wordBytes = 32;

/** The signature within EIP-6492's wrapper: the third of the three values that it encodes. The same if there is no wrapper. */
function unwrapped(signature: Uint8Array): Uint8Array {
  if (bytesToHex(signature.subarray(-wordBytes)) !== wrapperMark) return signature;
  const start = numberAt(signature, 2 * wordBytes);
  const length = numberAt(signature, start);
  const from = start + wordBytes;
  return from + length <= signature.length ? signature.subarray(from, from + length) : signature;
}

/** A word as a number; past the end of every signature if it is none that a position or a length can be. */
function numberAt(bytes: Uint8Array, position: number): number {
  const word = bytesToHex(bytes.subarray(position, position + wordBytes));
  return word.length === 2 * wordBytes && word.startsWith('0'.repeat(56))
    ? Number(`0x${word.slice(56)}`)
    : bytes.length;
}
