/**
 * The texts up to the QR code, in English. `{name}` is a placeholder. Another language has the same keys; where a word depends on
 * a number, a text can be a function of the values, which returns the text with its placeholders.
 */
import type { enAfterQr } from './en-after-qr.js';
import type { enOffer } from './en-offer.js';
import type { enTransfer } from './en-transfer.js';
import { enStart } from './en-start.js';
import type { TextValues } from './plural.js';

export const en = {
  ...enStart,

  changedStatus:
    'The shop changed the price from {old} to {amount}. Your earlier payment is cancelled: send nothing to its address.',

  back: 'Back',
  cancel: 'Cancel payment',
  restart: 'Use another coin',
  continuePayment: 'Continue payment',
  continue: 'Continue',
  reconnecting: 'Reconnecting…',
  joined: 'This payment is already open in another tab. Here it is.',
  loading: 'Loading…',
  close: 'Close',

  currency: 'Currency',
  currencyHeading: 'Choose a coin',
  currencyStatus: 'Choose the coin you want to pay with.',
  search: 'Search coins',
  noMatch: 'No coin matches “{query}”.',
  noOptions: 'The shop offers no coins right now. Try again later.',
  lastUsed: 'Last used',
  network: 'Network',
  networkHeading: 'Choose a network',
  networkStatus: 'Choose the network you will send {currency} on.',
  networkWarning:
    'Your wallet or exchange must send on the same network. Coins sent on another one can be lost.',
  lowestFee: 'Lowest fee',
  networkFeeHigh: 'Higher network fee',
  minutes: 'about {minutes} min',
  settingStatus: 'Getting the price…',
  quotedHeading: 'Locking your rate…',
  quotedStatus: 'You pay about {amount} on {network}.',

  awaitingHeading: 'Send your payment',
  awaitingStatus: 'Send exactly {amount} on {network} before {time}.',
  partialHeading: 'Send the rest',
  partialSeen: '{seen} seen, {confirmed} confirmed.',
  partialRest: 'Send the remaining {due} (about {worth}) before {time}.',
  copyAmount: 'Copy amount',
  copyAddress: 'Copy address',
  amount: 'Amount',
  copiedShort: 'Copied',
  amountCopied: 'Amount copied: {amount}',
  addressCopied: 'Address copied. Send only {currency} on {network}.',
  address: 'Address',
  addressWarning: 'Send only {currency} on {network}. Anything else can be lost.',
  openInWallet: 'Open in wallet',
  qr: 'QR code',
  qrAddress: 'QR code of the address {address}',
  qrPayment: 'QR code to pay {amount} to {address}',
  qrHoldsAddress: 'Contains the address only. Enter {amount} yourself.',
  qrHoldsAmount: 'Contains the address and the amount.',
  qrFailed: 'The QR code did not load. Copy the address instead.',
  timeLeft: 'Time left',
  soon: 'Ending soon',
  urgent: 'Last minute',
  rate: 'Rate, fixed until {time}',
  rateValue: '1 {currency} ≈ {price}',
  fee: 'Fee',
  feeValue: 'Only your wallet’s network fee',
  checkNow: 'Check now',
  watching: 'Watching the network',
  checking: 'Checking…',
} as const;

type FirstKey = keyof typeof en | keyof typeof enOffer;
export type MessageKey = FirstKey | keyof typeof enAfterQr | keyof typeof enTransfer;
/** A text, or a function that picks one by the values. */
export type Text = string | ((values: TextValues) => string);
export type Messages = Readonly<Record<MessageKey, Text>>;
/** The texts of a language up to the QR code. */
export type FirstMessages = Readonly<Record<FirstKey, Text>>;
/** The rest, which loads when it is needed. */
export type AfterQrMessages = Readonly<Record<keyof typeof enAfterQr, Text>>;
/** The texts of the transfer check, which load when it is opened. */
export type TransferMessages = Readonly<Record<keyof typeof enTransfer, Text>>;
