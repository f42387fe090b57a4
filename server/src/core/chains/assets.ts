/** The assets of a network as its chain counts them: which one is the coin, and how amounts convert to the books. */

export interface ChainAsset {
  /** Currency code, such as USDT. */
  readonly currency: string;
  /** Decimals of amounts on the chain: 18 for most coins; for tokens, the contract decides. USDT has 6 on Ethereum, 18 on BSC. */
  readonly decimals: number;
  /** Decimals of the currency's smallest unit in the books; the same as `decimals` by default. */
  readonly unitDecimals?: number | undefined;
  /** The token's contract; undefined for the network's own coin. */
  readonly contract?: string | undefined;
}

/** Keyed by currency code. */
type ChainAssets = Readonly<Record<string, ChainAsset>>;

export const isCoin = ({ contract }: ChainAsset): boolean => contract === undefined;

/** The network's own coin, in which its fees are paid; undefined if the configuration leaves it out. */
export const coinOf = (assets: ChainAssets): ChainAsset | undefined => Object.values(assets).find(isCoin);

/** The asset of a contract, which may be written in upper or lower case; the coin without one. */
export function assetAt(assets: ChainAssets, contract: string | undefined): ChainAsset | undefined {
  return Object.values(assets).find((asset) => asset.contract?.toLowerCase() === contract?.toLowerCase());
}

/** Converts an amount on the chain to units of the books. Fractions of a unit are cut off. */
export function fromChain({ decimals, unitDecimals = decimals }: ChainAsset, amount: bigint): bigint {
  return scale(amount, unitDecimals - decimals);
}

/** An amount on the chain as a transfer says it. */
export function amountsOf(asset: ChainAsset, amount: bigint): { amount: bigint; chainAmount?: bigint } {
  const units = fromChain(asset, amount);
  return units === amount ? { amount } : { amount: units, chainAmount: amount };
}

/** Converts units of the books to an amount on the chain. @returns undefined if the chain has too few decimals for it */
export function toChain(asset: ChainAsset, units: bigint): bigint | undefined {
  const { decimals, unitDecimals = decimals } = asset;
  const amount = scale(units, decimals - unitDecimals);
  return fromChain(asset, amount) === units ? amount : undefined;
}

function scale(amount: bigint, decimals: number): bigint {
  return decimals >= 0 ? amount * 10n ** BigInt(decimals) : amount / 10n ** BigInt(-decimals);
}
