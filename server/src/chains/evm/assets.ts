/** The assets of a network by contract, and the check that the contracts are what the configuration says. */
import type { NodeClient } from '../rpc/node-client.js';
import { RpcFailure } from '../rpc/node-error.js';
import type { AssetProblem, EvmAsset } from './config.js';
import type { Dialect } from './dialect.js';
import { decimalsCall } from './token.js';

export interface Assets {
  /** Undefined if the native coin is not paid with. */
  readonly native: EvmAsset | undefined;
  /** By contract, in lower-case hex. */
  readonly tokens: ReadonlyMap<string, EvmAsset>;
}

/** @throws if a contract is not an address, or one is named twice */
export function readAssets(code: string, list: readonly EvmAsset[], dialect: Dialect): Assets {
  const tokens = new Map<string, EvmAsset>();
  let native: EvmAsset | undefined;
  for (const asset of list) {
    if (asset.contract === undefined) {
      if (native)
        throw new Error(`${code} has two assets without a contract: ${native.currency}, ${asset.currency}`);
      native = asset;
      continue;
    }
    const contract = dialect.readAddress(asset.contract);
    if (contract === undefined) {
      throw new Error(`The contract of ${asset.currency} on ${code} is not an address: ${asset.contract}`);
    }
    if (tokens.has(contract)) throw new Error(`${code} names the contract ${asset.contract} twice`);
    tokens.set(contract, asset);
  }
  return { native, tokens };
}

/** Whether a call failed in the contract, and not in the node. */
function isRevert({ code, message }: RpcFailure): boolean {
  return code === 3 || /revert|invalid opcode|out of gas|stack underflow/i.test(message);
}

/**
 * Asks the contracts for their decimals: with wrong ones, amounts would be wrong by powers of ten.
 * @throws RpcFailure if the node cannot tell
 */
export async function checkContracts(
  node: NodeClient,
  code: string,
  { tokens }: Assets,
  signal: AbortSignal,
): Promise<readonly AssetProblem[]> {
  const list = [...tokens];
  const answers = await node.batch(
    list.map(([contract]) => ({
      method: 'eth_call',
      params: [{ to: contract, data: decimalsCall }, 'latest'],
    })),
    signal,
  );
  return list.flatMap(([, asset], index) => {
    const answer = answers[index];
    // Only what the contract itself answers says something about it.
    if (answer instanceof RpcFailure && !isRevert(answer)) throw answer;
    const problem = problemOf(asset, code, answer);
    return problem === undefined ? [] : { currency: asset.currency, problem };
  });
}

function problemOf({ currency, contract = '', decimals }: EvmAsset, code: string, answer: unknown) {
  const what = `${currency} on ${code} is off:`;
  if (answer instanceof RpcFailure || typeof answer !== 'string' || !/^0x[0-9a-f]{64}$/i.test(answer)) {
    return `${what} there is no ERC-20 token at ${contract}. Correct the contract in NETWORKS_FILE.`;
  }
  if (BigInt(answer) === BigInt(decimals)) return undefined;
  return `${what} the contract ${contract} has ${BigInt(answer)} decimals, not ${decimals}. Correct the decimals or the contract in NETWORKS_FILE.`;
}

/** Converts what the chain counts to the smallest unit of the currency. What is too small for it is cut off. */
export function toUnits(amount: bigint, { decimals, unitDecimals = decimals }: EvmAsset): bigint {
  const difference = unitDecimals - decimals;
  return difference >= 0 ? amount * 10n ** BigInt(difference) : amount / 10n ** BigInt(-difference);
}
