/**
 * The server's knowledge about each real network, in `data/networks.json`, so that a configuration needs no more than
 * a node's URL.
 */
import { readFileSync } from 'node:fs';
import { families } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

const block = z.strictObject({ height: z.int(), hash: z.string() });
const amount = z.strictObject({ amount: z.string(), currency: z.string() });

/**
 * The identity that a node must report: the id of its chain, or the hashes of block 0 and of a block after all forks
 * that kept that one. Forks of EVM networks have another chain id.
 */
const identity = z.union([
  z.strictObject({ chainId: z.int() }),
  z.strictObject({ genesisHash: z.string(), checkpoint: z.optional(block) }),
]);
export type ChainIdentity = z.output<typeof identity>;

/** Pages of a block explorer. */
const explorer = z.strictObject({
  /** With `{txHash}`. */
  tx: z.string(),
  /** With `{address}`. */
  address: z.string(),
  /** With `{height}`. Absent where every payment has a transaction. */
  block: z.optional(z.string()),
});
export type Explorer = z.output<typeof explorer>;

/** Etherscan, mempool.space, and the explorers of their kind, by their address. */
const usualExplorer = z.pipe(
  z.string(),
  z.transform((url): Explorer => ({
    tx: `${url}/tx/{txHash}`,
    address: `${url}/address/{address}`,
    block: `${url}/block/{height}`,
  })),
);

const asset = z.strictObject({
  /** The token's contract; absent for the network's own coin. */
  contract: z.optional(z.string()),
  /** Decimals of the amounts on the chain. The books may have fewer. */
  decimals: z.int(),
  /** The smallest payable amount, as a decimal. */
  minAmount: z.string(),
});
export type PresetAsset = z.output<typeof asset>;

const preset = z.strictObject({
  note: z.optional(z.string()),
  name: z.string(),
  mode: z.enum(['test', 'live']),
  family: z.enum(families),
  addressNet: z.enum(['main', 'test', 'regtest']),
  identity,
  /** A number for all amounts, or a rule for each limit of value; see `Network.depths`. */
  confirmations: z.union([
    z.int(),
    z.array(z.strictObject({ upTo: z.optional(amount), confirmations: z.nullable(z.int()) })),
  ]),
  /** The usual time until a block is final. */
  finalitySeconds: z.optional(z.int()),
  /** The usual time between two blocks. */
  blockSeconds: z.number(),
  /** Set only if it is not 6: where fees are bid up, blocks can be full for a day. */
  inclusionHours: z.optional(z.int()),
  networkFee: z.optional(z.strictObject({ coin: z.number(), token: z.optional(z.number()) })),
  /** Blocks are made only on demand, so an old one does not indicate a bad node. */
  isOnDemand: z.optional(z.literal(true)),
  explorer: z.optional(z.union([usualExplorer, explorer])),
  /** Published by the network for everybody. The server never asks it: it is for the payer's wallet. */
  walletRpcUrl: z.optional(z.string()),
  /** Keyed by currency code. The network's own coin comes first. */
  assets: z.record(z.string(), asset),
  /** The part of it that the simulated network of test mode with the same code offers. None without it. */
  simulated: z.optional(
    z.record(z.string(), z.strictObject({ minAmount: z.string(), withdrawalFee: z.string() })),
  ),
});
export type Preset = z.output<typeof preset>;

const file = z.strictObject({ about: z.string(), networks: z.record(z.string(), preset) });

/** Keyed by code, the most used network first. */
export const networkPresets: Readonly<Record<string, Preset>> = file.parse(
  JSON.parse(readFileSync(new URL('../../../data/networks.json', import.meta.url), 'utf8')),
).networks;
