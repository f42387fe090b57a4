/** The English texts of the pay button: all that the element needs before a payment starts. The rest is in en.ts. */
export const enStart = {
  testMode: 'Test mode: simulated coins. Real money sent here is lost.',
  order: 'Order {reference}',
  total: 'Total',
  items: 'Your order',
  quantity: '{name} × {quantity}',

  idleHeading: 'Pay with crypto',
  idleStatus: 'Pay from any wallet or exchange.',
  pay: 'Pay',
  payAmount: 'Pay {amount}',
  creatingStatus: 'Starting the payment…',
  failedHeading: 'Could not start',
  failedStatus: 'Try again. If it still fails, ask the shop.',
  tryAgain: 'Try again',

  secretKey: 'This is a secret key. Revoke it now.',
  problemShop: 'The shop’s payment settings are wrong. Please contact the shop.',
  problemNetwork: 'No connection to the payment service. Try again.',

  openCheckout: 'Pay with crypto',
  formRequired: 'Complete the payment before you submit this form.',
} as const;
