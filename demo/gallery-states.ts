/** One entry for each state of the checkout, with the payment that a server would report for it. */
import type { Payment } from 'crypto-checkout';
import type { TransferCheck } from 'crypto-checkout/contract';
import { isInGroup, payment as paymentSchema, statusOf, type PaymentState } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

export interface GalleryState {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** The server's answer; without it there is no payment yet. */
  readonly payment?: Payment;
  /** A transfer that the payer has checked, and its relation to the payment. */
  readonly transfer?: TransferCheck;
  /** Calls that the server refuses, or never answers. */
  readonly trouble?: Readonly<Partial<Record<'create' | 'set' | 'lock' | 'verify', 'hangs' | 'fails'>>>;
}

const hour = 3_600_000;
const startedAt = Date.now() - 4 * 60_000;
const at = (minutes: number) => new Date(startedAt + minutes * 60_000).toISOString();
const txHash = '7f3a1c0de5b94422a1c35f0b6c1f0c9de0a4a7be22d94c41b5e7c36d1fa9082b';

const option = (
  currency: string,
  name: string,
  network: string,
  networkName: string,
  amount: number,
  confirmations: number,
  blockSeconds: number,
  isCostly = false,
) => ({
  currency,
  name,
  network,
  networkName,
  amount,
  fee: 0.01,
  minAmount: 0.00001,
  confirmations,
  blockSeconds,
  isCostly,
  networkFee: isCostly ? 3 : blockSeconds / 100,
});

const currencyOptions = [
  option('USDT', 'Tether USD', 'tron', 'Tron', 49.9, 19, 3, true),
  option('USDT', 'Tether USD', 'ethereum', 'Ethereum', 49.9, 12, 12, true),
  option('USDT', 'Tether USD', 'bsc', 'BNB Smart Chain', 49.9, 12, 1),
  option('USDC', 'USD Coin', 'base', 'Base', 49.91, 12, 2),
  option('BTC', 'Bitcoin', 'bitcoin', 'Bitcoin', 0.00048213, 2, 600, true),
  option('ETH', 'Ether', 'ethereum', 'Ethereum', 0.01341002, 12, 12, true),
  option('LTC', 'Litecoin', 'litecoin', 'Litecoin', 0.45120034, 6, 150),
];

const entry = (minutes: number, type: 'event' | 'success' | 'error', code: string, values = {}) => ({
  time: at(minutes),
  type,
  event: code.replaceAll('_', ' '),
  code,
  values,
});
const usdt = { currency: 'USDT', network: 'tron' };
const startLog = [
  entry(0, 'event', 'payment_started'),
  entry(1, 'event', 'currency_set', usdt),
  entry(1, 'event', 'currency_locked', { ...usdt, amount: '49.90' }),
];

const receipt = (amount: number, confirmations: number, changes = {}) => ({
  ...usdt,
  amount,
  txHash,
  explorerUrl: `https://explorer.example/tx/${txHash}`,
  confirmations,
  requiredConfirmations: 19,
  firstSeenAt: at(2),
  status: confirmations >= 19 ? 'confirmed' : 'seen',
  counts: true,
  ...changes,
});

let count = 0;

/** Parsed by the contract's own schema, so that the gallery shows only what a server can send. */
function fixture(state: PaymentState, changes: Record<string, unknown> = {}): Payment {
  count += 1;
  const status = statusOf(state);
  const isLocked = !isInGroup(state, 'choosing');
  const isChosen = state !== 'created';
  return z.parse(paymentSchema, {
    id: `gallery${count}`,
    mode: 'test',
    status,
    state,
    description: 'Payment from A. E.',
    txRef: 'order-42',
    redirectUrl: '',
    ...(isChosen && {
      currency: 'USDT',
      currencyName: 'Tether USD',
      currencyNetwork: 'tron',
      networkName: 'Tron',
      blockSeconds: 3,
      amount: 49.9,
      confirmationsRequired: 19,
      confirmations: 0,
      amountReceived: 0,
      amountSeen: 0,
      amountDue: 49.9,
    }),
    baseAmount: 49.9,
    baseCurrency: 'USD',
    currencies: [],
    ...(!isLocked && { currencyOptions }),
    expiresBy: Date.now() + hour / 2,
    receiptUrl: `https://pay.example/receipt/gallery${count}`,
    transactionFees: 0.5,
    totalDue: 49.9,
    customer: 'a…@example.com',
    ...(isLocked && {
      addressInformation: { address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', network: 'tron', id: 'a1' },
    }),
    addressSentFrom: [],
    transactionTimeLog: isLocked ? startLog : startLog.slice(0, 1),
    receipts: [],
    isCurrencyLocked: isLocked,
    createdAt: at(0),
    branding: {
      id: 'm1',
      businessName: 'Nightjar Lanterns',
      name: 'Nightjar',
      logo: '',
      supportUrl: 'https://nightjar.example/help',
      createdAt: at(0),
      updatedAt: at(0),
    },
    ...changes,
  });
}

const paid = { amountReceived: 49.9, amountSeen: 49.9, amountDue: 0, receipts: [receipt(49.9, 19)] };
const part = { amountReceived: 20, amountSeen: 30, amountDue: 19.9 };
const bitcoin = {
  currency: 'BTC',
  currencyName: 'Bitcoin',
  currencyNetwork: 'bitcoin',
  networkName: 'Bitcoin',
  amount: 0.00048213,
  amountDue: 0.00048213,
  addressInformation: {
    address: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    network: 'bitcoin',
    id: 'a2',
  },
};
const log = (...entries: ReturnType<typeof entry>[]) => ({ transactionTimeLog: [...startLog, ...entries] });

export const galleryStates: readonly GalleryState[] = [
  { name: 'idle' },
  { name: 'creating', trouble: { create: 'hangs' } },
  { name: 'choosing-currency', payment: fixture('created') },
  {
    name: 'choosing-currency, many coins',
    payment: fixture('created', {
      currencyOptions: [
        ...currencyOptions,
        option('BNB', 'BNB', 'bsc', 'BNB Smart Chain', 0.0712, 2, 1),
        option('TRX', 'TRON', 'tron', 'Tron', 184.2, 2, 3),
        option('POL', 'Polygon', 'polygon', 'Polygon', 210.4, 2, 2),
      ],
    }),
  },
  { name: 'choosing-network', payment: fixture('created'), attributes: { currency: 'USDT' } },
  { name: 'locking', payment: fixture('currency_set'), trouble: { lock: 'hangs' } },
  { name: 'quoted, the lock failed', payment: fixture('currency_set'), trouble: { lock: 'fails' } },
  { name: 'awaiting-funds', payment: fixture('awaiting_funds') },
  { name: 'awaiting-funds, bitcoin', payment: fixture('awaiting_funds', bitcoin) },
  {
    name: 'awaiting-funds, the last minute',
    payment: fixture('awaiting_funds', { expiresBy: Date.now() + 55_000 }),
  },
  {
    name: 'awaiting-funds, wrong coin',
    payment: fixture('awaiting_funds', {
      receipts: [receipt(10, 3, { currency: 'TRX', counts: false })],
      ...log(entry(2, 'event', 'other_transfer_seen', { currency: 'TRX', network: 'tron', amount: '10' })),
    }),
  },
  {
    name: 'awaiting-funds, a transfer checked',
    payment: fixture('awaiting_funds'),
    transfer: { answer: 'other_address', network: 'tron' },
  },
  {
    name: 'expired, a transfer checked',
    payment: fixture('expired'),
    transfer: { answer: 'unknown', network: 'tron' },
  },
  {
    name: 'awaiting-funds, reconnecting',
    payment: fixture('awaiting_funds'),
    trouble: { verify: 'fails' },
  },
  {
    name: 'awaiting-funds, time is up',
    payment: fixture('awaiting_funds', { expiresBy: Date.now() - 1000 }),
  },
  {
    name: 'partially-paid',
    payment: fixture('partially_paid', {
      ...part,
      receipts: [receipt(20, 19), receipt(10, 0)],
      ...log(entry(2, 'event', 'underpaid', { seen: '30', amount: '49.90', currency: 'USDT' })),
    }),
  },
  {
    name: 'confirming, nothing yet',
    payment: fixture('confirming', { amountSeen: 49.9, amountDue: 0, receipts: [receipt(49.9, 0)] }),
  },
  {
    name: 'confirming',
    payment: fixture('confirming', {
      amountSeen: 49.9,
      amountDue: 0,
      confirmations: 7,
      receipts: [receipt(49.9, 7)],
    }),
  },
  {
    name: 'success',
    payment: fixture('settled', {
      ...paid,
      ...log(
        entry(2, 'event', 'transfer_seen', { ...usdt, amount: '49.90', confirmations: '19' }),
        entry(3, 'success', 'completed', { received: '49.90', currency: 'USDT' }),
      ),
    }),
  },
  {
    name: 'success, on the way back',
    payment: fixture('settled', { ...paid, redirectUrl: 'https://nightjar.example/thanks' }),
  },
  {
    name: 'success, too much',
    payment: fixture('settled_over', { ...paid, amountSeen: 60, amountReceived: 60 }),
  },
  { name: 'success, late', payment: fixture('settled_late', paid) },
  { name: 'expired', payment: fixture('expired', log(entry(31, 'error', 'expired'))) },
  {
    name: 'expired, a part came',
    payment: fixture('expired_partial', { ...part, receipts: [receipt(20, 19), receipt(10, 0)] }),
  },
  {
    name: 'expired, late',
    payment: fixture('expired_late', { ...part, receipts: [receipt(20, 19), receipt(10, 0)] }),
  },
  {
    name: 'error, wrong coin',
    payment: fixture('invalid', {
      receipts: [receipt(10, 19, { currency: 'TRX', counts: false })],
    }),
  },
  {
    name: 'error, reversed',
    payment: fixture('reversed', { receipts: [receipt(49.9, 0, { status: 'lost' })] }),
  },
  { name: 'error, did not open', trouble: { create: 'fails' } },
  { name: 'cancelled', payment: fixture('cancelled', log(entry(3, 'event', 'cancelled'))) },
  { name: 'cancelled, then paid', payment: fixture('cancelled_paid', paid) },
  { name: 'a mistake of the page', attributes: { amount: '-5' } },
  { name: 'a secret key', attributes: { 'public-key': 'sk_test_gallery' } },
];
