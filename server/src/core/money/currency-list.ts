/** The currencies of the server. To add one, add a row. */

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly type: 'crypto' | 'fiat';
  /** Decimals of the smallest unit, in which amounts are stored. */
  readonly decimals: number;
  /** The most decimals that a payer is asked for. Few for stablecoins: people type them from a screen into an exchange. */
  readonly payableDecimals: number;
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

/** Most used first, the order in which pickers show them. */
export const currencies: readonly Currency[] = [
  crypto('USDT', 'Tether USD', 6, 2),
  crypto('BTC', 'Bitcoin', 8, 8),
  crypto('ETH', 'Ether', 18, 8),
  crypto('USDC', 'USD Coin', 6, 2),
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
