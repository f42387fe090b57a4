/** The adapter of each family of networks. */
import type { BitcoinFamily } from '../addresses/bitcoin-scripts.js';
import { coinOf } from './assets.js';
import { createBitcoinChain } from './bitcoin/bitcoin-chain.js';
import { checkBitcoinNetwork } from './bitcoin/check-network.js';
import type { BitcoinConfig } from './bitcoin/config.js';
import { createUtxoNode, locateTransaction, readTransactionFee } from './bitcoin/utxo-node.js';
import type { ConfiguredNetwork } from './config/networks-file.js';
import type { Adapter, Adapters, ConnectDeps, Connection } from './connect.js';
import { checkEvmNetwork } from './evm/check.js';
import type { EvmConfig, EvmDeps } from './evm/config.js';
import { createEvmChain, type EvmChain } from './evm/evm-chain.js';
import { checkTronNetwork, createTronChain } from './tron/tron-chain.js';

/** For a chain that only looks a transaction up. */
const noAddresses: EvmDeps = { watched: () => Promise.resolve(new Set()) };

const evm: Adapter = {
  connect(configured, deps) {
    const chain = createEvmChain(evmConfig(configured), evmDeps(configured, deps));
    return { ...connectionOf(chain), evm: chain.nodes };
  },
  cost: (configured, txHash, _height, signal) =>
    createEvmChain(evmConfig(configured), noAddresses).cost(txHash, signal),
  check: (configured, signal) => checkEvmNetwork(evmConfig(configured), signal),
};

const tron: Adapter = {
  connect: (configured, deps) =>
    connectionOf(createTronChain(evmConfig(configured), evmDeps(configured, deps))),
  cost: (configured, txHash, _height, signal) =>
    createTronChain(evmConfig(configured), noAddresses).cost(txHash, signal),
  check: (configured, signal) => checkTronNetwork(evmConfig(configured), signal),
};

const bitcoin: Adapter = {
  connect(configured, deps) {
    const { network } = configured;
    const chain = createBitcoinChain(bitcoinConfig(configured), {
      watched: (addresses) => deps.watched(network.mode, addresses),
      soughtCoins: async () => (await deps.soughtCoins?.(network.mode, network.code)) ?? new Set(),
      warn: warnOf(configured, deps),
      now: deps.now,
    });
    return {
      chain,
      unreadable: () => new Set(),
      locate: (txHash, signal) => locateTransaction(chain.nodes, txHash, signal),
      status: () => ({ ...chain.status(), assetProblems: [] }),
      utxoNode: createUtxoNode(chain.nodes),
    };
  },
  async cost(configured, txHash, height, signal) {
    const fee = await readTransactionFee(bitcoinConfig(configured), txHash, height, signal);
    return fee === undefined ? undefined : { fee, payer: undefined };
  },
  check: (configured, signal) => checkBitcoinNetwork(bitcoinConfig(configured), signal),
};

export const adapters: Adapters = { evm, tron, bitcoin, litecoin: bitcoin };

function evmConfig({
  network,
  identity,
  nodes,
  headers,
  chainAssets,
  ...rest
}: ConfiguredNetwork): EvmConfig {
  if (!('chainId' in identity)) throw new Error(`networks.${network.code}: has no chain id`);
  return {
    mode: network.mode,
    network: network.code,
    chainId: identity.chainId,
    nodes,
    headers,
    assets: Object.values(chainAssets),
    requestsPerMinute: rest.requestsPerMinute,
    blockTimeMs: rest.isOnDemand ? undefined : rest.blockSeconds * 1000,
  };
}

function evmDeps(configured: ConfiguredNetwork, deps: ConnectDeps): EvmDeps {
  const { network } = configured;
  return {
    watched: (addresses) => deps.watched(network.mode, addresses),
    hasOpen: () => deps.isAnyoneExpected(network.mode),
    warn: warnOf(configured, deps),
    now: deps.now,
  };
}

function bitcoinConfig(configured: ConfiguredNetwork): BitcoinConfig {
  const { network, identity, nodes, headers, chainAssets, requestsPerMinute } = configured;
  const { blockSeconds, isOnDemand } = configured;
  const { family, code } = network;
  const coin = coinOf(chainAssets);
  if (!('genesisHash' in identity) || !coin || !isBitcoinLike(family)) {
    throw new Error(`networks.${code}: has no genesis hash`);
  }
  const { mode, addressNet } = network;
  return {
    mode,
    network: code,
    family,
    addressNet,
    genesisHash: identity.genesisHash,
    checkpoint: identity.checkpoint,
    nodes,
    headers,
    currency: coin.currency,
    requestsPerMinute,
    blockTimeMs: isOnDemand ? undefined : blockSeconds * 1000,
  };
}

function isBitcoinLike(family: ConfiguredNetwork['network']['family']): family is BitcoinFamily {
  return family === 'bitcoin' || family === 'litecoin';
}

function connectionOf(chain: EvmChain): Connection {
  const status = () => chain.status();
  return {
    chain,
    status,
    locate: (txHash, signal) => chain.locate(txHash, signal),
    unreadable: () => new Set(status().assetProblems.map(({ currency }) => currency)),
    balances: chain.balances,
  };
}

function warnOf({ network: { mode, code } }: ConfiguredNetwork, { log }: ConnectDeps) {
  return (message: string) => {
    log.warn({ mode, network: code }, message);
  };
}
