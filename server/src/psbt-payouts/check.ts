/**
 * Checks what comes back from a wallet against what was exported, and takes nothing from it but its signatures.
 *
 * The final transaction is put together here, from the inputs and outputs that were exported. Each signature is checked
 * against exactly that transaction, so no field of the returned file can change where the money goes.
 */
import { base64, hex } from '@scure/base';
import { OutScript, RawTx, Script, Transaction } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { verify, verifySchnorr } from 'tiny-secp256k1';
import { addressOfScript, type AddressPrefixes, type ScriptType } from '../addresses/bitcoin-scripts.js';
import type { Outpoint } from '../chains/bitcoin/utxo-node.js';
import {
  replaceableSequence,
  transactionVersion,
  type PayoutInput,
  type PayoutTransaction,
} from './build.js';
import { nameOf } from './outpoints.js';

/** What was exported. */
export interface ExpectedTransaction extends PayoutTransaction {
  readonly type: ScriptType;
  readonly prefixes: AddressPrefixes;
}

/** What came back differs from what was exported, or lacks a signature. The message is a sentence for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const psbtMagic = hex.decode('70736274ff');
/** Far above the largest transaction that a node relays. */
const longestFile = 20_000_000;
const lenient = {
  allowUnknownVersion: true,
  allowUnknownOutputs: true,
  allowUnknownInputs: true,
  disableScriptCheck: true,
  allowLegacyWitnessUtxo: true,
};
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refused(
      isPsbt
        ? `The PSBT cannot be read: ${reason}`
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
  expected: ExpectedTransaction,
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
  const isSame = (one: Outpoint) => (other: Outpoint) => nameOf(one) === nameOf(other);
  const added = returned.find((one) => !expected.some(isSame(one)));
  if (added) return `It spends ${nameOf(added)}, which is not one of the inputs that were exported`;
  const missing = expected.find((one) => !returned.some(isSame(one)));
  if (missing) return `It does not spend ${nameOf(missing)}, which was exported`;
  if (returned.length > expected.length) return 'It spends an input twice';
  const moved = expected.findIndex((one, index) => {
    const other = returned[index];
    return other === undefined || !isSame(one)(other);
  });
  return moved < 0
    ? undefined
    : `Input ${moved + 1} is another one than in the export: the order was changed`;
}

function findOutputDifference(
  returned: Transaction,
  { inputs, outputs, prefixes }: ExpectedTransaction,
  format: (satoshis: bigint) => string,
): string | undefined {
  const found = Array.from({ length: returned.outputsLength }, (_, index) => {
    const { script = new Uint8Array(), amount = 0n } = returned.getOutput(index);
    return { script, amount };
  });
  const receiver = (script: Uint8Array) =>
    addressOfScript(hex.encode(script), prefixes) ?? `the script ${hex.encode(script).slice(0, 80)}`;
  for (const [index, { script, amount, changeIndex }] of outputs.entries()) {
    const isChange = changeIndex !== undefined;
    const other = found[index];
    const name = isChange ? 'The change' : `Output ${index + 1}`;
    if (!other) return `${name}, ${format(amount)} to ${receiver(script)}, is missing`;
    if (hex.encode(other.script) !== hex.encode(script)) {
      return `${name} goes to ${receiver(other.script)} instead of ${receiver(script)}`;
    }
    if (other.amount === amount) continue;
    const spent = inputs.reduce((sum, input) => sum + input.amount, 0n);
    const fees = [found, outputs].map((all) => spent - all.reduce((sum, one) => sum + one.amount, 0n));
    const fee = isChange
      ? `, so that the fee is ${format(fees[0] ?? 0n)} instead of ${format(fees[1] ?? 0n)}`
      : '';
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
  expected: ExpectedTransaction,
): { transaction: string; txHash: string } {
  const { type, inputs } = expected;
  const signed = inputs.map((input, index) => {
    const signature = findSignature(returned, index, input, type);
    if (!signature) return undefined;
    checkSighash(signature, index, type);
    if (!isValid(signature, index, expected)) {
      throw new Refused(
        `The signature of input ${index + 1} is not valid for the transaction that was exported. Sign that PSBT again`,
      );
    }
    return signature;
  });
  const signatures = signed.filter((signature) => signature !== undefined);
  if (signatures.length < inputs.length) {
    const missing = signed.indexOf(undefined) + 1;
    throw new Refused(
      `Only ${signatures.length} of ${inputs.length} inputs are signed: the signature of input ${missing} is missing`,
    );
  }
  const bytes = encode(
    expected,
    (input, index) => scriptSigOf(signatures[index] ?? none, input, type),
    type === 'p2pkh'
      ? undefined
      : inputs.map(({ publicKey }, index) => [
          signatures[index] ?? none,
          ...(type === 'p2tr' ? [] : [publicKey]),
        ]),
  );
  return { transaction: hex.encode(bytes), txHash: Transaction.fromRaw(bytes, lenient).id };
}

/** The hash that the transaction has once it is signed; undefined for p2pkh, where the signatures change it. */
export function signedHash(expected: ExpectedTransaction): string | undefined {
  const { type } = expected;
  if (type === 'p2pkh') return undefined;
  const bytes = encode(expected, (input) => scriptSigOf(none, input, type));
  return Transaction.fromRaw(bytes, lenient).id;
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

/** Any other type leaves outputs or inputs open, so that whoever sees the transaction could change them. */
function checkSighash(signature: Uint8Array, index: number, type: ScriptType): void {
  if (type === 'p2tr' && signature.length === 64) return;
  const sighash = signature.at(-1) ?? 0;
  if (sighash === sighashAll) return;
  const name = `${sighashNames[sighash & 0x1f] ?? `0x${sighash.toString(16)}`}${sighash & 0x80 ? '|ANYONECANPAY' : ''}`;
  throw new Refused(
    `The signature of input ${index + 1} has the sighash type ${name}, which leaves a part of the transaction open. Only ALL is accepted${type === 'p2tr' ? ', and DEFAULT' : ''}`,
  );
}

function isValid(signature: Uint8Array, index: number, expected: ExpectedTransaction): boolean {
  const { type, inputs } = expected;
  const input = inputs[index];
  if (!input) return false;
  const transaction = unsignedTransaction(expected);
  if (type === 'p2tr') {
    const digest = transaction.preimageWitnessV1(
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
    type === 'p2pkh'
      ? legacyDigest(expected, index, scriptCode)
      : transaction.preimageWitnessV0(index, scriptCode, sighashAll, input.amount);
  // Strict: nodes do not relay a signature whose s is in the upper half.
  return verify(digest, input.publicKey, compact, true);
}

function legacyDigest(expected: ExpectedTransaction, signed: number, scriptCode: Uint8Array): Uint8Array {
  const preimage = encode(expected, (_, index) => (index === signed ? scriptCode : none));
  return sha256(sha256(Uint8Array.of(...preimage, sighashAll, 0, 0, 0)));
}

const none = new Uint8Array();

/** The transaction with what unlocks its inputs. @param witnesses of each input; undefined for one without segwit */
function encode(
  { inputs, outputs }: ExpectedTransaction,
  scriptSig: (input: PayoutInput, index: number) => Uint8Array,
  witnesses?: Uint8Array[][],
): Uint8Array {
  return RawTx.encode({
    version: transactionVersion,
    segwitFlag: witnesses !== undefined,
    inputs: inputs.map((input, index) => ({
      ...{ txid: hex.decode(input.txHash), index: input.outputIndex, sequence: replaceableSequence },
      finalScriptSig: scriptSig(input, index),
    })),
    outputs: outputs.map(({ amount, script }) => ({ amount, script })),
    witnesses,
    lockTime: 0,
  });
}

function unsignedTransaction({ inputs, outputs }: ExpectedTransaction): Transaction {
  const transaction = new Transaction({ ...lenient, version: transactionVersion, lockTime: 0 });
  for (const { txHash, outputIndex: index } of inputs) {
    transaction.addInput({ txid: hex.decode(txHash), index, sequence: replaceableSequence });
  }
  for (const { amount, script } of outputs) transaction.addOutput({ amount, script });
  return transaction;
}

function scriptSigOf(signature: Uint8Array, { publicKey }: PayoutInput, type: ScriptType): Uint8Array {
  if (type === 'p2pkh') return Script.encode([signature, publicKey]);
  if (type !== 'p2sh-p2wpkh') return none;
  return Script.encode([OutScript.encode({ type: 'wpkh', hash: hash160(publicKey) })]);
}

/** An ECDSA signature as 64 bytes instead of DER; undefined if it is not one (BIP-66). */
function compactOf(der: Uint8Array): Uint8Array | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const r = readInteger(der, 2);
  if (!r) return undefined;
  const s = readInteger(der, r.end);
  if (s?.end !== der.length) return undefined;
  return Uint8Array.of(...r.bytes, ...s.bytes);
}

function readInteger(der: Uint8Array, start: number): { bytes: Uint8Array; end: number } | undefined {
  const length = der[start + 1];
  if (der[start] !== 0x02 || length === undefined || length < 1 || length > 33) return undefined;
  const end = start + 2 + length;
  if (end > der.length) return undefined;
  const digits = der.subarray(start + 2, end);
  const value = digits[0] === 0 ? digits.subarray(1) : digits;
  if (value.length > 32) return undefined;
  const bytes = new Uint8Array(32);
  bytes.set(value, 32 - value.length);
  return { bytes, end };
}
