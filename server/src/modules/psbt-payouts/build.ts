/** Writes the PSBT of a payout (BIP-174), with all fields that a hardware wallet needs to check and sign it. */
import { hex } from '@scure/base';
import { Address, NETWORK, OutScript, p2pkh, p2sh, p2tr, p2wpkh, Transaction } from '@scure/btc-signer';
import type { AddressPrefixes, ScriptType } from '../../core/addresses/bitcoin-scripts.js';
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import type { Branch, SpendingAccount } from './account.js';

export interface SpentCoin extends Outpoint {
  /** In satoshis. */
  readonly amount: bigint;
  readonly branch: Branch;
  readonly index: number;
}

/** The transaction of a payout as it is exported, and must come back. */
export interface PayoutTransaction {
  /** Its keys sign all inputs. */
  readonly account: SpendingAccount;
  readonly inputs: readonly PayoutInput[];
  readonly outputs: readonly PayoutOutput[];
}

export interface PayoutInput extends SpentCoin {
  readonly script: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface PayoutOutput {
  readonly script: Uint8Array;
  /** In satoshis. */
  readonly amount: bigint;
  /** Of its key, if it is the change. */
  readonly changeIndex?: number;
}

/** BIP-125: the transaction can be replaced. Nodes read it from any sequence below 0xfffffffe. */
export const replaceableSequence = 0xfffffffd;
export const transactionVersion = 2;

/**
 * @param rawTransactions by transaction hash, in hexadecimal digits: those that the inputs spend. Legacy inputs need them,
 *   and hardware wallets ask for them with segwit, to be sure of the amounts
 * @throws if a legacy input has none
 */
export function buildPsbt(
  { account, inputs, outputs }: PayoutTransaction,
  rawTransactions: ReadonlyMap<string, string>,
): Uint8Array {
  const transaction = new Transaction({ version: transactionVersion, lockTime: 0 });
  for (const input of inputs) addInput(transaction, input, account, rawTransactions);
  for (const { script, amount, changeIndex } of outputs) {
    const change = changeIndex === undefined ? {} : changeFields(account, changeIndex);
    transaction.addOutput({ script, amount, ...change });
  }
  return transaction.toPSBT(0);
}

function addInput(
  transaction: Transaction,
  { txHash, outputIndex, amount, branch, index, script, publicKey: key }: PayoutInput,
  account: SpendingAccount,
  rawTransactions: ReadonlyMap<string, string>,
): void {
  const { script: type } = account;
  const { redeemScript } = scriptsOf(key, type);
  const raw = rawTransactions.get(txHash);
  const previous = raw === undefined || type === 'p2tr' ? undefined : readPrevious(raw, txHash);
  if (type === 'p2pkh' && !previous) {
    throw new Error(
      `No node has the transaction ${txHash} any more, which a p2pkh input cannot be signed without`,
    );
  }
  transaction.addInput({
    txid: txHash,
    index: outputIndex,
    sequence: replaceableSequence,
    ...(type !== 'p2pkh' && { witnessUtxo: { script, amount } }),
    ...(previous && { nonWitnessUtxo: previous }),
    ...(redeemScript && { redeemScript }),
    ...keyFields(key, account, branch, index),
  });
}

/** With these, a hardware wallet shows an output as change. */
function changeFields(account: SpendingAccount, index: number) {
  const key = account.publicKey(1, index);
  const { redeemScript } = scriptsOf(key, account.script);
  return { ...(redeemScript && { redeemScript }), ...keyFields(key, account, 1, index) };
}

/** For transactions that others have made: any version, and outputs and inputs of kinds that we never make. */
export const lenient = {
  allowUnknownVersion: true,
  allowUnknownOutputs: true,
  allowUnknownInputs: true,
  disableScriptCheck: true,
  allowLegacyWitnessUtxo: true,
} as const;

function keyFields(key: Uint8Array, account: SpendingAccount, branch: Branch, index: number) {
  const origin = account.origin(branch, index);
  if (account.script !== 'p2tr') return { bip32Derivation: [[key, origin]] as [Uint8Array, typeof origin][] };
  const internal = key.subarray(1);
  const der = { hashes: [], der: origin };
  return {
    tapInternalKey: internal,
    tapBip32Derivation: [[internal, der]] as [Uint8Array, typeof der][],
  };
}

/** Undefined if it cannot be read: a transaction of Litecoin's MWEB has a form of its own. */
function readPrevious(raw: string, txHash: string): Uint8Array | undefined {
  try {
    const bytes = hex.decode(raw);
    return Transaction.fromRaw(bytes, lenient).id === txHash ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** The script that an output to a key has. */
export function scriptsOf(
  key: Uint8Array,
  type: ScriptType,
): { readonly script: Uint8Array; readonly redeemScript?: Uint8Array | undefined } {
  switch (type) {
    case 'p2pkh':
      return p2pkh(key);
    case 'p2wpkh':
      return p2wpkh(key);
    case 'p2sh-p2wpkh':
      return p2sh(p2wpkh(key));
    case 'p2tr':
      return p2tr(key.subarray(1));
    default:
      return type satisfies never;
  }
}

/** All change addresses of an account have scripts of one length. */
export function changeScript({ publicKey, script }: SpendingAccount, index: number): Uint8Array {
  return scriptsOf(publicKey(1, index), script).script;
}

/** @throws if the text is not an address of the network */
export function scriptOfAddress(address: string, prefixes: AddressPrefixes): Uint8Array {
  const { bech32, pubKeyHash, scriptHash } = prefixes;
  return OutScript.encode(Address({ ...NETWORK, bech32, pubKeyHash, scriptHash }).decode(address));
}
