/** Amounts as the pages and messages for payers write them: with at least two decimals. */
const plain = new Intl.NumberFormat('en', {
  useGrouping: false,
  minimumFractionDigits: 2,
  maximumFractionDigits: 20,
});
const prices = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

/** `49.90 USDT`, of coins: in the form in which a wallet takes it. */
export function money(amount: number, currency: string): string {
  return `${plain.format(amount)} ${currency}`;
}

/** `1,249.90 USD`. */
export function price(amount: number, currency: string): string {
  return `${prices.format(amount)} ${currency}`;
}
