/** The wallets on the page: which are offered, the messages, and what never happens without a further press. */
import { aTimeout, expect } from '@open-wc/testing';
import type { Payment } from '../../src/contract/checkout.js';
import type { CryptoCheckout } from '../../src/index.js';
import { getPart, hasPart, mount, press, textOf, waitFor, waitForStatus } from '../support/element.js';
import { FakeApi } from '../support/fake-api.js';
import { evmPayment, lockedPayment, paymentInState } from '../support/payments.js';
import { account, otherAccount, ScriptedWallet, sentHash, walletError } from '../support/scripted-wallet.js';

const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
let api: FakeApi;
/** The elements that the test put on the page. */
let page: AbortController;

beforeEach(() => {
  localStorage.clear();
  page = new AbortController();
  api = new FakeApi().install();
});
afterEach(async () => {
  page.abort();
  await api.remove();
  Reflect.deleteProperty(window, 'ethereum');
});

function announce(provider: unknown, info: object = {}): void {
  const detail = {
    info: { uuid: 'wallet-1', name: 'Test Wallet', icon, rdns: 'test.wallet', ...info },
    provider,
  };
  dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
}

/** A wallet that announces itself whenever a page asks, as extensions do. */
function install(info: object = {}): ScriptedWallet {
  const wallet = new ScriptedWallet();
  addEventListener('eip6963:requestProvider', () => announce(wallet, info), { signal: page.signal });
  return wallet;
}

let payments = 0;
async function mountPayment(payment: Payment = evmPayment()): Promise<CryptoCheckout> {
  payments += 1;
  const id = `PAYMENT${payments}`;
  api.payment = { ...payment, id };
  const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': id, locale: 'en' });
  await waitFor(() => !['idle', 'creating'].includes(element.getAttribute('status') ?? ''));
  return element;
}

/** The first wallet is the main action, the others follow it. */
const options = (element: CryptoCheckout) =>
  [...(element.shadowRoot?.querySelectorAll<HTMLElement>('[part=action], [part=wallet-option]') ?? [])]
    .map((option) => option.textContent.trim())
    .filter((label) => label.startsWith('Pay with'));
const shows = (element: CryptoCheckout, count: number) => waitFor(() => options(element).length === count);
const problem = (element: CryptoCheckout) => textOf(element, 'wallet-problem');

describe('wallets', () => {
  it('wallets are offered by name and icon, each once, however often they announce themselves', async () => {
    const wallet = install();
    install({ uuid: 'wallet-2', name: 'Other Wallet', icon: 'https://evil.example/track.png' });
    const element = await mountPayment();
    await shows(element, 2);
    announce(wallet);
    announce(new ScriptedWallet(), { uuid: 'wallet-3', name: 'Third Wallet' });
    await shows(element, 3);
    expect(options(element)).to.deep.equal([
      'Pay with Test Wallet',
      'Pay with Other Wallet',
      'Pay with Third Wallet',
    ]);
    const images = [...(element.shadowRoot?.querySelectorAll('img') ?? [])].map((image) => image.src);
    expect(images).to.deep.equal([icon]);
  });

  it('a wallet that announces itself late is offered too, in place of window.ethereum', async () => {
    Reflect.set(window, 'ethereum', new ScriptedWallet());
    const element = await mountPayment();
    await shows(element, 1);
    expect(options(element)).to.deep.equal(['Pay with your browser wallet']);
    announce(new ScriptedWallet());
    await waitFor(() => options(element)[0] === 'Pay with Test Wallet');
    expect(options(element)).to.have.length(1);
  });

  it('a wallet cannot put markup, scripts or another wallet’s name onto the page', async () => {
    install({ name: '<img src=x onerror=alert(1)>', icon: 'javascript:alert(1)' });
    const element = await mountPayment();
    await shows(element, 1);
    announce(new ScriptedWallet(), { name: 'Replaced' });
    announce(null, { uuid: 'a' });
    announce({}, { uuid: 'b' });
    announce(new ScriptedWallet(), { uuid: 7 });
    announce(new ScriptedWallet(), { uuid: 'c', name: {} });
    dispatchEvent(new CustomEvent('eip6963:announceProvider'));
    dispatchEvent(new Event('eip6963:announceProvider'));
    announce(new ScriptedWallet(), { uuid: 'd', name: 'x'.repeat(500), icon: 'data:text/html,<b>' });
    await shows(element, 2);
    expect(options(element)).to.deep.equal([
      'Pay with <img src=x onerror=alert(1)>',
      `Pay with ${'x'.repeat(40)}`,
    ]);
    expect(element.shadowRoot?.querySelectorAll('img').length).to.equal(0);
  });

  for (const [what, payment] of [
    ['on a simulated or other network', lockedPayment()],
    ['after the time is up', evmPayment({}, { expiresBy: Date.now() - 1000 })],
    ['while it is being confirmed', evmPayment({}, { state: 'confirming' })],
    ['once it is complete', paymentInState('settled', { evm: evmPayment().evm })],
    ['once it is cancelled', paymentInState('cancelled', { evm: evmPayment().evm })],
    ['for a contract that makes no sense', evmPayment({ contract: 'USDT' })],
  ] as const) {
    it(`wallets are not offered for a payment ${what}`, async () => {
      install();
      const element = await mountPayment(payment);
      await aTimeout(150);
      expect(hasPart(element, 'wallets')).to.equal(false);
    });
  }

  it('a transfer sent from a wallet does not count as arrived: a hash is no proof of payment', async () => {
    const wallet = install();
    const explorer = 'https://scan.example/tx/{txHash}';
    const element = await mountPayment(evmPayment({ explorer }));
    await shows(element, 1);
    press(element);
    press(element);
    await waitFor(() => hasPart(element, 'wallet-hash'));
    expect(textOf(element, 'heading')).to.equal('Watching the network');
    expect(textOf(element, 'status')).to.equal(
      'Sent from your wallet, waiting for the network. Do not send again.',
    );
    expect(getPart(element, 'wallet-hash').getAttribute('href')).to.equal(
      `https://scan.example/tx/${sentHash}`,
    );
    expect(textOf(element, 'log')).to.contain(`Sent from a wallet: ${sentHash}. Waiting for the network.`);
    const log = element.payment?.transactionTimeLog.map(({ event }) => event).join();
    expect(log).not.to.contain(sentHash);
    expect(element.status).to.equal('awaiting-funds');
    expect(wallet.sent).to.have.length(1);
    expect(element.shadowRoot?.activeElement?.getAttribute('part') ?? 'none').not.to.equal('action');
  });

  it('the payer is asked before a wallet sends again, also after a reload or in another tab', async () => {
    const wallet = install();
    const first = await mountPayment();
    await shows(first, 1);
    press(first);
    await waitFor(() => hasPart(first, 'wallet-hash'));
    const parent = first.parentElement;
    const attributes = { 'public-key': 'pk_test_x', 'payment-id': api.payment.id, locale: 'en' };
    first.remove();
    // One tab does not see another tab's own storage.
    sessionStorage.clear();
    const element = document.createElement('crypto-checkout');
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent?.append(element);
    await waitFor(() => hasPart(element, 'wallet-hash'));
    expect(options(element)).to.deep.equal([]);
    press(element, 'wallet-again');
    await element.updateComplete;
    expect(textOf(element, 'wallet-status')).to.contain('you may pay twice');
    expect(wallet.sent).to.have.length(1);
    press(element, 'wallet-keep');
    await element.updateComplete;
    expect(options(element)).to.deep.equal([]);
    press(element, 'wallet-again');
    await element.updateComplete;
    press(element, 'wallet-again');
    await shows(element, 1);
    press(element);
    await waitFor(() => wallet.sent.length === 2);
  });

  it('the page shows why nothing was sent, and the wallet can be pressed again', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    wallet.answers['eth_sendTransaction'] = () => {
      throw walletError(4001);
    };
    press(element);
    await waitFor(() => problem(element) !== '');
    expect(problem(element)).to.equal('You declined in Test Wallet. Nothing was sent.');
    wallet.balance = 5n;
    press(element);
    await waitFor(() => problem(element).includes('ETH'));
    expect(problem(element)).to.equal('This account does not have enough ETH. Nothing was sent.');
    wallet.balance = 10n ** 20n;
    delete wallet.answers['eth_sendTransaction'];
    press(element);
    await waitFor(() => hasPart(element, 'wallet-hash'));
  });

  it('a wallet sends the amount due at the press, not the amount drawn', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    api.payment = { ...api.payment, state: 'partially_paid', amountSeen: 0.01, amountDue: 0.0023 };
    press(element);
    await waitFor(() => wallet.sent.length === 1);
    expect(wallet.sent).to.deep.include({
      ...(wallet.sent[0] as object),
      value: `0x${(23n * 10n ** 14n).toString(16)}`,
    });
  });

  it('nothing is sent if the address changes while the wallet is asked, and the page says so', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    wallet.answers['eth_requestAccounts'] = () => {
      const { addressInformation } = api.payment;
      const address = otherAccount;
      api.payment = {
        ...api.payment,
        ...(addressInformation && { addressInformation: { ...addressInformation, address } }),
      };
      return [account];
    };
    press(element);
    await waitFor(() => problem(element) !== '');
    expect(problem(element)).to.equal(
      'The address has changed. Nothing was sent. Check it, then press again.',
    );
    expect(getPart(element, 'wallet-problem').getAttribute('role')).to.equal('alert');
    expect(wallet.sent).to.have.length(0);
  });

  it('a wallet is asked for nothing if the payment ended while the page was not looking', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    api.payment = { ...api.payment, status: 'cancelled', state: 'cancelled' };
    press(element);
    await waitForStatus(element, 'cancelled');
    await aTimeout(50);
    expect(wallet.calls).to.deep.equal([]);
  });

  it('a wallet is asked for nothing while the server cannot be reached', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    api.handlers.verify = () => Response.error();
    press(element);
    await waitFor(() => problem(element) !== '');
    expect(problem(element)).to.equal('No connection to the payment service. Try again.');
    expect(wallet.calls).to.deep.equal([]);
  });

  it('a wallet can be left waiting, and the hash that it sends later is shown', async () => {
    const wallet = install();
    let answer = (_: string) => {};
    wallet.answers['eth_sendTransaction'] = () => new Promise((resolve) => (answer = resolve));
    const element = await mountPayment();
    await shows(element, 1);
    press(element);
    await waitFor(() => wallet.sent.length === 1);
    await waitFor(() => textOf(element, 'wallet-status').startsWith('Confirm'));
    expect(textOf(element, 'wallet-status')).to.match(/^Confirm 0\.0123\sETH in Test Wallet…$/);
    press(element, 'wallet-stop');
    await element.updateComplete;
    expect(textOf(element, 'status')).to.contain('Your wallet was asked to pay');
    answer(sentHash);
    await waitFor(() => hasPart(element, 'wallet-hash'));
    expect(wallet.sent).to.have.length(1);
  });

  it('a wallet is asked for nothing more once the element is removed', async () => {
    const wallet = install();
    let connect = (_: string[]) => {};
    wallet.answers['eth_requestAccounts'] = () => new Promise((resolve) => (connect = resolve));
    const element = await mountPayment();
    await shows(element, 1);
    press(element);
    await waitFor(() => wallet.calls.length === 1);
    element.remove();
    connect([wallet.account]);
    await aTimeout(50);
    expect(wallet.calls).to.have.length(1);
  });

  it('the wallets disappear at 0:00', async () => {
    install();
    const element = await mountPayment(evmPayment({}, { expiresBy: Date.now() + 5000 }));
    await shows(element, 1);
    await waitFor(() => !hasPart(element, 'wallets'));
    expect(element.status).to.equal('awaiting-funds');
  });

  it('a phone whose browser has no wallet is offered wallet apps', async () => {
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia(query === '(pointer: coarse)' ? 'all' : query);
    page.signal.addEventListener('abort', () => (window.matchMedia = matchMedia));
    const element = await mountPayment();
    await waitFor(() => hasPart(element, 'wallet-app'));
    expect(textOf(element, 'wallet-app')).to.equal('Open in MetaMask');
    expect(getPart(element, 'wallet-app').getAttribute('href')).to.equal(
      'https://link.metamask.io/dapp/pay.example/pay/1',
    );
    announce(new ScriptedWallet());
    await shows(element, 1);
    expect(hasPart(element, 'wallet-app')).to.equal(false);
  });

  it('the wallets are accessible when they are offered, and when a payer wants to send again', async () => {
    const wallet = install();
    const element = await mountPayment();
    await shows(element, 1);
    await expect(element).to.be.accessible();
    press(element);
    await waitFor(() => hasPart(element, 'wallet-hash'));
    press(element, 'wallet-again');
    await element.updateComplete;
    await expect(element).to.be.accessible();
    expect(wallet.sent).to.have.length(1);
  });
});
