/** Reads the transactions in a node's answers: what they pay to which address, and who sent it. */
import { hash160 } from '@scure/btc-signer/utils.js';
import {
  addressOfScript,
  addressOfKey,
  type AddressPrefixes,
} from '../../../core/addresses/bitcoin-scripts.js';
import type { ChainTransfer, SpentCoin } from '../../../core/chains/chain.js';
import { isObject } from '../rpc/node-client.js';
import { NodeError } from '../rpc/node-error.js';

/** An output of a transaction, which a later one can spend. */
export interface Outpoint {
  readonly txHash: string;
  readonly outputIndex: number;
}

/**
 * Reads the outputs of a transaction that have an address. Others do not matter: data (OP_RETURN), bare multisig, and
 * those in Litecoin's MWEB, which have neither an address nor an amount that a node could show.
 *
 * A coinbase counts as having none. It cannot be spent for 100 blocks, and a mining reward is no payment.
 * @returns undefined if the answer is not a transaction
 */
export function readTransaction(answer: unknown, prefixes: AddressPrefixes) {
  if (!isObject(answer)) return undefined;
  const { txid, vin: inputs, vout: outputs } = answer;
  if (!isHash(txid) || !Array.isArray(inputs) || !Array.isArray(outputs)) return undefined;
  const isCoinbase = inputs.some((input) => isObject(input) && 'coinbase' in input);
  return {
    txid,
    inputs: inputs as readonly unknown[],
    outputs: isCoinbase ? [] : outputs.flatMap((output) => readOutput(output, prefixes) ?? []),
  };
}

/** The amount is of whole coins, and not read yet: only the amounts of our own outputs matter. */
function readOutput(output: unknown, prefixes: AddressPrefixes) {
  if (!isObject(output) || !isObject(output['scriptPubKey'])) return undefined;
  const { hex } = output['scriptPubKey'];
  if (typeof hex !== 'string') return undefined;
  const address = addressOfScript(hex, prefixes);
  return address === undefined ? undefined : { address, index: output['n'], value: output['value'] };
}

/** @throws NodeError if an output of ours has no readable amount */
export function transfersOf(
  { txid, inputs, outputs }: NonNullable<ReturnType<typeof readTransaction>>,
  ours: ReadonlySet<string>,
  currency: string,
  prefixes: AddressPrefixes,
): ChainTransfer[] {
  const received = outputs.filter(({ address }) => ours.has(address));
  if (received.length === 0) return [];
  const senders = [...new Set(inputs.flatMap((input) => senderOf(input, prefixes) ?? []))];
  return received.map(({ address, index, value }) => {
    const amount = readSatoshis(value);
    if (amount === undefined || !isHeight(index)) {
      throw new NodeError('garbage', `The transaction ${txid} pays ${address} an amount that cannot be read`);
    }
    return { txHash: txid, outputIndex: index, currency, senders, address, amount };
  });
}

/** The coins among these, as `hash:index`, that the transactions spend. */
export function spentOf(transactions: readonly unknown[], coins: ReadonlySet<string>): SpentCoin[] {
  return transactions.flatMap((transaction) => {
    const txHash = isObject(transaction) ? transaction['txid'] : undefined;
    if (!isHash(txHash)) return [];
    const spent = inputsOf(transaction).map((input) => `${input.txHash}:${input.outputIndex}`);
    return spent.filter((coin) => coins.has(coin)).map((coin) => ({ coin, txHash }));
  });
}

/** The outputs that a transaction spends. */
export function inputsOf(transaction: unknown): Outpoint[] {
  const inputs: unknown = isObject(transaction) ? transaction['vin'] : undefined;
  if (!Array.isArray(inputs)) return [];
  return inputs.flatMap((input: unknown): Outpoint[] => {
    const { txid, vout } = isObject(input) ? input : {};
    return isHash(txid) && isHeight(vout) ? [{ txHash: txid, outputIndex: vout }] : [];
  });
}

/**
 * All outputs of a transaction: amounts in satoshis, scripts in hexadecimal digits. An output that cannot be read, such as one in
 * Litecoin's MWEB, has a negative amount: it equals none of ours.
 */
export function outputsOf(transaction: unknown): { amount: bigint; script: string }[] {
  const outputs: unknown = isObject(transaction) ? transaction['vout'] : undefined;
  if (!Array.isArray(outputs)) return [];
  return outputs.map((output: unknown) => {
    const { value, scriptPubKey } = isObject(output) ? output : {};
    const script = isObject(scriptPubKey) ? scriptPubKey['hex'] : undefined;
    return { amount: readSatoshis(value) ?? -1n, script: typeof script === 'string' ? script : '' };
  });
}

/** The address that an input spends from, if the input itself shows the key: no older transaction has to be read. */
function senderOf(input: unknown, prefixes: AddressPrefixes): string | undefined {
  if (!isObject(input)) return undefined;
  const { txinwitness: witness, scriptSig } = input;
  const unlocking = isObject(scriptSig) && typeof scriptSig['hex'] === 'string' ? scriptSig['hex'] : '';
  if (Array.isArray(witness)) {
    const key: unknown = witness[1];
    if (witness.length !== 2 || typeof key !== 'string' || !isPublicKey(key)) return undefined;
    const publicKey = Buffer.from(key, 'hex');
    if (unlocking === '') return addressOfKey(publicKey, 'p2wpkh', prefixes);
    const nested = `160014${Buffer.from(hash160(publicKey)).toString('hex')}`;
    return unlocking === nested ? addressOfKey(publicKey, 'p2sh-p2wpkh', prefixes) : undefined;
  }
  // P2PKH: a signature of 71 to 73 bytes, and the key.
  const key = /^4[789](?:[0-9a-f]{2}){71,73}21(0[23][0-9a-f]{64})$/.exec(unlocking)?.[1];
  return key === undefined ? undefined : addressOfKey(Buffer.from(key, 'hex'), 'p2pkh', prefixes);
}

function isPublicKey(hex: string): boolean {
  return /^0[23][0-9a-f]{64}$/.test(hex);
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Above this, doubles are more than a satoshi apart. No output can be as large: there will never be 67 million bitcoins,
 * and one output would have to hold four fifths of all litecoins.
 */
const tooLarge = 2 ** 26;

/**
 * Converts an amount in Bitcoin Core's answers, which are JSON numbers of whole coins, to satoshis.
 *
 * Exact, although the number went through a double: below 2^26, a double differs from the decimal that was parsed by
 * less than half a satoshi (2^-28), and `toFixed` rounds to the nearest one, without any arithmetic.
 * @returns undefined if the value is not an amount with at most eight decimals
 */
export function readSatoshis(value: unknown): bigint | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value >= tooLarge) return undefined;
  const decimal = value.toFixed(8);
  // More decimals than eight would have been rounded away.
  if (Number(decimal) !== value) return undefined;
  return BigInt(decimal.replace('.', ''));
}
