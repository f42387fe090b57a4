/** The adapter of each family of networks. */
import { isBitcoinLike } from '../addresses/bitcoin-scripts.js';
import { coinOf } from './assets.js';
import { createBitcoinChain } from './bitcoin/bitcoin-chain.js';
import { checkBitcoinNetwork } from './bitcoin/check-network.js';
import type { BitcoinConfig } from './bitcoin/bitcoin-nodes.js';
import { createUtxoNode, locateTransaction, readTransactionFee } from './bitcoin/utxo-node.js';
import type { ConfiguredNetwork } from './config/networks-file.js';
import type { ChainDeps, NodesConfig } from './config/nodes.js';
import type { Adapter, Adapters, ConnectDeps } from './connect.js';
import { checkEvmNetwork } from './evm/check.js';
import { evmDialect, type Dialect } from './evm/dialect.js';
import { createEvmChain } from './evm/evm-chain.js';
import type { EvmConfig } from './evm/evm-nodes.js';
import { tronDialect } from './tron/tron-dialect.js';

/** Networks that answer like an EVM network. Only EVM networks have forwarders, sweeps and gas. */
const evmLike =
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
      ...{ chain, status, locate, balances },
      unreadable: () => new Set(status().assetProblems.map(({ currency }) => currency)),
      cost: (txHash, _height, signal) => chain.cost(txHash, signal),
      check: (signal) => checkEvmNetwork(config, signal),
      ...(network.family === 'evm' && { evm: nodes }),
    };
  };

const bitcoin: Adapter = (configured, deps) => {
  const { network, identity, chainAssets } = configured;
  const { family, addressNet } = network;
  const coin = coinOf(chainAssets);
  if (!('genesisHash' in identity) || !coin || !isBitcoinLike(family)) {
    throw new Error(`networks.${network.code}: has no genesis hash`);
  }
  const { currency } = coin;
  const config: BitcoinConfig = { ...nodesConfig(configured), ...identity, family, addressNet, currency };
  const chain = createBitcoinChain(config, chainDeps(configured, deps));
  return {
    chain,
    status: chain.status,
    unreadable: () => new Set(),
    locate: (txHash, signal) => locateTransaction(chain.nodes, txHash, signal),
    async cost(txHash, height, signal) {
      const fee = await readTransactionFee(chain.nodes, txHash, height, signal);
      return fee === undefined ? undefined : { fee, payer: undefined };
    },
    check: (signal) => checkBitcoinNetwork(config, signal),
    utxoNode: createUtxoNode(chain.nodes),
  };
};

export const adapters: Adapters = {
  evm: evmLike(evmDialect),
  tron: evmLike(tronDialect),
  bitcoin,
  litecoin: bitcoin,
};

const nodesConfig = (configured: ConfiguredNetwork): NodesConfig => {
  const { network, nodes, headers, requestsPerMinute, isOnDemand, blockSeconds } = configured;
  const blockTimeMs = isOnDemand ? undefined : blockSeconds * 1000;
  const asked = { nodes, headers, requestsPerMinute, maxBatch: configured.batchSize };
  return { mode: network.mode, network: network.code, ...asked, blockTimeMs };
};

function chainDeps({ network: { mode, code } }: ConfiguredNetwork, deps: ConnectDeps): ChainDeps {
  return {
    watched: (addresses) => deps.watched(mode, addresses),
    hasOpen: () => deps.isAnyoneExpected(mode),
    soughtCoins: async () => (await deps.soughtCoins?.(mode, code)) ?? new Set(),
    warn: (message) => deps.log.warn({ mode, network: code }, message),
    now: deps.now,
  };
}
