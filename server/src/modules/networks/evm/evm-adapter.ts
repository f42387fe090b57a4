/** Connects to networks that answer like an EVM network. */
import { isEvm } from '../../../core/families/kinds.js';
import { chainDeps, nodesConfig } from '../adapter-parts.js';
import type { Adapter } from '../connect.js';
import { checkEvmNetwork } from './check.js';
import type { Dialect } from './dialect.js';
import { createEvmChain } from './evm-chain.js';
import type { EvmConfig } from './evm-nodes.js';

/** Only EVM networks have forwarders, sweeps and gas. */
export const evmLike =
  (dialect: Dialect): Adapter =>
  (configured, deps) => {
    const { network, identity, chainAssets } = configured;
    if (!('chainId' in identity)) throw new Error(`networks.${network.code}: has no chain id`);
    const { chainId } = identity;
    const assets = Object.values(chainAssets);
    const config: EvmConfig = { ...nodesConfig(configured), chainId, assets, dialect };
    const chain = createEvmChain(config, chainDeps(configured, deps));
    const { status, locate, balances, nodes } = chain;
    return {
      chain,
      status,
      locate,
      balances,
      unreadable: () => new Set(status().assetProblems.map(({ currency }) => currency)),
      cost: (txHash, _height, signal) => chain.cost(txHash, signal),
      check: (signal) => checkEvmNetwork(config, signal),
      ...(isEvm(network.family) && {
        evm: nodes,
        acceptsSignature: (contract, { hash, signature }, signal) =>
          nodes.run((node) => node.acceptsSignature(contract, hash, signature), signal),
      }),
    };
  };
