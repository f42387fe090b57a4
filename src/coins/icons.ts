/** The drawings of coins, white on a colour in a square of 32. `npm run lists` writes this file from `server/data/currencies.json`. */
export interface Glyph {
  readonly colour: string;
  readonly line?: string;
  readonly solid?: string;
  /** Degrees clockwise. */
  readonly tilt?: number;
}

export const coins: Readonly<Record<string, Glyph>> = {
  USDT: {
    colour: '#1f9b76',
    line: 'M9.5 9.5h13M16 9.5V25m0-11.6c-4.4 0-7.8.9-7.8 2.2s3.4 2.2 7.8 2.2 7.8-.9 7.8-2.2-3.4-2.2-7.8-2.2z',
  },
  BTC: {
    colour: '#f7931a',
    line: 'M10.5 10h7a3 3 0 0 1 0 6H13h5.3a3 3 0 0 1 0 6h-7.8M13 10v12M14.2 7v3m3.4-3v3m-3.4 12v3m3.4-3v3',
    tilt: 12,
  },
  ETH: { colour: '#627eea', solid: 'M16 5 9 16.4l7 4.1 7-4.1zM9 18.4 16 28l7-9.6-7 4.1z' },
  USDC: {
    colour: '#2775ca',
    line: 'M19.4 13c-.3-1.5-1.6-2.4-3.4-2.4s-3.4.9-3.4 2.5c0 3.9 7 1.9 7 5.8 0 1.6-1.6 2.5-3.6 2.5s-3.4-.9-3.7-2.5M16 8.4v2.2m0 10.8v2.2M12.2 6.7a10 10 0 0 0 0 18.6m7.6-18.6a10 10 0 0 1 0 18.6',
  },
  BNB: {
    colour: '#e0a800',
    line: 'm10.8 13.2 5.2-5.2 5.2 5.2m-10.4 5.6 5.2 5.2 5.2-5.2',
    solid:
      'm16 12.8 3.2 3.2-3.2 3.2-3.2-3.2zM8.3 13.6l2.4 2.4-2.4 2.4L5.9 16zm15.4 0 2.4 2.4-2.4 2.4-2.4-2.4z',
  },
  TRX: {
    colour: '#e50914',
    line: 'M7.5 9 15 25l9.5-10.6L21.4 11zm0 0 9.3 7L15 25m1.8-9 4.6-5m-4.6 5 7.7-1.6',
  },
  LTC: { colour: '#345d9d', line: 'M16.8 7.5 12.6 24H22M10 19.2l9.5-4.4' },
  POL: {
    colour: '#8247e5',
    line: 'm11.4 13.4 4.2 2.4v4.8l-4.2 2.4-4.2-2.4v-4.8zm9.2-4.4 4.2 2.4v4.8l-4.2 2.4-4.2-2.4v-4.8z',
  },
};
