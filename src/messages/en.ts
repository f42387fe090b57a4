/** All texts of the widget, in English. `{name}` is a placeholder. Other languages use the same keys. */
export const en = {
  idleHeading: 'Pay with crypto',
  idleStatus: 'Pay from any wallet or exchange.',
  pay: 'Pay',
  creatingStatus: 'Starting the payment…',
  failedHeading: 'The payment could not start',
  failedStatus: 'Nothing was charged.',
  tryAgain: 'Try again',

  order: 'Order {reference}',
  total: 'Total',
  back: 'Back',
  cancel: 'Cancel payment',
  continue: 'Continue',
  reconnecting: 'Reconnecting…',

  currency: 'Currency',
  currencyHeading: 'Choose a coin',
  currencyStatus: 'Choose the coin you want to pay with.',
  search: 'Search coins',
  noMatch: 'No coin matches “{query}”.',
  noOptions: 'The shop offers no coins right now. Try again later.',
  network: 'Network',
  networkHeading: 'Choose a network',
  networkStatus: 'Choose the network you will send {currency} on.',
  networkWarning:
    'Your wallet or exchange must send on the same network. Coins sent on another one can be lost.',
  networkFeeLow: 'Low network fee',
  networkFeeHigh: 'Higher network fee',
  minutes: 'about {minutes} min',

  quotedHeading: 'Check your choice',
  quotedStatus: 'Continue to lock the price and see where to pay.',
  youPay: 'You pay',
  lockingStatus: 'Locking the price…',

  awaitingHeading: 'Send exactly this amount',
  awaitingStatus: 'Waiting for your {currency} on {network}.',
  partialHeading: 'Send the rest',
  partialStatus: '{seen} arrived, {due} is left. Send it to the same address.',
  confirmingHeading: 'Payment found',
  confirmingStatus:
    'Your {seen} is on its way: {confirmations} of {required} confirmations. You do not need to do anything.',
  iHavePaid: 'I have paid',
  checkNow: 'Check now',
  timeLeft: 'Time left',
  timeUp: 'Time is up. Checking whether your payment arrived…',
  fiveMinutes: '5 minutes left to pay.',
  oneMinute: '1 minute left to pay.',
  thirtySeconds: '30 seconds left to pay.',
  copyAmount: 'Copy amount',
  copyAddress: 'Copy address',
  copied: 'Copied.',
  copyFailed: 'Copying is blocked here. Select the text instead.',
  address: '{currency} address on {network}',
  addressWarning: 'Send only {currency} on {network}. Anything else can be lost.',
  qrAddress: 'QR code of the address {address}',
  qrPayment: 'QR code to pay {amount} to {address}',
  qrHoldsAddress: 'Contains the address. Enter the amount yourself.',
  qrHoldsAmount: 'Contains the address and the amount.',
  qrFailed: 'The QR code did not load. Copy the address instead.',
  openInWallet: 'Open in wallet',
  exchange: 'I pay from an exchange',
  exchangeNote: 'Exchanges take a fee from what you enter. Set the withdrawal so that this arrives in full:',
  exchangeAmount: 'Amount that must arrive',
  exchangeFee: '“You receive” must show {amount}. If it does not, add the fee to the amount.',
  log: 'Time log',
  copyLog: 'Copy as text',

  successHeading: 'Payment complete',
  successStatus: 'The shop has received {amount}. Thank you.',
  successOver:
    'You sent {seen}, more than the {amount} that was due. The shop has the excess: ask it for a refund.',
  successLate: 'Your payment came after the time limit, and the shop has accepted it.',
  copyReceipt: 'Copy receipt',
  receipt: 'Payment {id}',
  backToShop: 'Continue to {host}',
  redirecting: 'Back to the shop in {seconds} s.',
  stay: 'Stay here',

  errorHeading: 'Payment not accepted',
  errorStatus: 'The payment could not be completed. Ask the shop what happens with anything you sent.',
  invalidStatus: 'What arrived is not the coin that was asked for. The shop has it: ask for a refund.',
  reversedStatus:
    'The network took your payment back after it was complete. Ask your wallet or exchange what happened.',
  expiredHeading: 'Time is up',
  expiredStatus: 'Nothing arrived in time. Do not send to the old address.',
  expiredPartial: '{seen} of {amount} arrived in time. The shop has it: ask for a refund or start again.',
  expiredLate:
    '{seen} came after the time limit and does not cover the price. The shop has it: ask what happens next.',
  cancelledHeading: 'Payment cancelled',
  cancelledStatus: 'Do not send to the old address.',
  endedUnlocked: 'Nothing was sent, and nothing is owed.',
  cancelledPaid: 'Your {seen} came after the payment was cancelled. The shop has it: ask for a refund.',
  newPayment: 'Start a new payment',

  problemNetwork: 'No connection to the payment service. Try again.',
  problemBusy: 'The payment service is busy. Try again in a moment.',
  problemBelowMinimum: 'The total is too small for this coin. Choose another one.',
  problemUnsupported: 'This coin cannot be used right now. Choose another one.',
  problemNotFound: 'This payment was not found. Ask the shop for a new link.',
  problemState: 'This step is no longer possible. Here is where the payment stands.',
  problemReply: 'The payment service sent an unexpected answer. Try again, or ask the shop.',
  problemShop: 'The shop’s payment settings are not right. Please tell the shop.',
  problemReference: 'Reference for support: {requestId}',
} as const;

export type MessageKey = keyof typeof en;
export type Messages = Readonly<Record<MessageKey, string>>;

/** Fills in a text's placeholders. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
