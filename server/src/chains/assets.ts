/** The currencies the server knows and the networks they can be paid on. */
import type { Mode } from '../db/schema.js';

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly type: 'crypto' | 'fiat';
  /** Decimals of the smallest unit that is kept. */
  readonly decimals: number;
  /** Decimals of what a payer is asked for. */
  readonly payableDecimals: number;
}

export interface Network {
  readonly code: string;
  readonly name: string;
  readonly mode: Mode;
  readonly confirmations: number;
  /** `addresses.ts` has one source for each family. */
  readonly family: 'bitcoin' | 'litecoin' | 'evm' | 'tron';
  /** By currency code. */
  readonly assets: Readonly<Record<string, Asset>>;
}

/** A currency on a network; amounts are plain decimals in it. */
export interface Asset {
  /** The smallest payable amount. */
  readonly minAmount: string;
  /** What a merchant pays for a withdrawal. */
  readonly withdrawalFee: string;
  readonly contract?: string;
}

const crypto = (code: string, name: string, decimals: number, payableDecimals: number): Currency => ({
  code,
  name,
  type: 'crypto',
  decimals,
  payableDecimals,
});

const fiat = (code: string, name: string): Currency => ({
  code,
  name,
  type: 'fiat',
  decimals: 2,
  payableDecimals: 2,
});

/** The most used first: the order of the pickers. */
export const currencies: readonly Currency[] = [
  crypto('USDT', 'Tether USD', 6, 6),
  crypto('BTC', 'Bitcoin', 8, 8),
  crypto('ETH', 'Ether', 18, 8),
  crypto('USDC', 'USD Coin', 6, 6),
  crypto('BNB', 'BNB', 18, 8),
  crypto('TRX', 'TRON', 6, 6),
  crypto('LTC', 'Litecoin', 8, 8),
  crypto('POL', 'Polygon', 18, 8),
  fiat('USD', 'US Dollar'),
  fiat('NGN', 'Nigerian Naira'),
  fiat('EUR', 'Euro'),
  fiat('GBP', 'British Pound'),
  fiat('GHS', 'Ghanaian Cedi'),
  fiat('KES', 'Kenyan Shilling'),
  fiat('ZAR', 'South African Rand'),
];

const stablecoin = (withdrawalFee: string): Asset => ({ minAmount: '0.01', withdrawalFee });

const simulated = (
  code: string,
  name: string,
  family: Network['family'],
  assets: Network['assets'],
): Network => ({ code, name, mode: 'test', confirmations: 2, family, assets });

/** Test mode's networks, the most used first. */
export const simulatedNetworks: readonly Network[] = [
  simulated('tron', 'Tron', 'tron', {
    USDT: stablecoin('0.2'),
    TRX: { minAmount: '0.1', withdrawalFee: '0.3' },
  }),
  simulated('ethereum', 'Ethereum', 'evm', {
    ETH: { minAmount: '0.00001', withdrawalFee: '0.0002' },
    USDT: stablecoin('0.5'),
    USDC: stablecoin('0.5'),
  }),
  simulated('bitcoin', 'Bitcoin', 'bitcoin', { BTC: { minAmount: '0.00001', withdrawalFee: '0.00002' } }),
  simulated('bsc', 'BNB Smart Chain', 'evm', {
    BNB: { minAmount: '0.0001', withdrawalFee: '0.0001' },
    USDT: stablecoin('0.05'),
    USDC: stablecoin('0.05'),
  }),
  simulated('base', 'Base', 'evm', {
    ETH: { minAmount: '0.00001', withdrawalFee: '0.00001' },
    USDC: stablecoin('0.02'),
  }),
  simulated('polygon', 'Polygon', 'evm', {
    POL: { minAmount: '0.01', withdrawalFee: '0.02' },
    USDT: stablecoin('0.02'),
    USDC: stablecoin('0.02'),
  }),
  simulated('litecoin', 'Litecoin', 'litecoin', { LTC: { minAmount: '0.0001', withdrawalFee: '0.0002' } }),
];
