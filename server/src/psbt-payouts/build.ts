/** Writes the PSBT of a payout (BIP-174), with what a hardware wallet needs to check and sign it. */
import { hex } from '@scure/base';
import { Address, NETWORK, OutScript, p2pkh, p2sh, p2tr, p2wpkh, Transaction } from '@scure/btc-signer';
import type { AddressPrefixes, ScriptType } from '../addresses/bitcoin-scripts.js';
import type { Outpoint } from '../chains/bitcoin/utxo-node.js';
import type { Branch, SpendingAccount } from './account.js';

export interface SpentCoin extends Outpoint {
  /** In satoshis. */
  readonly amount: bigint;
  readonly branch: Branch;
  readonly index: number;
}

/** What a payout's transaction spends and pays. */
export interface Payout {
  readonly inputs: readonly SpentCoin[];
  /** Amounts in satoshis. */
  readonly outputs: readonly { readonly address: string; readonly amount: bigint }[];
  /** The last output; undefined if nothing is left. */
  readonly change: { readonly index: number; readonly amount: bigint } | undefined;
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
  payout: Payout,
  account: SpendingAccount,
  rawTransactions: ReadonlyMap<string, string>,
): Uint8Array {
  const transaction = new Transaction({ version: transactionVersion, lockTime: 0 });
  for (const input of payout.inputs) addInput(transaction, input, account, rawTransactions);
  for (const { address, amount } of payout.outputs) {
    transaction.addOutput({ script: scriptOfAddress(address, account.prefixes), amount });
  }
  if (payout.change) addChange(transaction, payout.change, account);
  return transaction.toPSBT(0);
}

function addInput(
  transaction: Transaction,
  { txHash, outputIndex, amount, branch, index }: SpentCoin,
  account: SpendingAccount,
  rawTransactions: ReadonlyMap<string, string>,
): void {
  const { script: type } = account;
  const key = account.publicKey(branch, index);
  const { script, redeemScript } = scriptsOf(key, type);
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
    ...keyFields(key, type, account, branch, index),
  });
}

function addChange(
  transaction: Transaction,
  { index, amount }: { index: number; amount: bigint },
  account: SpendingAccount,
): void {
  const key = account.publicKey(1, index);
  const { script, redeemScript } = scriptsOf(key, account.script);
  transaction.addOutput({
    script,
    amount,
    ...(redeemScript && { redeemScript }),
    // With these, a hardware wallet shows the output as change.
    ...keyFields(key, account.script, account, 1, index),
  });
}

function keyFields(
  key: Uint8Array,
  type: ScriptType,
  account: SpendingAccount,
  branch: Branch,
  index: number,
) {
  const origin = account.origin(branch, index);
  if (type !== 'p2tr') return { bip32Derivation: [[key, origin]] as [Uint8Array, typeof origin][] };
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
    const options = { allowUnknownOutputs: true, allowUnknownInputs: true, disableScriptCheck: true };
    return Transaction.fromRaw(bytes, options).id === txHash ? bytes : undefined;
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

/** @throws if the text is not an address of the network */
export function scriptOfAddress(address: string, prefixes: AddressPrefixes): Uint8Array {
  const { bech32, pubKeyHash, scriptHash } = prefixes;
  return OutScript.encode(Address({ ...NETWORK, bech32, pubKeyHash, scriptHash }).decode(address));
}
