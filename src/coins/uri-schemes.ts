/** The URI schemes of coins that have one in BIP-21. `npm run lists` writes this file from `server/data/currencies.json`. */
export const uriSchemes: Readonly<Record<string, string>> = { BTC: 'bitcoin', LTC: 'litecoin' };
