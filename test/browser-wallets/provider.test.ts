/** Wallets' answers and rejections are parsed strictly. */
import { describe, expect, it } from 'vitest';
import { errorCode, readHash, readQuantity, refusalOf } from '../../src/browser-wallets/provider.js';
import { walletApps } from '../../src/browser-wallets/deep-links.js';
import { walletError } from '../support/scripted-wallet.js';

describe('errors', () => {
  it.each([
    [walletError(4001), 'walletRejected'],
    [walletError('ACTION_REJECTED'), 'walletRejected'],
    [walletError(-32603, 'Internal', { data: { originalError: { code: 4001 } } }), 'walletRejected'],
    [walletError(-32002), 'walletPending'],
    [walletError(4100), 'walletAccount'],
    [walletError(4901), 'walletChain'],
    [walletError(4902), 'walletChain'],
    [walletError(4200), 'walletFailed'],
    [walletError(-32601), 'walletFailed'],
    [walletError(-32000, 'insufficient funds for gas * price + value'), 'walletFee'],
    [walletError(-32603, 'execution reverted: ERC20: transfer amount exceeds balance'), 'walletFunds'],
    // After these, the wallet may have sent it.
    [walletError(-32603, 'Internal JSON-RPC error'), undefined],
    [walletError(4900), undefined],
    [new Error('timeout'), undefined],
    ['text', undefined],
    [null, undefined],
    [undefined, undefined],
    [{ code: { toString: () => '4001' } }, undefined],
  ])('%s means %s', (error, refusal) => {
    expect(refusalOf(error)).toBe(refusal);
  });

  it('the code of an unknown chain is found where MetaMask on phones hides it', () => {
    expect(errorCode(walletError(-32603, 'x', { data: { originalError: { code: 4902 } } }))).toBe(4902);
  });
});

describe('answers', () => {
  it.each([
    ['0x1', 1n],
    ['0xA4B1', 42161n],
    [56, 56n],
    ['56', undefined],
    ['0x', undefined],
    ['0xg', undefined],
    [-1, undefined],
    [1.5, undefined],
    [null, undefined],
    [{}, undefined],
    [['0x1'], undefined],
    [`0x${'f'.repeat(65)}`, undefined],
  ])('the quantity %s is %s', (value, quantity) => {
    expect(readQuantity(value)).toBe(quantity);
  });

  it.each([
    [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
    [`0x${'ab'.repeat(31)}`, undefined],
    ['javascript:alert(1)', undefined],
    [{ hash: `0x${'ab'.repeat(32)}` }, undefined],
    [null, undefined],
  ])('the hash %s is %s', (value, hash) => {
    expect(readHash(value)).toBe(hash);
  });
});

describe('wallet apps', () => {
  it('wallet apps open the page as each app documents it', () => {
    expect(walletApps('https://pay.example/pay/1?a=b&c').map(({ url }) => url)).toEqual([
      'https://link.metamask.io/dapp/pay.example/pay/1?a=b&c',
      'https://go.cb-w.com/dapp?cb_url=https%3A%2F%2Fpay.example%2Fpay%2F1%3Fa%3Db%26c',
      'https://link.trustwallet.com/open_url?coin_id=60&url=https%3A%2F%2Fpay.example%2Fpay%2F1%3Fa%3Db%26c',
      'https://web3.okx.com/download?deeplink=okx%3A%2F%2Fwallet%2Fdapp%2Furl%3FdappUrl%3Dhttps%253A%252F%252Fpay.example%252Fpay%252F1%253Fa%253Db%2526c',
      'https://phantom.app/ul/browse/https%3A%2F%2Fpay.example%2Fpay%2F1%3Fa%3Db%26c?ref=https%3A%2F%2Fpay.example',
    ]);
  });

  it.each(['http://pay.example/', 'javascript:alert(1)', 'file:///a', ''])('no wallet opens %s', (page) => {
    expect(walletApps(page)).toEqual([]);
  });
});
