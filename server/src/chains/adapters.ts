/** The adapter of each family of networks. */
import { currencies } from '../money/currency-list.js';
import type { BitcoinFamily } from './addresses/bitcoin-scripts.js';
import { createBitcoinChain } from './bitcoin/bitcoin-chain.js';
import { createBitcoinPool, rpcCodes, unlessError } from './bitcoin/bitcoin-nodes.js';
import { checkBitcoinNetwork } from './bitcoin/check-network.js';
import type { BitcoinConfig } from './bitcoin/config.js';
import { withCookie } from './bitcoin/node-urls.js';
import { isHeight } from './bitcoin/transactions.js';
import type { ConfiguredNetwork } from './config/networks-file.js';
import type { Adapter, Adapters, ConnectDeps, Connection } from './connect.js';
import { checkEvmNetwork } from './evm/check.js';
import type { EvmAsset, EvmConfig, EvmDeps } from './evm/config.js';
import { createEvmChain, createEvmPool, type EvmChain } from './evm/evm-chain.js';
import { numberOf } from './evm/replies.js';
import { isObject } from './rpc/node-client.js';
import { checkTronNetwork, createTronChain, withJsonRpc } from './tron/tron-chain.js';

const evm: Adapter = {
  connect: (configured, deps) => ({
    ...connectionOf(createEvmChain(evmConfig(configured), evmDeps(configured, deps))),
    evm: createEvmPool(evmConfig(configured), { now: deps.now }),
  }),
  locate: (configured, txHash, signal) => locateOnEvm(evmConfig(configured), txHash, signal),
  check: (configured, signal) => checkEvmNetwork(evmConfig(configured), signal),
};

const tron: Adapter = {
  connect: (configured, deps) =>
    connectionOf(createTronChain(evmConfig(configured), evmDeps(configured, deps))),
  locate: (configured, txHash, signal) => locateOnEvm(withJsonRpc(evmConfig(configured)), txHash, signal),
  check: (configured, signal) => checkTronNetwork(evmConfig(configured), signal),
};

const bitcoin: Adapter = {
  connect(configured, deps) {
    const { network } = configured;
    const chain = createBitcoinChain(bitcoinConfig(configured), {
      watched: (addresses) => deps.watched(network.mode, addresses),
      warn: warnOf(configured, deps),
    });
    return { chain, unreadable: () => new Set() };
  },
  async locate(configured, txHash, signal) {
    const config = bitcoinConfig(configured);
    const urls = config.nodes.map((url, index) => withCookie(url, `node ${index + 1}`).url);
    return createBitcoinPool(config, urls).run(async (node) => {
      // Without txindex, a node knows only transactions that wait, and says the same of all others.
      const found = await unlessError(
        node.call('getrawtransaction', [txHash, true], signal),
        rpcCodes.unknown,
      );
      const blockHash = isObject(found) ? found['blockhash'] : undefined;
      if (typeof blockHash !== 'string') return undefined;
      const header = await node.call('getblockheader', [blockHash], signal);
      const height = isObject(header) ? header['height'] : undefined;
      return isHeight(height) ? height : undefined;
    }, signal);
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
    code: network.code,
    chainId: identity.chainId,
    nodes,
    headers,
    assets: Object.entries(chainAssets).map(([currency, asset]): EvmAsset => ({
      currency,
      unitDecimals: currencies.find(({ code }) => code === currency)?.decimals,
      ...asset,
    })),
    blockTimeMs: rest.isOnDemand ? undefined : rest.blockSeconds * 1000,
  };
}

/** The height of a transaction's block; undefined if no node has a receipt of it. */
function locateOnEvm(config: EvmConfig, txHash: string, signal: AbortSignal): Promise<number | undefined> {
  return createEvmPool(config, {}).run(async (node) => {
    const receipt = await node.call('eth_getTransactionReceipt', [`0x${txHash}`], signal);
    return isObject(receipt) && receipt['blockNumber'] ? numberOf(receipt['blockNumber']) : undefined;
  }, signal);
}

function evmDeps(configured: ConfiguredNetwork, deps: ConnectDeps): EvmDeps {
  const { network, chainAssets } = configured;
  const coin = Object.entries(chainAssets).find(([, { contract }]) => contract === undefined)?.[0];
  return {
    watched: (addresses) => deps.watched(network.mode, addresses),
    ...(coin !== undefined && { openNative: () => deps.openAddresses(network, coin) }),
    warn: warnOf(configured, deps),
    now: deps.now,
  };
}

function bitcoinConfig({ network, identity, nodes, headers, chainAssets }: ConfiguredNetwork): BitcoinConfig {
  const { family, code } = network;
  const [currency] = Object.keys(chainAssets);
  if (!('genesisHash' in identity) || currency === undefined || !isBitcoinLike(family)) {
    throw new Error(`networks.${code}: has no genesis hash`);
  }
  const { mode, addressNet } = network;
  return { mode, code, family, addressNet, genesisHash: identity.genesisHash, nodes, headers, currency };
}

function isBitcoinLike(family: ConfiguredNetwork['network']['family']): family is BitcoinFamily {
  return family === 'bitcoin' || family === 'litecoin';
}

function connectionOf(chain: EvmChain): Connection {
  return { chain, unreadable: () => new Set(chain.status().assetProblems.map(({ currency }) => currency)) };
}

function warnOf({ network: { mode, code } }: ConfiguredNetwork, { log }: ConnectDeps) {
  return (message: string) => {
    log.warn({ mode, network: code }, message);
  };
}
