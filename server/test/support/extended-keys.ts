/** Writes one extended key with another prefix, as SLIP-132 does: only the first four bytes differ. */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';

const base58check = createBase58check(sha256);

/** @param version eight hexadecimal digits, such as 0488b21e for xpub */
export function withVersion(extendedKey: string, version: string): string {
  return base58check.encode(
    Uint8Array.of(...hex.decode(version), ...base58check.decode(extendedKey).subarray(4)),
  );
}

/** The account m/84'/1'/1' of the published BIP-39 test mnemonic "abandon … about". Anybody can spend from it. */
export const litecoinTestKey =
  'vpub5Y6cjg78GGuNQePrLecqwMCGL7x8YYGFKqN5LCciiMAuXWPjwsX9pvXhqKJdkzDeoE9xvFGM1j6cVLPqHEVDK5idBAye5LzWyqxjXcen358';
