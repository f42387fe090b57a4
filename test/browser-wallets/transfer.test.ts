/** The transaction requested from a wallet: exactly the amount due, to the server's address, or nothing at all. */
import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/contract/checkout.js';
import { transferOf } from '../../src/browser-wallets/transfer.js';
import { evmPayment } from '../support/payments.js';

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

describe('native coins', () => {
  it.each([
    [1, 10n ** 18n],
    [0.1, 10n ** 17n],
    [0.3, 3n * 10n ** 17n],
    [1e-8, 10n ** 10n],
    [7e-7, 7n * 10n ** 11n],
    [1234567.89, 1234567890000000000000000n],
    [1.00000001, 1000000010000000000n],
    [999999999999999, 999999999999999n * 10n ** 18n],
  ])('%s ETH is %s wei', (amountDue, wei) => {
    expect(transferOf(evmPayment({}, { amountDue }))?.transaction).toEqual({
      to: recipient,
      value: `0x${wei.toString(16)}`,
    });
  });
});

describe('tokens', () => {
  it.each([
    [6, 12_300_000n],
    [18, 12_300_000_000_000_000_000n],
    [2, 1230n],
  ])('with %s decimals', (decimals, units) => {
    const payment = evmPayment({ contract, decimals }, { currency: 'USDT', amountDue: 12.3 });
    const { transaction } = transferOf(payment) ?? {};
    expect(transaction).toEqual({
      to: contract,
      value: '0x0',
      data: `0xa9059cbb${'0'.repeat(24)}${recipient.slice(2).toLowerCase()}${units.toString(16).padStart(64, '0')}`,
    });
  });
});

describe('nothing is built', () => {
  const without: [string, Payment][] = [
    ['without a chain id from the server', evmPayment({ chainId: 0 })],
    ['for a chain id that is no integer', evmPayment({ chainId: 1.5 })],
    ['for a contract that is no address', evmPayment({ contract: 'USDT' })],
    ['for an empty contract', evmPayment({ contract: '' })],
    ['for a token to its own contract', evmPayment({ contract: recipient.toLowerCase() })],
    ['when nothing is due', evmPayment({}, { amountDue: 0 })],
    ['when the chain cannot express the amount', evmPayment({ decimals: 2 }, { amountDue: 0.001 })],
    ['for decimals that make no sense', evmPayment({ decimals: -1 })],
    ['for a negative amount', evmPayment({}, { amountDue: -1 })],
    ['for no number', evmPayment({}, { amountDue: NaN })],
    ['on a network without wallets', evmPayment({}, { evm: undefined })],
    ['before there is an address', evmPayment({}, { addressInformation: undefined })],
    [
      'to an address of another kind of network',
      evmPayment(
        {},
        { addressInformation: { address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', network: 'x', id: 'x' } },
      ),
    ],
  ];
  it.each(without)('%s', (_, payment) => {
    expect(transferOf(payment)).toBeUndefined();
  });
});
