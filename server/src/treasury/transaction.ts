/** Signs transactions of EVM networks: EIP-1559, in RLP. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { pointFromScalar, signRecoverable } from 'tiny-secp256k1';
import { addressFormat } from '../chains/addresses/formats.js';

/** Amounts in wei. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly maxPriorityFee: bigint;
  readonly maxFee: bigint;
  readonly gasLimit: bigint;
  readonly to: string;
  readonly data: string;
}

export interface SignedEvmTransaction {
  /** 0x and 64 digits. */
  readonly txHash: string;
  /** What is broadcast. */
  readonly raw: string;
}

type Rlp = Uint8Array | readonly Rlp[];

/** @param privateKey 32 bytes */
export function signTransaction(
  transaction: UnsignedTransaction,
  privateKey: Uint8Array,
): SignedEvmTransaction {
  const { chainId, nonce, maxPriorityFee, maxFee, gasLimit, to, data } = transaction;
  const fields: Rlp[] = [
    ...[BigInt(chainId), BigInt(nonce), maxPriorityFee, maxFee, gasLimit].map(numberBytes),
    hexToBytes(to.slice(2).toLowerCase()),
    // The value: a gas key never sends coins.
    numberBytes(0n),
    hexToBytes(data.slice(2)),
    // The access list.
    [],
  ];
  const { signature, recoveryId } = signRecoverable(keccak_256(typed(fields)), privateKey);
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
  const raw = typed([...fields, numberBytes(BigInt(recoveryId)), withoutZeros(r), withoutZeros(s)]);
  return { txHash: `0x${hex.encode(keccak_256(raw))}`, raw: `0x${hex.encode(raw)}` };
}

/** The address of a private key, with its checksum. */
export function addressOfPrivateKey(privateKey: Uint8Array): string {
  const point = pointFromScalar(privateKey, false);
  if (!point) throw new RangeError('This is not a private key');
  return addressFormat('live', 'evm').ofKey(point, 'p2pkh');
}

/** EIP-2718: the type before the fields. */
const typed = (fields: readonly Rlp[]): Uint8Array => concatBytes(Uint8Array.of(2), encode(fields));

function encode(value: Rlp): Uint8Array {
  if (!(value instanceof Uint8Array)) return withLength(concatBytes(...value.map(encode)), 0xc0);
  return value.length === 1 && (value[0] ?? 0) < 0x80 ? value : withLength(value, 0x80);
}

function withLength(bytes: Uint8Array, offset: number): Uint8Array {
  if (bytes.length < 56) return concatBytes(Uint8Array.of(offset + bytes.length), bytes);
  const length = numberBytes(BigInt(bytes.length));
  return concatBytes(Uint8Array.of(offset + 55 + length.length), length, bytes);
}

/** Big-endian, and as short as possible: 0 has no bytes. */
function numberBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const digits = value.toString(16);
  return hexToBytes(digits.length % 2 === 0 ? digits : `0${digits}`);
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? new Uint8Array() : bytes.subarray(first);
}
