/** Connects to networks of Bitcoin's kind. */
import { chainDeps, nodesConfig } from '../adapter-parts.js';
import { coinOf } from '../../../core/chains/assets.js';
import type { Adapter } from '../connect.js';
import { createBitcoinChain } from './bitcoin-chain.js';
import type { BitcoinConfig } from './bitcoin-nodes.js';
import { checkBitcoinNetwork } from './check-network.js';
import { createUtxoNode, locateTransaction, readTransactionFee } from './utxo-node.js';

export const bitcoinAdapter: Adapter = (configured, deps) => {
  const { network, identity, chainAssets } = configured;
  const { family, addressNet } = network;
  const coin = coinOf(chainAssets);
  if (!('genesisHash' in identity) || !coin) {
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
