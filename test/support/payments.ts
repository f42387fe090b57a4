/** Payments in each state, as the API reports them. */
import type { CurrencyOption, Payment, ReceiptView } from '../../src/contract/checkout.js';
import { statusOf, type PaymentState } from '../../src/contract/payment-states.js';
import { sampleLocked, samplePayment } from '../../src/contract/payments.js';

const option = (
  currency: string,
  name: string,
  network: string,
  networkName: string,
  amount: number,
  blockSeconds: number,
  isCostly: boolean,
): CurrencyOption => ({
  currency,
  name,
  network,
  networkName,
  amount,
  fee: 0.01,
  minAmount: 0.00001,
  confirmations: 2,
  blockSeconds,
  isCostly,
  networkFee: isCostly ? 3 : 0.01,
});

export const usdtOnTron = option('USDT', 'Tether USD', 'tron', 'Tron', 3.25, 3, true);
export const usdtOnBase = option('USDT', 'Tether USD', 'base', 'Base', 3.25, 2, false);
export const bitcoin = option('BTC', 'Bitcoin', 'bitcoin', 'Bitcoin', 0.00005213, 600, true);

/** Created; no currency has been chosen yet. */
export function createdPayment(changes: Partial<Payment> = {}): Payment {
  return {
    ...samplePayment,
    currencyOptions: [usdtOnTron, usdtOnBase, bitcoin],
    redirectUrl: '',
    ...changes,
  };
}

/** Set to USDT on Tron, but not locked yet. */
export function quotedPayment(changes: Partial<Payment> = {}): Payment {
  return createdPayment({
    state: 'currency_set',
    currency: 'USDT',
    currencyName: 'Tether USD',
    currencyNetwork: 'tron',
    networkName: 'Tron',
    amount: 3.25,
    currencies: [],
    ...changes,
  });
}

/** Locked, with 20 minutes left. */
export function lockedPayment(changes: Partial<Payment> = {}): Payment {
  const { currencyOptions: _dropped, ...record } = sampleLocked;
  return { ...record, redirectUrl: '', expiresBy: Date.now() + 20 * 60_000, ...changes };
}

/** A locked payment in a detailed state, with the matching status. */
export function paymentInState(state: PaymentState, changes: Partial<Payment> = {}): Payment {
  return lockedPayment({ status: statusOf(state), state, ...changes });
}

/** A transfer that the server has seen: by default, one in a wrong coin. */
export function receiptOf(changes: Partial<ReceiptView> = {}): ReceiptView {
  return {
    currency: 'TRX',
    network: 'tron',
    amount: 10,
    txHash: 'a1',
    explorerUrl: '',
    confirmations: 1,
    requiredConfirmations: 2,
    firstSeenAt: samplePayment.createdAt,
    status: 'seen',
    counts: false,
    ...changes,
  };
}

/** The same payment from a server that sends only the specification's fields. */
export function baseFieldsOnly(payment: Payment): Payment {
  const {
    mode: _mode,
    state: _state,
    amountSeen: _seen,
    amountDue: _due,
    currencyOptions: _options,
    ...record
  } = payment;
  return record;
}

/** Locked on a real EVM network: 0.0123 ETH, or a token if its contract is given. */
export function evmPayment(
  evm: Partial<NonNullable<Payment['evm']>> = {},
  changes: Partial<Payment> = {},
): Payment {
  return lockedPayment({
    currency: 'ETH',
    currencyName: 'Ether',
    currencyNetwork: 'evm-dev',
    networkName: 'Anvil',
    amount: 0.0123,
    amountDue: 0.0123,
    amountSeen: 0,
    pageUrl: 'https://pay.example/pay/1',
    addressInformation: {
      address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      network: 'evm-dev',
      id: 'address-1',
    },
    evm: {
      chainId: 31337,
      decimals: 18,
      coin: 'ETH',
      ...evm,
    },
    ...changes,
  });
}
