/** The content of a QR code on each network. */
import { expect, test } from 'vitest';
import { paymentUri } from '../../src/money/payment-uri.js';

const segwit = 'tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl';
const litecoin = 'tltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl';
const regtest = 'bcrt1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk';
const litecoinRegtest = 'rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9p634wu8';
const evm = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

test.each([
  ['BTC', 'bitcoin', segwit, 0.00123, `bitcoin:${segwit}?amount=0.00123`],
  ['BTC', 'bitcoin', segwit, 7e-7, `bitcoin:${segwit}?amount=0.0000007`],
  ['BTC', 'bitcoin', segwit, 12, `bitcoin:${segwit}?amount=12`],
  ['LTC', 'litecoin', litecoin, 1.5, `litecoin:${litecoin}?amount=1.5`],
  ['BTC', 'bitcoin-testnet4', segwit, 0.5, `bitcoin:${segwit}?amount=0.5`],
  ['BTC', 'bitcoin-regtest', regtest, 0.5, `bitcoin:${regtest}?amount=0.5`],
  ['LTC', 'litecoin-testnet', litecoin, 0.5, `litecoin:${litecoin}?amount=0.5`],
  ['LTC', 'litecoin-regtest', litecoinRegtest, 0.5, `litecoin:${litecoinRegtest}?amount=0.5`],
])('%s on %s is a BIP-21 URI with the amount', (currency, network, address, amount, text) => {
  expect(paymentUri({ currency, network, address, amount })).toEqual({ text, holdsAmount: true });
});

test.each([
  ['ETH', 'ethereum', evm],
  ['USDT', 'ethereum', evm],
  ['USDC', 'base', evm],
  ['BNB', 'bsc', evm],
  ['POL', 'polygon', evm],
  ['TRX', 'tron', tron],
  ['USDT', 'tron', tron],
  ['BTC', 'lightning', 'lnbc1'],
  ['ETH', 'sepolia', evm],
  ['USDC', 'base-sepolia', evm],
  ['ETH', 'evm-dev', evm],
  ['USDT', 'tron-nile', tron],
])('%s on %s is the bare address', (currency, network, address) => {
  expect(paymentUri({ currency, network, address, amount: 3.246754 })).toEqual({
    text: address,
    holdsAmount: false,
  });
});
