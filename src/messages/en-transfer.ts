/** The check of a transfer, in English. It loads when it is opened. */

export const enTransfer = {
  transferField: 'Transaction hash or explorer link',
  transferAsk: 'Check',
  transferNoHash:
    'That contains no transaction hash: 64 digits and letters from a to f, in the history of your wallet or exchange.',
  transferSecret:
    'That looks like a private key or the words of a wallet. It was not sent. Anyone who knows it can spend everything: move the coins to a new wallet.',
  transferPaid: 'It paid this payment: {amount} on {network}. Confirmations: {confirmations} of {required}.',
  transferOtherCoin:
    'It brought {amount} on {network} to the shop, but this payment takes {currency} on {asked}. Ask the shop for it.',
  transferOtherAddress:
    'It is on {network}, but paid nothing to this address. Compare the address in your wallet or exchange.',
  transferFailed: 'It failed on {network}: nothing was sent.',
  transferUnknown:
    '{network} does not know it yet. Check again in some minutes. If you sent on another network, ask the shop.',
  transferWait:
    'You have checked too often. Try again in {seconds} s; we are still watching for the payment.',
} as const;

export { enTransfer as texts };
