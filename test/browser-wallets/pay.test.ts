/** Paying from a wallet: every way in which nothing is sent, and the few in which that is uncertain. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../../src/contract/checkout.js';
import { payFromWallet, type PayDeps } from '../../src/browser-wallets/pay.js';
import { WalletRefusal, type Refusal } from '../../src/browser-wallets/provider.js';
import { readSent } from '../../src/browser-wallets/sent-memory.js';
import { evmPayment } from '../support/payments.js';
import { account, otherAccount, ScriptedWallet, sentHash, walletError } from '../support/scripted-wallet.js';

const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
let wallet: ScriptedWallet;
/** The server's answer to each request; the last one repeats. */
let replies: (Payment | undefined | Error)[];
let payment: Payment;
let steps: string[];
let stop: AbortController;
let payments = 0;

beforeEach(() => {
  payments += 1;
  wallet = new ScriptedWallet();
  payment = evmPayment({}, { id: `payment-${payments}` });
  replies = [payment];
  steps = [];
  stop = new AbortController();
});

function pay(isAgain = false): Promise<'sent' | 'unsure'> {
  const deps: PayDeps = {
    readPayable() {
      const reply = replies.length > 1 ? replies.shift() : replies[0];
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
    onStep: (step) => void steps.push(step),
    signal: stop.signal,
    isAgain,
  };
  return payFromWallet(wallet, deps);
}

async function refusal(): Promise<Refusal | undefined> {
  const error: unknown = await pay().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return error instanceof WalletRefusal ? error.reason : undefined;
}

describe('sends', () => {
  it('The wallet sends the exact amount of the coin, on the payment’s chain, from the connected account', async () => {
    expect(await pay()).toBe('sent');
    expect(wallet.sent).toEqual([
      {
        from: account,
        to: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        value: `0x${(123n * 10n ** 14n).toString(16)}`,
        chainId: '0x7a69',
      },
    ]);
    expect(readSent(payment)).toMatchObject({ hash: sentHash });
    expect(steps).toEqual(['walletConnecting', 'walletConfirming']);
  });

  it('The wallet sends a token by its contract’s transfer, with no coin', async () => {
    payment = evmPayment({ contract, decimals: 6 }, { id: payment.id, amountDue: 5 });
    replies = [payment];
    expect(await pay()).toBe('sent');
    expect(wallet.sent).toMatchObject([{ to: contract, value: '0x0' }]);
  });

  it('The wallet sends after switching the chain', async () => {
    wallet.chainId = 1;
    expect(await pay()).toBe('sent');
    expect(wallet.callsOf('wallet_switchEthereumChain')).toEqual([[{ chainId: '0x7a69' }]]);
    expect(steps).toEqual(['walletConnecting', 'walletSwitching', 'walletConfirming']);
  });

  it('The wallet sends after adding the chain, with the server’s parameters and no others', async () => {
    wallet.chainId = 1;
    let isKnown = false;
    wallet.answers['wallet_switchEthereumChain'] = () => {
      if (!isKnown) throw walletError(4902, 'Unrecognized chain');
      wallet.chainId = 31337;
      return null;
    };
    wallet.answers['wallet_addEthereumChain'] = () => {
      isKnown = true;
      return null;
    };
    const explorer = 'https://scan.example/tx/{txHash}';
    replies = [evmPayment({ rpcUrl: 'https://rpc.example/', explorer }, { id: payment.id })];
    expect(await pay()).toBe('sent');
    expect(wallet.callsOf('wallet_addEthereumChain')).toEqual([
      [
        {
          chainId: '0x7a69',
          chainName: 'Anvil',
          nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
          rpcUrls: ['https://rpc.example/'],
          blockExplorerUrls: ['https://scan.example'],
        },
      ],
    ]);
  });

  it('The wallet sends the rest of a partial payment', async () => {
    replies = [evmPayment({}, { id: payment.id, amountSeen: 0.01, amountDue: 0.0023 })];
    expect(await pay()).toBe('sent');
    expect(wallet.sent).toMatchObject([{ value: `0x${(23n * 10n ** 14n).toString(16)}` }]);
  });

  it('The wallet sends although its balance is unknown', async () => {
    wallet.answers['eth_getBalance'] = () => {
      throw new Error('no');
    };
    expect(await pay()).toBe('sent');
  });
});

type Setup = () => void;
const fails =
  (method: string, error: unknown): Setup =>
  () => {
    wallet.answers[method] = () => {
      throw error;
    };
  };
const answers =
  (method: string, ...values: unknown[]): Setup =>
  () => {
    wallet.answers[method] = () => (values.length > 1 ? values.shift() : values[0]);
  };
const onChain1 =
  (more: Setup): Setup =>
  () => {
    wallet.chainId = 1;
    more();
  };

describe('A payment sends nothing, and asks for nothing to be sent, when', () => {
  const cases: [string, Refusal, Setup][] = [
    ['the payer declines to connect', 'walletRejected', fails('eth_requestAccounts', walletError(4001))],
    [
      'the wallet waits for an earlier answer',
      'walletPending',
      fails('eth_requestAccounts', walletError(-32002)),
    ],
    ['the wallet is broken', 'walletFailed', fails('eth_requestAccounts', 'text')],
    ['there is no account', 'walletFailed', answers('eth_requestAccounts', [])],
    ['the accounts are garbage', 'walletFailed', answers('eth_requestAccounts', { 0: account })],
    ['the account is no address', 'walletFailed', answers('eth_requestAccounts', ['me'])],
    ['the chain is garbage', 'walletFailed', answers('eth_chainId', 'mainnet')],
    [
      'the payer declines to switch',
      'walletRejected',
      onChain1(fails('wallet_switchEthereumChain', walletError(4001))),
    ],
    [
      'the wallet cannot switch',
      'walletChain',
      onChain1(fails('wallet_switchEthereumChain', walletError(-32601))),
    ],
    [
      'the wallet says that it switched, and did not',
      'walletChain',
      onChain1(answers('wallet_switchEthereumChain', null)),
    ],
    [
      'the wallet does not know the chain, and the server has no parameters for it',
      'walletUnknownChain',
      onChain1(fails('wallet_switchEthereumChain', walletError(4902))),
    ],
    ['the account has too little', 'walletFunds', () => (wallet.balance = 1n)],
    ['the account has one wei too little', 'walletFunds', () => (wallet.balance = 123n * 10n ** 14n - 1n)],
    ['the account changed', 'walletAccount', answers('eth_accounts', [otherAccount])],
    ['the wallet was disconnected', 'walletAccount', answers('eth_accounts', [])],
    ['the chain was left in the middle', 'walletChain', answers('eth_chainId', '0x7a69', '0x1')],
    ['the payment ended before', 'walletEnded', () => (replies = [undefined])],
    ['the payment ended while the wallet was asked', 'walletEnded', () => (replies = [payment, undefined])],
    [
      'somebody else paid a part meanwhile',
      'walletChanged',
      () => (replies = [payment, evmPayment({}, { id: payment.id, amountDue: 0.01, amountSeen: 0.0023 })]),
    ],
    [
      'the address is another one meanwhile',
      'walletAddressChanged',
      () =>
        (replies = [
          payment,
          evmPayment({}, { addressInformation: { address: otherAccount, network: 'x', id: 'x' } }),
        ]),
    ],
    ['the server cannot be read', 'problemNetwork', () => (replies = [new WalletRefusal('problemNetwork')])],
    [
      'the server cannot be read any more',
      'problemNetwork',
      () => (replies = [payment, new WalletRefusal('problemNetwork')]),
    ],
  ];
  it.each(cases)('The wallet is not asked to send when %s', async (_, reason, setup) => {
    setup();
    expect(await refusal()).toBe(reason);
    expect(wallet.sent).toEqual([]);
    expect(readSent(payment)).toBeUndefined();
  });

  it('The wallet is not asked to send when the payer declines to add the chain', async () => {
    wallet.chainId = 1;
    replies = [evmPayment({ rpcUrl: 'https://rpc.example/' }, { id: payment.id })];
    fails('wallet_switchEthereumChain', walletError(4902))();
    fails('wallet_addEthereumChain', walletError(4001))();
    expect(await refusal()).toBe('walletRejected');
    fails('wallet_addEthereumChain', walletError(-32603))();
    expect(await refusal()).toBe('walletUnknownChain');
    expect(wallet.sent).toEqual([]);
  });

  it('The wallet is not asked to send when the payer stops waiting, at any step', async () => {
    for (const method of ['eth_requestAccounts', 'eth_chainId', 'eth_getBalance', 'eth_accounts']) {
      wallet = new ScriptedWallet();
      stop = new AbortController();
      const answer = method.includes('ccounts')
        ? [account]
        : method === 'eth_chainId'
          ? '0x7a69'
          : '0xffffffffffffffffff';
      wallet.answers[method] = () => {
        stop.abort();
        return answer;
      };
      await expect(pay(), method).rejects.toThrow('aborted');
      expect(wallet.sent).toEqual([]);
    }
  });
});

describe('when the wallet was asked to send', () => {
  it('If the wallet was asked to send twice and only the first request is declined, the second is remembered', async () => {
    const answer: { decline?: (error: unknown) => void; send?: (hash: string) => void } = {};
    wallet.answers['eth_sendTransaction'] = () => new Promise((_, reject) => (answer.decline = reject));
    const first = refusal();
    await expect.poll(() => answer.decline).toBeDefined();
    wallet.answers['eth_sendTransaction'] = () => new Promise((resolve) => (answer.send = resolve));
    const second = pay(true);
    await expect.poll(() => answer.send).toBeDefined();
    answer.decline?.(walletError(4001));
    expect(await first).toBe('walletRejected');
    expect(readSent(payment), 'the second is still open').toEqual(
      expect.objectContaining({ hash: undefined }),
    );
    answer.send?.(sentHash);
    expect(await second).toBe('sent');
    expect(readSent(payment)).toMatchObject({ hash: sentHash });
  });

  it.each([
    ['declined', walletError(4001), 'walletRejected'],
    ['waits for an earlier answer', walletError(-32002), 'walletPending'],
    ['has nothing for the fee', walletError(-32000, 'insufficient funds for gas'), 'walletFee'],
    ['has another account', walletError(4100), 'walletAccount'],
    ['left the chain', walletError(4901), 'walletChain'],
  ])('If the wallet was asked and %s, nothing is remembered', async (_, error, reason) => {
    fails('eth_sendTransaction', error)();
    expect(await refusal()).toBe(reason);
    expect(readSent(payment)).toBeUndefined();
    delete wallet.answers['eth_sendTransaction'];
    expect(await pay()).toBe('sent');
  });

  it.each([
    ['fails without a reason', fails('eth_sendTransaction', walletError(-32603))],
    ['rejects with nothing', fails('eth_sendTransaction', undefined)],
    ['answers nothing', answers('eth_sendTransaction', null)],
    ['answers garbage', answers('eth_sendTransaction', '0xdeadbeef')],
    ['answers an object', answers('eth_sendTransaction', { hash: sentHash })],
  ])('If the wallet was asked and %s, it may have sent: a second press sends nothing', async (_, setup) => {
    setup();
    expect(await pay()).toBe('unsure');
    expect(readSent(payment)).toEqual(expect.objectContaining({ hash: undefined }));
    expect(await pay()).toBe('unsure');
    expect(wallet.sent).toHaveLength(1);
  });

  it('a second press sends nothing, unless the payer was asked and wants it', async () => {
    await pay();
    expect(await pay()).toBe('unsure');
    expect(wallet.sent).toHaveLength(1);
    expect(await pay(true)).toBe('sent');
    expect(wallet.sent).toHaveLength(2);
  });

  it('A decline of the second request leaves the first one remembered', async () => {
    await pay();
    fails('eth_sendTransaction', walletError(4001))();
    await expect(pay(true)).rejects.toThrow('walletRejected');
    expect(readSent(payment)).toMatchObject({ hash: sentHash });
  });

  it('Several presses at the same moment send once', async () => {
    await Promise.all([pay(), pay(), pay()]);
    expect(wallet.sent).toHaveLength(1);
  });

  it('a payer who stops waiting while the wallet is open does not pay twice, whatever it answers later', async () => {
    let answer = (_: string) => {};
    wallet.answers['eth_sendTransaction'] = () => new Promise((resolve) => (answer = resolve));
    const first = pay();
    await expect.poll(() => wallet.sent).toHaveLength(1);
    stop.abort();
    stop = new AbortController();
    expect(await pay()).toBe('unsure');
    answer(sentHash);
    expect(await first).toBe('sent');
    expect(readSent(payment)).toMatchObject({ hash: sentHash });
    expect(wallet.sent).toHaveLength(1);
  });
});

describe('transfers already sent', () => {
  it('A sent transfer is remembered until the server has seen its amount', async () => {
    await pay();
    const seenElsewhere = evmPayment({}, { id: payment.id, amountSeen: 0.005, amountDue: 0.0073 });
    expect(readSent(seenElsewhere)).toMatchObject({ hash: sentHash });
    const seen = evmPayment({}, { id: payment.id, amountSeen: 0.0123, amountDue: 0 });
    expect(readSent(seen)).toBeUndefined();
    expect(readSent(payment), 'dropped by the network').toMatchObject({ hash: sentHash });
  });

  it('A sent transfer belongs only to its payment', async () => {
    await pay();
    expect(readSent(evmPayment({}, { id: 'another' }))).toBeUndefined();
  });
});
