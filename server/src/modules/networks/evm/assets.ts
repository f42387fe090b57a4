/** The assets of an EVM network by contract, and the check that the contracts are what the configuration says. */
import type { ChainAsset } from '../../../core/chains/assets.js';
import { decimalsData } from './abi.js';
import type { EvmClient } from './client.js';
import type { Dialect } from './dialect.js';

export type Assets = ReturnType<typeof readAssets>;

/** @throws if a contract is not an address, or one is named twice */
export function readAssets(code: string, list: readonly ChainAsset[], dialect: Dialect) {
  /** By contract, in lower-case hex. */
  const tokens = new Map<string, ChainAsset>();
  /** Undefined if the network's own coin is not paid with. */
  let coin: ChainAsset | undefined;
  for (const asset of list) {
    if (asset.contract === undefined) {
      if (coin)
        throw new Error(`${code} has two assets without a contract: ${coin.currency}, ${asset.currency}`);
      coin = asset;
      continue;
    }
    const contract = dialect.readAddress(asset.contract);
    if (contract === undefined) {
      throw new Error(`The contract of ${asset.currency} on ${code} is not an address: ${asset.contract}`);
    }
    if (tokens.has(contract)) throw new Error(`${code} names the contract ${asset.contract} twice`);
    tokens.set(contract, asset);
  }
  return { coin, tokens };
}

/**
 * Asks the contracts for their decimals: with wrong ones, amounts would be wrong by powers of ten.
 * @returns by currency, for all tokens, one sentence that says what to change; undefined if nothing needs changing
 */
export async function checkContracts(
  evm: EvmClient,
  code: string,
  { tokens }: Assets,
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = await Promise.all(
    [...tokens].map(async ([contract, asset]) => {
      const answer = await evm.call({ to: contract, data: decimalsData });
      return [asset.currency, problemOf(asset, code, answer)] as const;
    }),
  );
  return new Map(found);
}

function problemOf(
  { currency, contract = '', decimals }: ChainAsset,
  code: string,
  answer: string | undefined,
): string | undefined {
  const what = `${currency} on ${code} is off:`;
  if (answer?.length !== 66) {
    return `${what} there is no ERC-20 token at ${contract}. Correct the contract in NETWORKS_FILE.`;
  }
  if (BigInt(answer) === BigInt(decimals)) return undefined;
  return `${what} the contract ${contract} has ${BigInt(answer)} decimals, not ${decimals}. Correct the decimals or the contract in NETWORKS_FILE.`;
}
