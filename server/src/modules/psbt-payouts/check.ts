/**
 * Checks what comes back from a wallet against what was exported, and takes nothing from it but its signatures.
 *
 * The final transaction is put together here, from the inputs and outputs that were exported. Each signature is checked
 * against exactly that transaction, so no field of the returned file can change where the money goes.
 */
import { base64, hex } from '@scure/base';
import { OutScript, Script, Transaction } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { verify, verifySchnorr } from 'tiny-secp256k1';
import { addressOfScript, type ScriptType } from '../../core/addresses/bitcoin-scripts.js';
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import {
  lenient,
  replaceableSequence,
  scriptsOf,
  transactionVersion,
  type PayoutInput,
  type PayoutTransaction,
} from './build.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { nameOf, sumOf } from './outpoints.js';

/** The returned PSBT differs from the exported one, or lacks a signature. The message is for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const psbtMagic = hex.decode('70736274ff');
/** Far above the largest transaction that a node relays. */
const longestFile = 20_000_000;
const sighashNames: Readonly<Record<number, string>> = { 0: 'DEFAULT', 1: 'ALL', 2: 'NONE', 3: 'SINGLE' };
const sighashAll = 1;

/**
 * Reads a PSBT (binary, base64 or hexadecimal) or a raw transaction (hexadecimal or binary).
 * @throws Refused if it is neither
 */
export function readReturned(file: Uint8Array): Transaction {
  if (file.length > longestFile) throw new Refused('The file is too large to be a PSBT or a transaction');
  const bytes = decodeText(file) ?? file;
  const isPsbt = psbtMagic.every((byte, index) => bytes[index] === byte);
  try {
    return isPsbt ? Transaction.fromPSBT(bytes, lenient) : Transaction.fromRaw(bytes, lenient);
  } catch (error) {
    throw new Refused(
      isPsbt
        ? `The PSBT cannot be read: ${errorMessage(error)}`
        : 'This is neither a PSBT nor a signed transaction. Give the file that the wallet saved, or its text in base64 or hexadecimal digits',
    );
  }
}

/** Undefined for a binary file. */
function decodeText(file: Uint8Array): Uint8Array | undefined {
  if (psbtMagic.every((byte, index) => file[index] === byte)) return undefined;
  const text = Buffer.from(file).toString('latin1').trim().replaceAll(/\s+/g, '');
  try {
    if (/^[0-9a-fA-F]+$/.test(text)) return hex.decode(text.toLowerCase());
    if (/^[A-Za-z0-9+/]+=*$/.test(text)) return base64.decode(text);
  } catch {
    return undefined;
  }
  return undefined;
}

/** The outputs that a returned transaction spends. */
export function outpointsOf(returned: Transaction): Outpoint[] {
  return Array.from({ length: returned.inputsLength }, (_, index) => {
    const { txid, index: outputIndex } = returned.getInput(index);
    return { txHash: txid ? hex.encode(txid) : '', outputIndex: outputIndex ?? -1 };
  });
}

/** The first difference between what came back and what was exported, in a sentence; undefined if there is none. */
export function findDifference(
  returned: Transaction,
  expected: PayoutTransaction,
  format: (satoshis: bigint) => string,
): string | undefined {
  return (
    findInputDifference(outpointsOf(returned), expected.inputs) ??
    findOutputDifference(returned, expected, format) ??
    findFrameDifference(returned)
  );
}

function findInputDifference(
  returned: readonly Outpoint[],
  expected: readonly Outpoint[],
): string | undefined {
  const [theirs, ours] = [returned.map(nameOf), expected.map(nameOf)];
  const added = theirs.find((name) => !ours.includes(name));
  if (added !== undefined) return `It spends ${added}, which is not one of the inputs that were exported`;
  const missing = ours.find((name) => !theirs.includes(name));
  if (missing !== undefined) return `It does not spend ${missing}, which was exported`;
  if (theirs.length > ours.length) return 'It spends an input twice';
  const moved = ours.findIndex((name, index) => name !== theirs[index]);
  return moved < 0
    ? undefined
    : `Input ${moved + 1} is another one than in the export: the order was changed`;
}

function findOutputDifference(
  returned: Transaction,
  { account, inputs, outputs }: PayoutTransaction,
  format: (satoshis: bigint) => string,
): string | undefined {
  const found = Array.from({ length: returned.outputsLength }, (_, index) => {
    const { script = new Uint8Array(), amount = 0n } = returned.getOutput(index);
    return { script, amount };
  });
  const receiver = (script: Uint8Array) =>
    addressOfScript(hex.encode(script), account.prefixes) ?? `the script ${hex.encode(script).slice(0, 80)}`;
  for (const [index, { script, amount, changeIndex }] of outputs.entries()) {
    const isChange = changeIndex !== undefined;
    const other = found[index];
    const name = isChange ? 'The change' : `Output ${index + 1}`;
    if (!other) return `${name}, ${format(amount)} to ${receiver(script)}, is missing`;
    if (hex.encode(other.script) !== hex.encode(script)) {
      return `${name} goes to ${receiver(other.script)} instead of ${receiver(script)}`;
    }
    if (other.amount === amount) continue;
    const feeOf = (paid: readonly { readonly amount: bigint }[]) => format(sumOf(inputs) - sumOf(paid));
    const fee = isChange ? `, so that the fee is ${feeOf(found)} instead of ${feeOf(outputs)}` : '';
    return `${name} to ${receiver(script)} is ${format(other.amount)} instead of ${format(amount)}${fee}`;
  }
  const extra = found[outputs.length];
  if (!extra) return undefined;
  return `It has another output: ${format(extra.amount)} to ${receiver(extra.script)}`;
}

function findFrameDifference(returned: Transaction): string | undefined {
  if (returned.version !== transactionVersion) {
    return `Its version is ${returned.version} instead of ${transactionVersion}`;
  }
  if (returned.lockTime !== 0) return `Its lock time is ${returned.lockTime} instead of 0`;
  for (let index = 0; index < returned.inputsLength; index += 1) {
    const { sequence } = returned.getInput(index);
    if (sequence !== replaceableSequence) {
      return `The sequence of input ${index + 1} is ${sequence ?? 'missing'} instead of ${replaceableSequence}`;
    }
  }
  return undefined;
}

/**
 * Puts the signed transaction together.
 * @param returned has no difference
 * @returns it in hexadecimal digits, and its hash
 * @throws Refused if a signature is missing, is not valid for this transaction, or leaves a part of it open
 */
export function finalize(
  returned: Transaction,
  expected: PayoutTransaction,
): { transaction: string; txHash: string } {
  const { inputs } = expected;
  const { script: type } = expected.account;
  const transaction = unsignedTransaction(expected);
  const unsigned = unsignedTransaction(expected);
  const missing: number[] = [];
  for (const [index, input] of inputs.entries()) {
    const signature = findSignature(returned, index, input, type);
    if (!signature) {
      missing.push(index + 1);
      continue;
    }
    checkSighash(signature, index, type);
    if (!isValid(signature, index, expected, unsigned)) {
      throw new Refused(
        `The signature of input ${index + 1} is not valid for the transaction that was exported. Sign that PSBT again`,
      );
    }
    const field =
      type === 'p2tr'
        ? { tapKeySig: signature }
        : { partialSig: [[input.publicKey, signature] as [Uint8Array, Uint8Array]] };
    transaction.updateInput(index, field, true);
  }
  if (missing.length > 0) {
    throw new Refused(
      `Only ${inputs.length - missing.length} of ${inputs.length} inputs are signed: the signature of input ${missing[0] ?? ''} is missing`,
    );
  }
  transaction.finalize();
  return { transaction: transaction.hex, txHash: transaction.id };
}

/** The hash that the transaction has once it is signed; undefined for p2pkh, where the signatures change it. */
export function signedHash(expected: PayoutTransaction): string | undefined {
  const { script: type } = expected.account;
  if (type === 'p2pkh') return undefined;
  const transaction = unsignedTransaction(expected);
  for (const [index, { publicKey }] of expected.inputs.entries()) {
    const { redeemScript } = scriptsOf(publicKey, type);
    if (redeemScript) transaction.updateInput(index, { finalScriptSig: Script.encode([redeemScript]) }, true);
  }
  return transaction.id;
}

/** The signature of an input with its sighash type, wherever the wallet put it; undefined if there is none. */
function findSignature(
  returned: Transaction,
  index: number,
  { publicKey }: PayoutInput,
  type: ScriptType,
): Uint8Array | undefined {
  const { partialSig, tapKeySig, finalScriptSig, finalScriptWitness } = returned.getInput(index);
  if (type === 'p2tr') return tapKeySig ?? finalScriptWitness?.[0];
  const ours = partialSig?.find(([key]) => hex.encode(key) === hex.encode(publicKey));
  if (ours) return ours[1];
  if (type !== 'p2pkh') return finalScriptWitness?.[0];
  if (!finalScriptSig?.length) return undefined;
  try {
    const [signature] = Script.decode(finalScriptSig);
    return signature instanceof Uint8Array ? signature : undefined;
  } catch {
    return undefined;
  }
}

/** Any other type leaves outputs or inputs open, so that anyone who sees the transaction could change them. */
function checkSighash(signature: Uint8Array, index: number, type: ScriptType): void {
  if (type === 'p2tr' && signature.length === 64) return;
  const sighash = signature.at(-1) ?? 0;
  if (sighash === sighashAll) return;
  const name = `${sighashNames[sighash & 0x1f] ?? `0x${sighash.toString(16)}`}${sighash & 0x80 ? '|ANYONECANPAY' : ''}`;
  throw new Refused(
    `The signature of input ${index + 1} has the sighash type ${name}, which leaves a part of the transaction open. Only ALL is accepted${type === 'p2tr' ? ', and DEFAULT' : ''}`,
  );
}

function isValid(
  signature: Uint8Array,
  index: number,
  expected: PayoutTransaction,
  unsigned: Transaction,
): boolean {
  const { account, inputs } = expected;
  const input = inputs[index];
  if (!input) return false;
  if (account.script === 'p2tr') {
    const digest = unsigned.preimageWitnessV1(
      index,
      inputs.map(({ script }) => script),
      signature.length === 64 ? 0 : sighashAll,
      inputs.map(({ amount }) => amount),
    );
    return (
      signature.length <= 65 && verifySchnorr(digest, input.script.subarray(2), signature.subarray(0, 64))
    );
  }
  const compact = compactOf(signature.subarray(0, -1));
  if (!compact) return false;
  const scriptCode = OutScript.encode({ type: 'pkh', hash: hash160(input.publicKey) });
  const digest =
    account.script === 'p2pkh'
      ? legacyDigest(unsigned, index, scriptCode)
      : unsigned.preimageWitnessV0(index, scriptCode, sighashAll, input.amount);
  // Strict: nodes do not relay a signature whose s is in the upper half.
  return verify(digest, input.publicKey, compact, true);
}

/** Restores the transaction afterwards: building one for each of hundreds of inputs takes seconds. */
function legacyDigest(unsigned: Transaction, signed: number, scriptCode: Uint8Array): Uint8Array {
  unsigned.updateInput(signed, { finalScriptSig: scriptCode }, true);
  const digest = sha256(sha256(Uint8Array.of(...unsigned.toBytes(true), sighashAll, 0, 0, 0)));
  unsigned.updateInput(signed, { finalScriptSig: new Uint8Array() }, true);
  return digest;
}

function unsignedTransaction({ account, inputs, outputs }: PayoutTransaction): Transaction {
  const transaction = new Transaction({ ...lenient, version: transactionVersion, lockTime: 0 });
  for (const { txHash: txid, outputIndex: index, script, amount, publicKey } of inputs) {
    const { redeemScript } = scriptsOf(publicKey, account.script);
    const locked = { witnessUtxo: { script, amount }, ...(redeemScript && { redeemScript }) };
    transaction.addInput({ txid, index, sequence: replaceableSequence, ...locked });
  }
  for (const { amount, script } of outputs) transaction.addOutput({ amount, script });
  return transaction;
}

/** An ECDSA signature as 64 bytes instead of DER; undefined if it is not one (BIP-66). */
function compactOf(der: Uint8Array): Uint8Array | undefined {
  const length = der[3] ?? 0;
  const integers = [der.subarray(4, 4 + length), der.subarray(6 + length)];
  const body = integers.flatMap((integer) => [0x02, integer.length, ...integer]);
  if (Buffer.compare(der, Uint8Array.of(0x30, body.length, ...body)) !== 0) return undefined;
  const digits = integers.map((integer) => (integer[0] === 0 ? integer.subarray(1) : integer));
  if (digits.some((integer) => integer.length > 32)) return undefined;
  return Buffer.concat(digits.flatMap((integer) => [Buffer.alloc(32 - integer.length), integer]));
}
