/**
 * What the server knows about each real network, so that a configuration needs no more than a node's URL.
 *
 * Chain ids: https://chainid.network. Genesis hashes: `chainparams.cpp` of Bitcoin Core and Litecoin Core. Token contracts:
 * https://developers.circle.com/stablecoins/usdc-contract-addresses (USDC), https://tether.to/en/supported-protocols
 * (USDT on Ethereum and Tron), and the tokens' pages in the networks' explorers (USDT on Polygon and Arbitrum; USDT and
 * USDC on BNB Chain are pegged by Binance and have 18 decimals). Left out, because more than one token has the name, or
 * none is issued: USDT on Base and Optimism, USDC on Tron.
 */
import type { Mode } from '../../shared/scope.js';
import type { BlockId } from '../chain.js';
import type { AddressNet, Asset, Depth, DepthRule, Family, NetworkFee } from '../networks.js';

/**
 * What a node must say about itself: the id of its chain, or the hashes of block 0 and of a block after all forks that kept that
 * one. Forks of EVM networks have another chain id.
 */
export type ChainIdentity =
  | { readonly chainId: number }
  | {
      /** 64 lower-case hexadecimal digits. */
      readonly genesisHash: string;
      readonly checkpoint?: BlockId;
    };

export interface PresetAsset {
  /** The token's contract; absent for the network's own coin. */
  readonly contract?: string;
  /** Decimals of the amounts on the chain. The books may have fewer. */
  readonly decimals: number;
  /** The smallest payable amount, as a decimal. */
  readonly minAmount: string;
  /** On the simulated network of test mode with the preset's code. Without it, the asset is not simulated. */
  readonly simulated?: Asset;
}

export interface Preset {
  readonly mode: Mode;
  readonly name: string;
  readonly family: Family;
  readonly addressNet: AddressNet;
  readonly identity: ChainIdentity;
  /** A number for all amounts, or a rule for each limit of value; see `Network.depths`. */
  readonly confirmations: number | readonly [DepthRule & { readonly confirmations: number }, ...DepthRule[]];
  /** How long it usually takes until a block is final. */
  readonly finalitySeconds?: number;
  /** The usual time between two blocks. */
  readonly blockSeconds: number;
  /** If it is not 6: blocks can be full for a day where fees are bid up. */
  readonly inclusionHours?: number;
  readonly networkFee?: NetworkFee;
  /** Blocks are made on demand alone, so that an old one says nothing about the node. */
  readonly isOnDemand?: true;
  readonly explorer?: Explorer;
  /** Published by the network for everybody. The server never asks it: it is for the payer's wallet. */
  readonly walletRpcUrl?: string;
  /** By currency code. The network's own coin comes first. */
  readonly assets: Readonly<Record<string, PresetAsset>>;
}

/** Pages of a block explorer. */
export interface Explorer {
  /** With `{txHash}`. */
  readonly tx: string;
  /** With `{address}`. */
  readonly address: string;
  /** With `{height}`. Absent where every payment has a transaction. */
  readonly block?: string | undefined;
}

const coin = (decimals: number, minAmount: string, simulated?: Asset): PresetAsset => ({
  decimals,
  minAmount,
  ...(simulated && { simulated }),
});
const token = (contract: string, ...rest: Parameters<typeof coin>): PresetAsset => ({
  contract,
  ...coin(...rest),
});
const inTestMode = (minAmount: string, withdrawalFee: string): Asset => ({ minAmount, withdrawalFee });
/** Etherscan, mempool.space, and the explorers of their kind. */
const explorer = (url: string): Explorer => ({
  tx: `${url}/tx/{txHash}`,
  address: `${url}/address/{address}`,
  block: `${url}/block/{height}`,
});

/** Fewer confirmations for amounts up to so many US dollars. */
function upTo(dollars: string, few: number, many: Depth) {
  return [
    { upTo: { amount: dollars, currency: 'USD' }, confirmations: few },
    { confirmations: many },
  ] as const;
}

const evm = { family: 'evm', addressNet: 'main' } as const;
const evmTest = { family: 'evm', addressNet: 'test' } as const;
const live = { mode: 'live', confirmations: upTo('50000', 12, 64) } as const;
/**
 * On layer 2, a block is at first no more than the promise of one sequencer, however many follow it. It is final when Ethereum has
 * it. That takes a quarter of an hour, too long for small amounts.
 */
const layer2 = { mode: 'live', confirmations: upTo('1000', 12, null), finalitySeconds: 1200 } as const;
const test = { mode: 'test', confirmations: 2 } as const;

/** Most used first: the simulated networks are listed in this order. */
const presets = {
  tron: {
    mode: 'live',
    name: 'Tron',
    family: 'tron',
    addressNet: 'main',
    // The last four bytes of the hash of its first block, 00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc.
    identity: { chainId: 0x2b6653dc },
    confirmations: 19,
    blockSeconds: 3,
    // Wallets without energy burn coins for a token, and twice as many if the address is new, as those of payments are.
    networkFee: { coin: 0.1, token: 3 },
    explorer: {
      tx: 'https://tronscan.org/#/transaction/{txHash}',
      address: 'https://tronscan.org/#/address/{address}',
    },
    assets: {
      TRX: coin(6, '1', inTestMode('0.1', '0.3')),
      USDT: token('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 6, '1', inTestMode('0.01', '0.2')),
    },
  },
  ethereum: {
    ...live,
    ...evm,
    name: 'Ethereum',
    identity: { chainId: 1 },
    blockSeconds: 12,
    networkFee: { coin: 0.3, token: 0.8 },
    explorer: explorer('https://etherscan.io'),
    assets: {
      ETH: coin(18, '0.0005', inTestMode('0.00001', '0.0002')),
      USDT: token('0xdAC17F958D2ee523a2206206994597C13D831ec7', 6, '1', inTestMode('0.01', '0.5')),
      USDC: token('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6, '1', inTestMode('0.01', '0.5')),
    },
  },
  bitcoin: {
    mode: 'live',
    name: 'Bitcoin',
    family: 'bitcoin',
    addressNet: 'main',
    identity: {
      genesisHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      // Bitcoin Cash left at 478559, the last known fork at 525000. `m_assumeutxo_data` of Bitcoin Core has this block.
      checkpoint: {
        height: 840_000,
        hash: '0000000000000000000320283a032748cef8227873ff4872689bf23f1cda83a5',
      },
    },
    confirmations: upTo('10000', 2, 6),
    blockSeconds: 600,
    inclusionHours: 24,
    networkFee: { coin: 1 },
    explorer: explorer('https://mempool.space'),
    assets: { BTC: coin(8, '0.00002', inTestMode('0.00001', '0.00002')) },
  },
  bsc: {
    ...live,
    ...evm,
    name: 'BNB Smart Chain',
    identity: { chainId: 56 },
    blockSeconds: 1,
    networkFee: { coin: 0.02 },
    explorer: explorer('https://bscscan.com'),
    walletRpcUrl: 'https://bsc-dataseed.bnbchain.org',
    assets: {
      BNB: coin(18, '0.0005', inTestMode('0.0001', '0.0001')),
      USDT: token('0x55d398326f99059fF775485246999027B3197955', 18, '0.1', inTestMode('0.01', '0.05')),
      USDC: token('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18, '0.1', inTestMode('0.01', '0.05')),
    },
  },
  base: {
    ...layer2,
    ...evm,
    name: 'Base',
    identity: { chainId: 8453 },
    blockSeconds: 2,
    networkFee: { coin: 0.01 },
    explorer: explorer('https://basescan.org'),
    walletRpcUrl: 'https://mainnet.base.org',
    assets: {
      ETH: coin(18, '0.0001', inTestMode('0.00001', '0.00001')),
      USDC: token('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6, '0.1', inTestMode('0.01', '0.02')),
    },
  },
  polygon: {
    ...live,
    ...evm,
    name: 'Polygon',
    identity: { chainId: 137 },
    blockSeconds: 2,
    networkFee: { coin: 0.01 },
    explorer: explorer('https://polygonscan.com'),
    walletRpcUrl: 'https://polygon-rpc.com',
    assets: {
      POL: coin(18, '0.1', inTestMode('0.01', '0.02')),
      USDT: token('0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6, '0.1', inTestMode('0.01', '0.02')),
      USDC: token('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 6, '0.1', inTestMode('0.01', '0.02')),
    },
  },
  arbitrum: {
    ...layer2,
    ...evm,
    name: 'Arbitrum One',
    identity: { chainId: 42161 },
    blockSeconds: 0.25,
    networkFee: { coin: 0.02 },
    explorer: explorer('https://arbiscan.io'),
    walletRpcUrl: 'https://arb1.arbitrum.io/rpc',
    assets: {
      ETH: coin(18, '0.0001'),
      USDT: token('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6, '0.1'),
      USDC: token('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6, '0.1'),
    },
  },
  optimism: {
    ...layer2,
    ...evm,
    name: 'OP Mainnet',
    identity: { chainId: 10 },
    blockSeconds: 2,
    networkFee: { coin: 0.01 },
    explorer: explorer('https://optimistic.etherscan.io'),
    walletRpcUrl: 'https://mainnet.optimism.io',
    assets: {
      ETH: coin(18, '0.0001'),
      USDC: token('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 6, '0.1'),
    },
  },
  litecoin: {
    mode: 'live',
    name: 'Litecoin',
    family: 'litecoin',
    addressNet: 'main',
    identity: {
      genesisHash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
      // Litecoin Cash left at 1371112. This is the `defaultAssumeValid` of Litecoin Core 0.21.4.
      checkpoint: {
        height: 2_772_730,
        hash: '80cdb35c080484df5bf384b311fde3c4694d3405765bc0f596e9eb369ff286e5',
      },
    },
    confirmations: upTo('10000', 6, 12),
    blockSeconds: 150,
    networkFee: { coin: 0.01 },
    explorer: explorer('https://litecoinspace.org'),
    assets: { LTC: coin(8, '0.001', inTestMode('0.0001', '0.0002')) },
  },
  sepolia: {
    ...test,
    ...evmTest,
    name: 'Sepolia',
    identity: { chainId: 11_155_111 },
    blockSeconds: 12,
    explorer: explorer('https://sepolia.etherscan.io'),
    assets: {
      ETH: coin(18, '0.00001'),
      USDC: token('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 6, '0.01'),
    },
  },
  'base-sepolia': {
    ...test,
    ...evmTest,
    name: 'Base Sepolia',
    identity: { chainId: 84_532 },
    blockSeconds: 2,
    explorer: explorer('https://sepolia.basescan.org'),
    walletRpcUrl: 'https://sepolia.base.org',
    assets: {
      ETH: coin(18, '0.00001'),
      USDC: token('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 6, '0.01'),
    },
  },
  'bitcoin-testnet4': {
    mode: 'test',
    name: 'Bitcoin testnet4',
    family: 'bitcoin',
    addressNet: 'test',
    identity: { genesisHash: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043' },
    confirmations: 1,
    blockSeconds: 600,
    explorer: explorer('https://mempool.space/testnet4'),
    assets: { BTC: coin(8, '0.00001') },
  },
  'bitcoin-regtest': {
    mode: 'test',
    name: 'Bitcoin regtest',
    family: 'bitcoin',
    addressNet: 'regtest',
    identity: { genesisHash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206' },
    confirmations: 2,
    blockSeconds: 1,
    isOnDemand: true,
    assets: { BTC: coin(8, '0.00001') },
  },
  'litecoin-testnet': {
    mode: 'test',
    name: 'Litecoin testnet',
    family: 'litecoin',
    addressNet: 'test',
    identity: { genesisHash: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0' },
    confirmations: 2,
    blockSeconds: 150,
    explorer: explorer('https://litecoinspace.org/testnet'),
    assets: { LTC: coin(8, '0.0001') },
  },
  'litecoin-regtest': {
    mode: 'test',
    name: 'Litecoin regtest',
    family: 'litecoin',
    addressNet: 'regtest',
    identity: { genesisHash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9' },
    confirmations: 2,
    blockSeconds: 1,
    isOnDemand: true,
    assets: { LTC: coin(8, '0.0001') },
  },
  'tron-nile': {
    ...test,
    name: 'Tron Nile',
    family: 'tron',
    addressNet: 'test',
    identity: { chainId: 0xcd8690dc },
    blockSeconds: 3,
    explorer: {
      tx: 'https://nile.tronscan.org/#/transaction/{txHash}',
      address: 'https://nile.tronscan.org/#/address/{address}',
    },
    assets: {
      TRX: coin(6, '0.1'),
      USDT: token('TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', 6, '0.01'),
    },
  },
  'evm-dev': {
    ...test,
    ...evmTest,
    name: 'EVM development chain',
    // The default of anvil and Hardhat.
    identity: { chainId: 31_337 },
    blockSeconds: 1,
    isOnDemand: true,
    assets: { ETH: coin(18, '0.00001') },
  },
} as const satisfies Readonly<Record<string, Preset>>;

export const networkPresets: Readonly<Record<string, Preset>> = presets;
