/** The simulated networks of test mode. */
import { networkPresets, type Preset } from '../config/presets.js';
import type { Asset, Family, Network } from '../networks.js';

const stablecoin = (withdrawalFee: string): Asset => ({ minAmount: '0.01', withdrawalFee });

const usual = ({ blockSeconds, highFees }: Partial<Preset> = {}) => ({
  ...(blockSeconds !== undefined && { blockSeconds }),
  ...(highFees && { highFees }),
});

/** It has the pace and the fees of the live network with its code. */
const simulated = (code: string, name: string, family: Family, assets: Network['assets']): Network => ({
  code,
  name,
  mode: 'test',
  confirmations: 2,
  family,
  assets,
  ...usual(networkPresets[code]),
});

/** Most used first. */
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
