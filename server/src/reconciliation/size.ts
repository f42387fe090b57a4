/** How much a difference between a balance and the books matters. */
import { toChain, type ChainAsset } from '../chains/assets.js';

export type Size = 'nothing' | 'dust' | 'surplus' | 'shortage';

/**
 * Dust is a surplus below the smallest payment: not worth a receipt unless somebody asks for it. What is less than a unit of the
 * books cannot be booked at all.
 * @param difference in units of the chain
 * @param minAmount the smallest payment, as a plain decimal
 */
export function sizeOf(asset: ChainAsset, difference: bigint, minAmount: string | undefined): Size {
  const unit = toChain(asset, 1n) ?? 1n;
  if (difference < unit && difference > -unit) return 'nothing';
  if (difference < 0n) return 'shortage';
  const [whole = '', part = ''] = (minAmount ?? '0').split('.');
  const { decimals } = asset;
  return difference < BigInt(whole + part.padEnd(decimals, '0').slice(0, decimals)) ? 'dust' : 'surplus';
}
