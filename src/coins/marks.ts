/** Simple drawings of coins, white lines on a colour in a square of 24, for the card of the pay button. `npm run lists` writes this file from `server/data/currencies.json`. */
export const marks: Readonly<Record<string, readonly [colour: string, line?: string]>> = {
  USDT: ['#1f9b76', 'M7 7.5h10m-5 0V18m-5-6.2c0 2.3 10 2.3 10 0'],
  BTC: [
    '#f7931a',
    'M8.8 7.5h4.4a2.2 2.2 0 0 1 0 4.5H10h3.8a2.3 2.3 0 0 1 0 4.5h-5m1.7-9v9m.7-11v2m2.2-2v2m-2.2 9v2m2.2-2v2',
  ],
  ETH: ['#627eea', 'm12 5-4.5 7.3L12 15l4.5-2.7zM7.5 14.8l4.5 4.7 4.5-4.7'],
  USDC: [
    '#2775ca',
    'M15 9.4c-.2-1.2-1.3-1.9-3-1.9s-3 .8-3 2.2c0 3.2 6.2 1.5 6.2 4.7 0 1.3-1.3 2.1-3.2 2.1-1.8 0-3-.8-3.2-2.1M12 5.5v2m0 9v2',
  ],
  BNB: ['#e0a800', 'm7.8 10 4.2-4.2 4.2 4.2m-8.4 4 4.2 4.2 4.2-4.2M12 10.2l1.8 1.8-1.8 1.8-1.8-1.8z'],
  TRX: ['#e50914'],
  LTC: ['#345d9d'],
  POL: ['#8247e5'],
};
