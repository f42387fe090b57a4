/** The kind of each family: rules of a kind hold for every family of it, whatever its name. */
import { families, type Family } from 'crypto-checkout/contract';
import { addressFamilies } from './addresses.js';
import type { BitcoinRules } from './family.js';

/** True for Ethereum, and for every family whose networks answer like it. */
export const isEvm = (family: Family): boolean => addressFamilies[family].kind === 'evm';

export const isBitcoinLike = (family: Family | undefined): boolean =>
  family !== undefined && addressFamilies[family].bitcoin !== undefined;

export const bitcoinFamilies: readonly Family[] = families.filter(isBitcoinLike);

/** @throws if the family is not of Bitcoin's kind */
export function bitcoinRules(family: Family): BitcoinRules {
  const { bitcoin } = addressFamilies[family];
  if (!bitcoin) throw new Error(`${family} is not a family of Bitcoin's kind`);
  return bitcoin;
}
