/** Reads many balances in one `eth_call`, with code that is executed there and never deployed: contracts/BalanceReader.sol. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { NodeError } from '../rpc/node-error.js';

const { code } = z
  .object({ code: z.string().check(z.regex(/^0x[0-9a-f]+$/)) })
  .parse(JSON.parse(readFileSync(new URL('../../../../data/balance-reader.json', import.meta.url), 'utf8')));

/** The number that a node reads within its gas limit of a call: 250 balances of a token take up to 10 million. */
const mostCoins = 500;
const mostTokens = 250;

/**
 * The data of the calls that read balances. By hand, because this is made for each block, and a general encoder takes ten
 * times as long.
 * @param token a contract; undefined for the network's own coin
 */
export function balancesCalls(token: string | undefined, addresses: readonly string[]): string[] {
  const most = token === undefined ? mostCoins : mostTokens;
  return Array.from({ length: Math.ceil(addresses.length / most) }, (_, index) => {
    const part = addresses.slice(index * most, (index + 1) * most);
    const head = [token ?? '0x0', '0x40', `0x${part.length.toString(16)}`];
    return code + [...head, ...part].map(wordOf).join('');
  });
}

/** @throws NodeError if these are not the balances of as many addresses */
export function readBalances(answers: readonly string[], count: number): bigint[] {
  const words = answers.flatMap((answer) => answer.slice(2).match(/.{64}/g) ?? []);
  if (words.length !== count) {
    throw new NodeError('garbage', 'A node answered with balances of another number of addresses');
  }
  return words.map((word) => BigInt(`0x${word}`));
}

/** A number or an address as one word of 32 bytes, without 0x. */
const wordOf = (hex: string): string => hex.slice(2).toLowerCase().padStart(64, '0');
