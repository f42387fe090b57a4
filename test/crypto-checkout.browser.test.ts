/** The payer's view and actions in each state, and what the page can set and listen to. */
import { aTimeout, expect, fixture, html, waitUntil } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CheckoutEvent, CheckoutStatus, CryptoCheckout } from '../src/index.js';
import {
  hasPart,
  recordEvents,
  orderAttributes,
  getPart,
  goToAddress,
  pickOption,
  mount,
  press,
  waitForStatus,
  textOf,
  waitFor,
} from './support/element.js';
import { useFakeApi } from './support/fake-api.js';
import {
  bitcoin,
  createdPayment,
  paymentInState,
  lockedPayment,
  quotedPayment,
  usdtOnBase,
  usdtOnTron,
} from './support/payments.js';

const api = useFakeApi();

const resumeAttributes = { 'public-key': 'pk_test_x', 'payment-id': createdPayment().id, locale: 'en' };

async function mountPayment(payment: Payment, attributes: object = {}): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await mount({ ...resumeAttributes, ...attributes });
  await waitFor(() => !['idle', 'creating'].includes(element.getAttribute('status') ?? ''));
  await waitFor(() => textOf(element, 'heading') !== 'Loading…');
  return element;
}

/** Polls, with this payment as the reply. */
async function pollPayment(element: CryptoCheckout, payment: Payment): Promise<void> {
  api.payment = payment;
  await element.refresh();
  await element.updateComplete;
  await waitFor(() => textOf(element, 'heading') !== 'Loading…');
}

describe('before the start', () => {
  // These must be the first tests in this file: later ones find the browser's formats in use already.
  it('the price is formatted at the first paint, without Intl, whose first use is slow', async () => {
    const { NumberFormat } = Intl;
    let uses = 0;
    Intl.NumberFormat = new Proxy(NumberFormat, {
      construct: (target, args) => ((uses += 1), Reflect.construct(target, args) as Intl.NumberFormat),
    });
    const element = await mount({ ...orderAttributes, locale: 'en' });
    expect(textOf(element, 'total')).to.match(/^NGN\s5,000\.00$/);
    expect(textOf(element, 'action')).to.match(/^Pay NGN\s5,000\.00$/);
    await aTimeout(400);
    Intl.NumberFormat = NumberFormat;
    expect(uses).to.equal(0);
  });

  it('the price is plain at first where only Intl knows the format, until the browser has time', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en-CA', 'base-currency': 'USD' });
    expect(textOf(element, 'total')).to.match(/^5000\.00\sUSD$/);
    expect(textOf(element, 'action')).to.match(/^Pay 5000\.00\sUSD$/);
    await waitFor(() => textOf(element, 'total') === 'US$5,000.00');
    expect(textOf(element, 'action')).to.equal('Pay US$5,000.00');
  });

  it('the offer says how many coins there are and how long a price is fixed, and nothing moves', async () => {
    let answer = (_offer: Response) => {};
    api.offer = () => new Promise((resolve) => (answer = resolve));
    const element = await mount({ ...orderAttributes, locale: 'en' });
    await waitFor(() => api.offersAsked.length > 0);
    expect(api.offersAsked).to.deep.equal(['/checkout-offer/pk_test_x.json']);
    const height = element.offsetHeight;
    expect(textOf(element, 'offer')).to.equal('');
    answer(Response.json({ coins: ['BTC', 'LTC', 'ETH', 'BNB', 'USDC', 'DOGE'], minutes: 20 }));
    await waitFor(() => textOf(element, 'offer').includes('6 coins · no account · price fixed for 20 min'));
    expect(getPart(element, 'offer').querySelectorAll('svg')).to.have.length(5);
    expect(element.offsetHeight).to.equal(height);
    expect(api.requests).to.have.length(0);
  });

  for (const [what, reply] of [
    ['another server', () => new Response('Not found', { status: 404 })],
    ['a server that takes no coin now', () => Response.json({ coins: [], minutes: 30 })],
    ['a broken reply', () => new Response('<html>')],
  ] as const) {
    it(`the line of the offer stays empty with ${what}`, async () => {
      api.offer = reply;
      const element = await mount({ ...orderAttributes, locale: 'en' });
      await waitFor(() => api.offersAsked.length > 0);
      await aTimeout(50);
      expect(textOf(element, 'offer')).to.equal('');
      press(element);
      await waitForStatus(element, 'choosing-currency');
    });
  }

  it('the idle checkout shows order, amount and one button, and sends no request', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    expect(element.getAttribute('status')).to.equal('idle');
    expect(textOf(element, 'order')).to.equal('order-42');
    expect(textOf(element, 'total')).to.match(/^NGN\s5,000\.00$/);
    expect(textOf(element, 'action')).to.match(/^Pay NGN\s5,000\.00$/);
    await aTimeout(50);
    expect(api.requests).to.have.length(0);
  });

  it('the shop and the order’s lines are shown as the page gives them, and no line is sent', async () => {
    const element = await mount({
      ...orderAttributes,
      'merchant-name': 'Nightjar Lanterns',
      'merchant-logo': 'https://shop.invalid/logo.svg',
      'base-currency': 'ngn',
    });
    element.lineItems = [
      { name: 'Lantern', quantity: 2, amount: '4000.5' },
      { name: 'Gift', amount: '12,50' },
      { name: 'Wrapping' },
    ];
    await element.updateComplete;
    expect(textOf(element, 'merchant')).to.equal('Nightjar Lanterns');
    // The logo does not load, so initials are shown in its place.
    await waitFor(() => textOf(element, 'logo') === 'NL');
    const lines = [...getPart(element, 'items').querySelectorAll('li')].map((line) =>
      line.textContent.replace(/\s+/g, ' ').trim(),
    );
    expect(lines).to.deep.equal(['Lantern × 2 NGN 4,000.50', 'Gift', 'Wrapping']);
    expect(textOf(element, 'total').replace(/\s/g, ' ')).to.equal('NGN 5,000.00');
    press(element);
    await waitForStatus(element, 'choosing-currency');
    const [request] = api.requestsFor('create');
    expect(request?.body).to.deep.equal({ amount: '5000', baseCurrency: 'NGN', txRef: 'order-42' });
  });

  it('a reference that the API would refuse is an error before anything is sent', async () => {
    const element = await mount({ ...orderAttributes, 'tx-ref': 'order #42' });
    await waitFor(() => hasPart(element, 'error'));
    expect(textOf(element, 'error')).to.contain('tx-ref').and.to.contain('A-Z a-z 0-9 . _ : -');
    await element.start();
    expect(api.requests).to.have.length(0);
  });

  it('the API can be below a path of the page’s own server', async () => {
    const element = await mount({ ...orderAttributes, 'api-url': '/crypto/' });
    expect(element.order.apiUrl).to.equal(`${location.origin}/crypto`);
    await aTimeout(250);
    expect(hasPart(element, 'error')).to.equal(false);
    expect(hasPart(element, 'action')).to.equal(true);
  });

  it('start() works like the button', async () => {
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    await element.start();
    await waitForStatus(element, 'choosing-currency');
    expect(events).to.deep.equal(['created']);
  });
});

describe('choosing a coin and a network', () => {
  it('each change fires one event, after the view is updated, across shadow roots', async () => {
    const element = await mount(orderAttributes);
    const events = recordEvents(document);
    const locked: [string, CheckoutStatus, boolean][] = [];
    element.addEventListener('checkout-locked', (event: CheckoutEvent) => {
      locked.push([event.payment?.id ?? '', element.status, hasPart(element, 'address')]);
    });
    await goToAddress(element);
    expect(events).to.deep.equal(['created', 'currency-set', 'locked']);
    expect(locked).to.deep.equal([[createdPayment().id, 'awaiting-funds', true]]);
    await pollPayment(element, paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25 }));
    await pollPayment(element, paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25 }));
    await pollPayment(element, paymentInState('confirming', { amountSeen: 3.25, amountDue: 0 }));
    await pollPayment(element, paymentInState('settled', { amountSeen: 3.25 }));
    expect(events.slice(3)).to.deep.equal(['detected', 'partial', 'confirming', 'success']);
  });

  it('the coins are a radio group with accessible names', async () => {
    const element = await mountPayment(createdPayment());
    const group = element.shadowRoot?.querySelector('[role=radiogroup]');
    expect(group?.getAttribute('aria-label')).to.equal('Currency');
    const options = [...(group?.querySelectorAll('input') ?? [])];
    expect(options.map((option) => labelOf(element, option))).to.deep.equal([
      'Tether USD USDT',
      'Bitcoin BTC',
    ]);
    expect(textOf(element, 'option')).to.match(/≈\s3\.25/);
  });

  it('the picker has no button before something is picked: a tap continues automatically', async () => {
    const element = await mountPayment(createdPayment());
    expect(hasPart(element, 'action')).to.equal(false);
    pickOption(element, 'BTC');
    await waitForStatus(element, 'awaiting-funds');
    expect(api.requestsFor('set')).to.have.length(1);
    expect(api.requestsFor('lock')).to.have.length(1);
  });

  it('arrow keys only move through the options and show a button to continue, and Enter continues', async () => {
    const element = await mountPayment(createdPayment());
    const [first, second] = element.shadowRoot?.querySelectorAll<HTMLInputElement>('input[type=radio]') ?? [];
    // A browser's action for an arrow key: a click on the next radio button.
    const moveTo = (radio: HTMLInputElement | undefined) => {
      radio?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
      radio?.click();
      radio?.dispatchEvent(new KeyboardEvent('keyup', { key: 'ArrowDown' }));
    };
    moveTo(second);
    await element.updateComplete;
    expect(element.status).to.equal('choosing-currency');
    expect(textOf(element, 'action')).to.equal('Continue');
    moveTo(first);
    first?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    await waitForStatus(element, 'choosing-network');
  });

  it('a key that went down elsewhere, or is held, chooses nothing', async () => {
    const element = await mountPayment(createdPayment());
    const radio = element.shadowRoot?.querySelector<HTMLInputElement>('input[type=radio]');
    const dispatch = (type: string, init: KeyboardEventInit) =>
      radio?.dispatchEvent(new KeyboardEvent(type, init));
    if (radio) radio.checked = true;
    dispatch('keyup', { key: ' ' });
    dispatch('keydown', { key: 'Enter', repeat: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(element.status).to.equal('choosing-currency');
    dispatch('keydown', { key: ' ' });
    dispatch('keyup', { key: ' ' });
    await waitForStatus(element, 'choosing-network');
  });

  it('the coin that this browser paid with last comes first', async () => {
    localStorage.setItem('crypto-checkout:last', 'BTC bitcoin');
    const element = await mountPayment(createdPayment());
    const [first] = element.shadowRoot?.querySelectorAll<HTMLInputElement>('input[type=radio]') ?? [];
    expect(first?.value).to.equal('BTC');
    expect(textOf(element, 'options')).to.contain('Last used');
  });

  it('a checkout with a currency from the page asks only for the network', async () => {
    const element = await mountPayment(createdPayment(), { currency: 'usdt' });
    await waitForStatus(element, 'choosing-network');
    pickOption(element, 'base');
    await waitForStatus(element, 'awaiting-funds');
  });

  it('the network picker warns of wrong networks', async () => {
    const element = await mountPayment(createdPayment());
    pickOption(element, 'USDT');
    await waitForStatus(element, 'choosing-network');
    const groups = [...(element.shadowRoot?.querySelectorAll('[role=radiogroup]') ?? [])];
    expect(groups.map((group) => group.getAttribute('aria-label'))).to.deep.equal(['Currency', 'Network']);
    expect(textOf(element, 'warning')).to.contain('the same network');
    const details = [...(element.shadowRoot?.querySelectorAll('.nested .detail') ?? [])].map(
      (detail) => detail.textContent,
    );
    // Cheapest first, and no time if both take as long.
    expect(details).to.deep.equal(['Lowest fee', 'Higher network fee']);
  });

  it('the choice is still picked after the payer goes back', async () => {
    const element = await mountPayment(createdPayment());
    pickOption(element, 'USDT');
    await waitForStatus(element, 'choosing-network');
    press(element, 'back');
    await waitForStatus(element, 'choosing-currency');
    const checked = element.shadowRoot?.querySelector<HTMLInputElement>('input:checked');
    expect(checked?.value).to.equal('USDT');
    expect(hasPart(element, 'back')).to.equal(false);
  });

  it('pickers with a single option are skipped', async () => {
    const element = await mountPayment(createdPayment({ currencyOptions: [bitcoin] }));
    await waitForStatus(element, 'awaiting-funds');
    expect(api.requestsFor('set').map(({ path }) => path.split('/').slice(-2))).to.deep.equal([
      ['BTC', 'bitcoin'],
    ]);
    expect(hasPart(element, 'back')).to.equal(false);
  });

  it('the pickers are skipped when the page sets currency and network', async () => {
    const element = await mountPayment(createdPayment(), { currency: 'usdt', network: 'base' });
    await waitForStatus(element, 'awaiting-funds');
    expect(api.requestsFor('set').map(({ path }) => path.split('/').slice(-2))).to.deep.equal([
      ['USDT', 'base'],
    ]);
  });

  it('the picker shows the networks’ times if they differ, and five digits of each amount', async () => {
    const slow = { ...usdtOnTron, blockSeconds: 120, networkFee: 0.01 };
    const exact = { ...bitcoin, amount: 0.000521349 };
    const element = await mountPayment(createdPayment({ currencyOptions: [slow, usdtOnBase, exact] }));
    expect(getPart(element, 'options').textContent).to.match(/≈\s0\.00052135\sBTC/);
    pickOption(element, 'USDT');
    await waitForStatus(element, 'choosing-network');
    const details = [...(element.shadowRoot?.querySelectorAll('.nested .detail') ?? [])].map(
      (detail) => detail.textContent,
    );
    // Both cost the same, so that neither is the lowest.
    expect(details).to.deep.equal(['Higher network fee · about 4 min', 'about 1 min']);
  });

  it('a picker of 13 or more coins has a search', async () => {
    const coins = ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC', 'A', 'B', 'C', 'D', 'E', 'F'];
    const options = coins.map((currency) => ({
      ...bitcoin,
      currency,
      name: `Coin ${currency}`,
      network: currency,
    }));
    const few = await mountPayment(createdPayment({ currencyOptions: options.slice(1) }));
    expect(hasPart(few, 'search')).to.equal(false);
    const element = await mountPayment(createdPayment({ currencyOptions: options }));
    const search = getPart(element, 'search');
    if (!(search instanceof HTMLInputElement)) throw new Error('The search is not an input');
    const type = async (query: string) => {
      search.value = query;
      search.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await element.updateComplete;
      return [...(element.shadowRoot?.querySelectorAll<HTMLInputElement>('input[type=radio]') ?? [])];
    };
    expect((await type('us')).map(({ value }) => value)).to.deep.equal(['USDT', 'USDC']);
    expect(await type('nothing')).to.have.length(0);
    expect(await type('')).to.have.length(13);
  });
});

describe('the address', () => {
  it('the address is shown in groups of four, dimmed in the middle', async () => {
    const element = await mountPayment(lockedPayment());
    const { address = '' } = lockedPayment().addressInformation ?? {};
    expect(getPart(element, 'address').textContent.replace(/\s/g, '')).to.equal(address);
    const groups = [...getPart(element, 'address').querySelectorAll('span')];
    expect(groups.map((group) => group.textContent)).to.deep.equal(address.match(/.{1,4}/g));
    expect(groups.filter((group) => group.className === 'dim')).to.have.length(groups.length - 4);
  });

  it('the address comes after the order, the time and the amount, and before the QR code, in a card of one column', async () => {
    const element = await mountPayment(lockedPayment());
    element.style.maxWidth = '400px';
    await waitFor(() => hasPart(element, 'qr-panel'));
    await waitFor(() => hasPart(element, 'qr') && hasPart(element, 'log'));
    const names = [
      'order',
      'countdown',
      'asset',
      'warning',
      'copy-amount',
      'amount',
      'copy-address',
      'address',
      'exchange',
      'action',
      'qr',
      'check',
      'check-now',
      'rate',
      'log',
    ];
    const parts = names.map((name) => getPart(element, name));
    const sorted = [...parts].sort((a, b) =>
      a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
    );
    expect(sorted.map((one) => one.getAttribute('part'))).to.deep.equal(names);
  });

  it('the QR code is in the first column, below the order, if the card has two columns', async () => {
    const element = await mountPayment(lockedPayment());
    element.style.width = '800px';
    await waitFor(() => hasPart(element, 'qr') && !hasPart(element, 'qr-panel'));
    const box = (name: string) => getPart(element, name).getBoundingClientRect();
    expect(box('qr').right).to.be.below(box('amount').left);
    expect(box('qr').top).to.be.above(box('order').bottom);
    expect(box('qr').top).to.be.below(box('address').bottom);
  });

  it('a second QR code, opened by the keyboard, takes the payment’s page to the phone', async () => {
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'phone'));
    const phone = getPart(element, 'phone') as HTMLDetailsElement;
    expect(phone.open, 'folded away').to.equal(false);
    const summary = phone.querySelector('summary');
    expect(summary?.textContent).to.equal('Pay on your phone');
    summary?.focus();
    expect(element.shadowRoot?.activeElement).to.equal(summary);
    summary?.click();
    await waitFor(() => getPart(element, 'phone-qr').getBoundingClientRect().width > 100);
    const code = getPart(element, 'phone-qr');
    expect(code.getAttribute('role')).to.equal('img');
    expect(code.getAttribute('aria-label')).to.equal('QR code: Pay on your phone');
    expect(phone.textContent).to.contain(
      'Scan it with your phone’s camera, not with a wallet. This page will show the payment.',
    );
    expect(
      getPart(element, 'qr').compareDocumentPosition(code) & Node.DOCUMENT_POSITION_FOLLOWING,
    ).to.be.above(0);
    expect(getPart(element, 'qr').innerHTML).not.to.equal(code.innerHTML);
    await pollPayment(element, lockedPayment({ amountSeen: 1, amountReceived: 1, state: 'partially_paid' }));
    expect((getPart(element, 'phone') as HTMLDetailsElement).open, 'as the payer left it').to.equal(true);
    await expect(element).to.be.accessible();
  });

  it('no second QR code is shown on a touch screen, or if the server does not name the payment’s page', async () => {
    const { pageUrl: _pageUrl, ...unnamed } = lockedPayment();
    const elsewhere = await mountPayment(unnamed);
    await waitFor(() => hasPart(elsewhere, 'log'));
    expect(hasPart(elsewhere, 'phone')).to.equal(false);
    elsewhere.remove();
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia(query === '(pointer: coarse)' ? 'all' : query);
    try {
      const touched = await mountPayment(lockedPayment());
      await waitFor(() => hasPart(touched, 'log'));
      expect(hasPart(touched, 'phone')).to.equal(false);
    } finally {
      window.matchMedia = matchMedia;
    }
  });

  it('the address is copied by its row and by the main action, and the amount by its row', async () => {
    const copied: string[] = [];
    const writeText = (text: string) => Promise.resolve(void copied.push(text));
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
    const element = await mountPayment(lockedPayment());
    const { address = '' } = lockedPayment().addressInformation ?? {};
    expect(textOf(element, 'action')).to.equal('Copy address');
    press(element);
    await waitFor(() => textOf(element, 'copy-address').includes('Copied'));
    press(element, 'copy-amount');
    await waitFor(() => textOf(element, 'copy-amount').includes('Copied'));
    getPart(element, 'address').click();
    await waitFor(() => copied.length === 3);
    expect(copied).to.deep.equal([address, String(lockedPayment().amount), address]);
    for (const name of ['copy-amount', 'copy-address']) {
      expect(getPart(element, name).offsetHeight, name).to.be.at.least(48);
    }
    Reflect.deleteProperty(navigator, 'clipboard');
  });

  it('the QR code for Tron is the bare address, and the caption says to enter the amount', async () => {
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'qr'));
    expect(getPart(element, 'qr').getAttribute('role')).to.equal('img');
    expect(getPart(element, 'qr').getAttribute('aria-label')).to.contain(
      lockedPayment().addressInformation?.address ?? '-',
    );
    expect(element.shadowRoot?.querySelector('figcaption')?.textContent).to.contain(
      'Enter 3.25\u00a0USDT yourself',
    );
    expect(hasPart(element, 'wallet')).to.equal(false);
  });

  it('the address for Bitcoin comes with the amount and a wallet link', async () => {
    const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    const addressInformation = { address, network: 'bitcoin', id: 'a' };
    const amounts = { amount: 7e-7, amountDue: 7e-7 };
    const element = await mountPayment(
      lockedPayment({ currency: 'BTC', currencyNetwork: 'bitcoin', addressInformation, ...amounts }),
    );
    await waitFor(() => hasPart(element, 'qr'));
    expect(getPart(element, 'wallet').getAttribute('href')).to.equal(`bitcoin:${address}?amount=0.0000007`);
    expect(element.shadowRoot?.querySelector('figcaption')?.textContent).to.contain('and the amount');
  });

  it('the address disappears when the payment expires, and one press starts a new payment', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    await pollPayment(element, paymentInState('expired'));
    expect(element.status).to.equal('expired');
    for (const name of ['address', 'qr', 'amount', 'copy-address'])
      expect(hasPart(element, name), name).to.equal(false);
    api.payment = createdPayment({ id: 'the-next' });
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(api.requestsFor('create')[1]?.body).to.have.property('txRef', 'order-42:2');
    expect(element.payment?.id).to.equal('the-next');
    const keys = api.requestsFor('create').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(new Set(keys)).to.have.length(2);
  });

  it('the address stays after a partial payment', async () => {
    const element = await mountPayment(
      paymentInState('partially_paid', { amountSeen: 1.5, amountDue: 1.746754 }),
    );
    expect(textOf(element, 'status')).to.match(
      /^1\.50\sUSDT seen, 0\.00\sUSDT confirmed\. Send the remaining 1\.746754\sUSDT/,
    );
    expect(textOf(element, 'amount')).to.equal('1.746754 USDT');
    expect(hasPart(element, 'address')).to.equal(true);
    expect(hasPart(element, 'cancel')).to.equal(false);
  });
});

describe('copying', () => {
  let copied: string[];
  const clipboard = Object.getOwnPropertyDescriptor(Navigator.prototype, 'clipboard');
  const setClipboard = (writeText: (text: string) => Promise<void>) =>
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });

  beforeEach(() => {
    copied = [];
    setClipboard((text) => Promise.resolve(void copied.push(text)));
  });
  afterEach(() => {
    Reflect.deleteProperty(navigator, 'clipboard');
    expect(Object.getOwnPropertyDescriptor(Navigator.prototype, 'clipboard')).to.deep.equal(clipboard);
  });

  it('the plain decimal and the whole address are copied, and a notice names coin and network', async () => {
    const element = await mountPayment(lockedPayment({ amount: 7e-7, amountDue: 7e-7 }), { locale: 'de' });
    expect(textOf(element, 'amount')).to.equal('0,0000007 USDT');
    press(element, 'copy-amount');
    press(element, 'copy-address');
    await waitFor(() => copied.length === 2);
    expect(copied).to.deep.equal(['0.0000007', lockedPayment().addressInformation?.address]);
    await waitFor(() => textOf(element, 'notice').includes('Send only USDT on Tron'));
    expect(getPart(element, 'notice').getAttribute('aria-live')).to.equal('polite');
  });

  for (const [what, next] of [
    ['all of it is paid', paymentInState('settled')],
    ['a part of it is paid', paymentInState('partially_paid', { amountSeen: 1.5, amountDue: 1.746754 })],
  ] as const) {
    it(`the notice of a copied address ends once ${what}`, async () => {
      const element = await mountPayment(lockedPayment());
      press(element, 'copy-address');
      await waitFor(() => textOf(element, 'notice').includes('Send only'));
      await pollPayment(element, next);
      expect(textOf(element, 'notice')).to.equal('');
    });
  }

  it('a copy that is done after the payment says nothing', async () => {
    let answer = () => {};
    setClipboard(() => new Promise((resolve) => (answer = resolve)));
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'copy-log'));
    press(element, 'copy-address');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await pollPayment(element, paymentInState('settled'));
    answer();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(textOf(element, 'notice')).to.equal('');
  });

  it('the time log is copied as text', async () => {
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'copy-log'));
    press(element, 'copy-log');
    await waitFor(() => copied.length === 1);
    expect(copied[0]?.split('\n')).to.deep.equal(
      ['Payment started', 'USDT on Tron chosen', 'Price fixed: 3.25\u00a0USDT on Tron'].map(
        (text, index) => `${lockedPayment().transactionTimeLog[index]?.time} ${text}`,
      ),
    );
  });

  const refuse = () => Promise.reject(new DOMException('Denied', 'NotAllowedError'));
  const setExecCommand = (execCommand: () => boolean) =>
    Object.defineProperty(document, 'execCommand', { configurable: true, value: execCommand });
  const fieldOf = (element: CryptoCheckout) => {
    const field = element.shadowRoot?.activeElement;
    return field instanceof HTMLTextAreaElement ? field : undefined;
  };
  const selectedIn = (element: CryptoCheckout) => {
    const field = fieldOf(element);
    return field?.value.slice(field.selectionStart, field.selectionEnd);
  };

  describe('in a browser that does not do it', () => {
    beforeEach(() => {
      setClipboard(refuse);
      setExecCommand(() => false);
    });
    afterEach(() => Reflect.deleteProperty(document, 'execCommand'));

    it('copying falls back to a selection if the browser refuses the clipboard', async () => {
      const element = await mountPayment(lockedPayment());
      setExecCommand(() => Boolean(copied.push(fieldOf(element)?.value ?? '')));
      press(element, 'copy-address');
      await waitFor(() => textOf(element, 'notice').startsWith('Address copied.'));
      expect(copied).to.deep.equal([lockedPayment().addressInformation?.address]);
      expect(hasPart(element, 'copy-field')).to.equal(false);
    });

    for (const [part, value] of [
      ['copy-address', lockedPayment().addressInformation?.address],
      ['copy-amount', String(lockedPayment().amount)],
      ['action', lockedPayment().addressInformation?.address],
    ] as const) {
      it(`a refused copy by ${part} shows the whole value in a selected field, and never says that it is copied`, async () => {
        const element = await mountPayment(lockedPayment());
        press(element, part);
        await waitFor(() => hasPart(element, 'copy-field') && Boolean(selectedIn(element)));
        expect(selectedIn(element)).to.equal(value);
        expect(fieldOf(element)?.readOnly).to.equal(true);
        expect(fieldOf(element)?.labels[0]?.textContent).to.equal(
          'Copying is blocked here. Copy the selected text yourself.',
        );
        for (const row of ['copy-address', 'copy-amount', 'notice'])
          expect(textOf(element, row), row).not.to.match(/copied/i);
      });
    }

    it('a field to copy from appears if the clipboard is silent for a second, and goes after a late answer', async () => {
      let answer = () => {};
      setClipboard(() => new Promise((resolve) => (answer = resolve)));
      const element = await mountPayment(lockedPayment());
      press(element, 'copy-address');
      await waitFor(() => Boolean(selectedIn(element)));
      expect(selectedIn(element)).to.equal(lockedPayment().addressInformation?.address);
      answer();
      await waitFor(() => textOf(element, 'notice').startsWith('Address copied.'));
      expect(hasPart(element, 'copy-field')).to.equal(false);
      expect(textOf(element, 'copy-address')).to.include('Copied');
    });

    it('an address counts as copied once the payer has copied all of it from the field', async () => {
      const element = await mountPayment(lockedPayment());
      press(element, 'copy-address');
      await waitFor(() => Boolean(selectedIn(element)));
      const field = fieldOf(element);
      field?.setSelectionRange(0, 3);
      field?.dispatchEvent(new ClipboardEvent('copy'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(hasPart(element, 'copy-field'), 'after a part of it').to.equal(true);
      field?.select();
      field?.dispatchEvent(new ClipboardEvent('copy'));
      await waitFor(() => textOf(element, 'notice').startsWith('Address copied.'));
      expect(hasPart(element, 'copy-field')).to.equal(false);
    });

    it('the field shows a log with all of its lines, and can be closed', async () => {
      const element = await mountPayment(lockedPayment());
      await waitFor(() => hasPart(element, 'copy-log'));
      press(element, 'copy-log');
      await waitFor(() => Boolean(selectedIn(element)));
      expect(selectedIn(element)?.split('\n')).to.have.length(3);
      press(element, 'close-copy-field');
      await waitFor(() => !hasPart(element, 'copy-field'));
    });

    it('the field disappears once its address or amount should not be paid any more', async () => {
      for (const [part, next] of [
        ['copy-amount', paymentInState('partially_paid', { amountSeen: 1.5, amountDue: 1.746754 })],
        ['copy-address', paymentInState('expired')],
        ['copy-address', lockedPayment({ expiresBy: Date.now() })],
      ] as const) {
        const element = await mountPayment(lockedPayment());
        press(element, part);
        await waitFor(() => hasPart(element, 'copy-field'));
        await pollPayment(element, next);
        await waitFor(() => !hasPart(element, 'copy-field'), `${part} goes`);
        element.remove();
      }
    });

    it('the field shows the newest of two requested copies', async () => {
      setClipboard(() => new Promise(() => {}));
      const element = await mountPayment(lockedPayment());
      press(element, 'copy-address');
      press(element, 'copy-amount');
      await waitFor(() => Boolean(selectedIn(element)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(selectedIn(element)).to.equal(String(lockedPayment().amount));
    });
  });
});

describe('the countdown', () => {
  it('the countdown follows the server’s clock, not the device’s', async () => {
    const serverNow = Date.now() + 3 * 86_400_000;
    api.handlers.retrieve = () =>
      Response.json(
        { status: 'success', message: '', data: lockedPayment({ expiresBy: serverNow + 754_000 }) },
        { headers: { date: new Date(serverNow).toUTCString() } },
      );
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    expect(getPart(element, 'countdown').getAttribute('role')).to.equal('timer');
    expect(textOf(element, 'countdown')).to.match(/^12:[23]\d$/);
    const before = textOf(element, 'countdown');
    await waitUntil(() => textOf(element, 'countdown') !== before, 'ticks', { timeout: 5_000 });
  });

  it('the countdown is announced only at 5 minutes, 1 minute and 30 seconds', async () => {
    const rows: [number, string][] = [
      [330, ''],
      [285, '5 minutes left to pay.'],
      [90, '5 minutes left to pay.'],
      [55, '1 minute left to pay.'],
      [45, '1 minute left to pay.'],
      [25, '30 seconds left to pay.'],
    ];
    for (const [seconds, spoken] of rows) {
      const element = await mountPayment(lockedPayment({ expiresBy: Date.now() + seconds * 1000 }));
      // Its words come right after the QR code.
      await waitFor(() => hasPart(element, 'log'));
      const live = element.shadowRoot?.querySelector('.time [aria-live]');
      expect(live?.textContent, `${seconds} s`).to.equal(spoken);
    }
  });

  it('the payment is checked at zero before it counts as expired', async () => {
    const element = await mountPayment(lockedPayment({ expiresBy: Date.now() + 1_200 }));
    await waitFor(() => hasPart(element, 'countdown') && textOf(element, 'countdown') === '0:00');
    expect(element.status).to.equal('awaiting-funds');
    await waitFor(() => textOf(element, 'status').includes('The last check is running'));
    for (const name of ['address', 'qr', 'amount', 'copy-address', 'wallet'])
      expect(hasPart(element, name), name).to.equal(false);
    await waitFor(() => api.requestsFor('verify').length > 0);
    // A poll in flight may still return the earlier state.
    api.payment = paymentInState('expired');
    await element.refresh();
    await waitForStatus(element, 'expired');
  });
});

describe('the final states say what happened to the money', () => {
  const rows: [string, Payment, CheckoutStatus, RegExp][] = [
    [
      'a settled payment shows the amount received',
      paymentInState('settled', { amountReceived: 3.25, amountSeen: 3.25 }),
      'success',
      /received 3\.25\sUSDT/,
    ],
    [
      'an overpaid payment shows the amounts sent and due',
      paymentInState('settled_over', { amountSeen: 5 }),
      'success',
      /^You sent 5\.00\sUSDT; 3\.25\sUSDT was due.*the excess/,
    ],
    [
      'a late payment that was accepted says so',
      paymentInState('settled_late'),
      'success',
      /after the time limit.*accepted/,
    ],
    [
      'an expired payment says that nothing arrived in time',
      paymentInState('expired'),
      'expired',
      /Nothing arrived in time/,
    ],
    [
      'an expired payment shows the part that arrived',
      paymentInState('expired_partial', { amountSeen: 1 }),
      'expired',
      /^1\.00\sUSDT of 3\.25\sUSDT arrived/,
    ],
    [
      'a payment that came too late shows its amount',
      paymentInState('expired_late', { amountSeen: 3 }),
      'expired',
      /^3\.00\sUSDT came too late/,
    ],
    ['an invalid payment refers to the shop', paymentInState('invalid'), 'error', /ask the shop/i],
    ['a reversed payment says so', paymentInState('reversed'), 'error', /reversed your payment/],
    ['a cancelled payment warns not to send', paymentInState('cancelled'), 'cancelled', /Do not send/],
    [
      'a payment after a cancellation shows its amount',
      paymentInState('cancelled_paid', { amountSeen: 2 }),
      'cancelled',
      /^2\.00\sUSDT came, but the payment is cancelled/,
    ],
  ];
  for (const [name, payment, status, sentence] of rows) {
    it(name, async () => {
      const element = await mountPayment(payment);
      expect(element.status).to.equal(status);
      await waitFor(() => hasPart(element, status === 'success' ? 'save' : 'action'));
      expect(getPart(element, 'status').getAttribute('role')).to.equal('status');
      expect(textOf(element, 'status')).to.match(sentence);
      // After a success without a shop to return to, nothing is left to do.
      expect(hasPart(element, 'action') ? textOf(element, 'action') : '').to.equal(
        status === 'success'
          ? ''
          : (payment.amountSeen ?? 0) > 0 && payment.state !== 'reversed'
            ? 'Copy message for the shop'
            : 'Start a new payment',
      );
      expect(hasPart(element, 'qr')).to.equal(false);
    });
  }

  it('an expired page still notices a late payment', async () => {
    const element = await mountPayment(paymentInState('expired'));
    await pollPayment(element, paymentInState('settled_late'));
    expect(element.status).to.equal('success');
  });

  it('a cancel asks once, explains what happens to money under way, and shows the server’s answer', async () => {
    const element = await mountPayment(lockedPayment());
    const events = recordEvents(element);
    press(element, 'cancel');
    await waitFor(() => hasPart(element, 'question'));
    expect(textOf(element, 'question')).to.contain('Coins that you have already sent go to the shop');
    press(element, 'keep');
    await element.updateComplete;
    expect(hasPart(element, 'question')).to.equal(false);
    press(element, 'cancel');
    await waitFor(() => hasPart(element, 'confirm'));
    expect(api.requestsFor('cancel')).to.have.length(0);
    press(element, 'confirm');
    await waitForStatus(element, 'cancelled');
    expect(api.requestsFor('cancel')).to.have.length(1);
    expect(events).to.deep.equal(['cancelled']);
  });
});

describe('the return to the shop', () => {
  const trusted = { redirectUrl: 'https://shop.example/thanks', isRedirectTrusted: true };
  const settled = paymentInState('settled', trusted);
  const waiting = lockedPayment(trusted);

  it('the return to the shop counts down, unless the payer stays', async () => {
    const element = await mountPayment(waiting);
    await pollPayment(element, settled);
    await waitFor(() => hasPart(element, 'redirect'));
    expect(textOf(element, 'action')).to.equal('Continue to shop.example');
    expect(textOf(element, 'redirect')).to.match(/Back to the shop in [78] s\./);
    getPart(element, 'redirect').querySelector('button')?.click();
    await element.updateComplete;
    expect(hasPart(element, 'redirect')).to.equal(false);
    expect(textOf(element, 'action')).to.equal('Continue to shop.example');
  });

  it('the return to the shop needs a press with no-redirect, and when the payer comes back later', async () => {
    const staying = await mountPayment(waiting, { 'no-redirect': '' });
    await pollPayment(staying, settled);
    expect(hasPart(staying, 'redirect')).to.equal(false);
    const later = await mountPayment(settled);
    expect(hasPart(later, 'redirect')).to.equal(false);
    expect(textOf(later, 'action')).to.equal('Continue to shop.example');
  });

  it('the page’s title is restored when the checkout is removed, unless the page has set another', async () => {
    const before = document.title;
    const element = await mountPayment(settled);
    expect(document.title).to.equal('✓ Paid');
    document.title = 'Another page of the shop';
    element.remove();
    expect(document.title).to.equal('Another page of the shop');
    document.title = before;
    const next = await mountPayment(settled);
    expect(document.title).to.equal('✓ Paid');
    next.remove();
    expect(document.title).to.equal(before);
  });

  it('the return names the host and asks, if anybody with the public key could have chosen the URL', async () => {
    const chosen = { redirectUrl: 'https://evil.example/login', isRedirectTrusted: false };
    const element = await mountPayment(lockedPayment(chosen));
    await pollPayment(element, paymentInState('settled', chosen));
    expect(hasPart(element, 'redirect')).to.equal(false);
    expect(textOf(element, 'action')).to.equal('Continue to evil.example');
  });

  it('the return to the shop never runs a script', async () => {
    const element = await mountPayment(waiting);
    await pollPayment(element, { ...settled, redirectUrl: 'javascript:alert(1)' });
    expect(hasPart(element, 'redirect')).to.equal(false);
    await waitFor(() => hasPart(element, 'save'));
    expect(hasPart(element, 'action')).to.equal(false);
  });
});

describe('the time log', () => {
  it('the time log stays open or closed as the payer left it, whatever the payment does', async () => {
    const isOpen = () => {
      const log = getPart(element, 'time-log');
      return log instanceof HTMLDetailsElement && log.open;
    };
    const turn = async () => {
      const before = isOpen();
      getPart(element, 'time-log').querySelector('summary')?.click();
      await waitFor(() => isOpen() !== before);
      // The browser reports the change in a task of its own.
      await aTimeout(50);
    };
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'time-log'));
    expect(isOpen()).to.equal(false);
    await turn();
    const all = { amountSeen: 3.25, confirmationsRequired: 2 };
    const next = [
      paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25 }),
      paymentInState('confirming', { ...all, confirmations: 0 }),
      paymentInState('confirming', { ...all, confirmations: 1 }),
    ];
    for (const payment of next) {
      await pollPayment(element, payment);
      expect(isOpen(), `${payment.state}, ${payment.confirmations} confirmations`).to.equal(true);
    }
    await turn();
    await pollPayment(element, paymentInState('settled', all));
    expect(isOpen()).to.equal(false);
  });
});

describe('the progress of confirmations', () => {
  it('the progress of confirmations moves while there is none, and stops at the first', async () => {
    const seen = { amountSeen: 3.25, confirmationsRequired: 2 };
    const element = await mountPayment(paymentInState('confirming', { ...seen, confirmations: 0 }));
    await waitFor(() => hasPart(element, 'progress'));
    const animation = () => getComputedStyle(getPart(element, 'progress')).animationName;
    expect(animation()).to.equal('slide');
    await pollPayment(element, paymentInState('confirming', { ...seen, confirmations: 1 }));
    expect(animation()).to.equal('none');
  });
});

describe('the page can', () => {
  it('the page can override any text', async () => {
    const element = await mount(orderAttributes);
    element.messages = {
      payAmount: ({ amount = '' }) => `Payer ${amount} !`,
      idleHeading: 'Payer en crypto',
    };
    await element.updateComplete;
    expect(textOf(element, 'action')).to.match(/^Payer NGN\s5,000\.00 !$/);
    expect(textOf(element, 'heading')).to.equal('Payer en crypto');
    expect(textOf(element, 'status')).to.equal('Pay from any wallet or exchange.');
  });

  it('the page can hide the time log and the branding', async () => {
    const branding = {
      id: 'm',
      businessName: 'Example Shop',
      name: 'Example',
      logo: 'https://shop.example/logo.png',
    };
    const stamps = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
    const payment = lockedPayment({ branding: { ...branding, ...stamps } });
    const full = await mountPayment(payment);
    expect(textOf(full, 'merchant')).to.equal('Example Shop');
    // The logo does not load here, so initials are shown.
    await waitFor(() => textOf(full, 'logo') === 'ES');
    await waitFor(() => hasPart(full, 'log'));
    const bare = await mountPayment(payment, { 'no-time-log': '', 'no-branding': '' });
    for (const name of ['merchant', 'logo', 'log']) expect(hasPart(bare, name), name).to.equal(false);
    const unsafe = await mountPayment({
      ...payment,
      branding: { ...branding, ...stamps, logo: 'http://shop.example/l.png' },
    });
    expect(textOf(unsafe, 'logo')).to.equal('ES');
  });

  it('the page can fill the slots', async () => {
    const element = await mountPayment(paymentInState('settled'));
    await waitFor(() => hasPart(element, 'save'));
    for (const slot of ['header', 'footer', 'success']) {
      const own = document.createElement('p');
      own.slot = slot;
      own.textContent = `Own ${slot}`;
      element.append(own);
      expect(own.assignedSlot?.name).to.equal(slot);
    }
    const failed = await mountPayment(paymentInState('expired'));
    await waitFor(() => hasPart(failed, 'action'));
    failed.innerHTML = '<p slot="error">Own error</p>';
    expect(failed.querySelector('p')?.assignedSlot?.name).to.equal('error');
  });

  it('the page can read payment and status, but not set them', async () => {
    const element = await mountPayment(lockedPayment());
    expect(element.payment?.id).to.equal(lockedPayment().id);
    expect(element.status).to.equal('awaiting-funds');
    expect(() => Object.assign(element, { payment: undefined })).to.throw(TypeError);
    expect(() => Object.assign(element, { status: 'success' })).to.throw(TypeError);
  });

  it('the page can listen for checkout-ready', async () => {
    const events = recordEvents(document);
    await mount(orderAttributes);
    await mount(orderAttributes);
    expect(events).to.deep.equal(['ready', 'ready']);
  });
});

describe('the time log', () => {
  it('the time log is an ordered list, newest last, with machine-readable times in the local time zone', async () => {
    const element = await mountPayment(lockedPayment());
    await waitFor(() => hasPart(element, 'log'));
    const list = getPart(element, 'log');
    expect(list.tagName).to.equal('OL');
    const entries = [...list.querySelectorAll('li')].map((entry) => [
      entry.querySelector('span')?.textContent,
      entry.querySelector('time')?.dateTime,
    ]);
    const texts = ['Payment started', 'USDT on Tron chosen', 'Price fixed: 3.25\u00a0USDT on Tron'];
    expect(entries).to.deep.equal(
      lockedPayment().transactionTimeLog.map(({ time }, index) => [texts[index], time]),
    );
    const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts();
    expect(list.textContent).to.contain(zone.find(({ type }) => type === 'timeZoneName')?.value);
  });
});

describe('focus', () => {
  it('focus moves to the next heading', async () => {
    const element = await mount(orderAttributes);
    getPart(element, 'action').focus();
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(element.shadowRoot?.activeElement === getPart(element, 'heading')).to.equal(true);
  });

  it('focus is not stolen from the page', async () => {
    const field = await fixture<HTMLInputElement>(html`<input aria-label="Elsewhere" />`);
    const element = await mountPayment(lockedPayment());
    field.focus();
    await pollPayment(element, paymentInState('confirming'));
    await pollPayment(element, paymentInState('settled'));
    expect(document.activeElement === field).to.equal(true);
  });

  it('focus stays when the state changes within a view', async () => {
    const element = await mountPayment(lockedPayment());
    getPart(element, 'copy-address').focus();
    await pollPayment(element, paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25 }));
    expect(element.shadowRoot?.activeElement === getPart(element, 'copy-address')).to.equal(true);
  });
});

describe('accessibility of', () => {
  const pages: [string, () => Promise<CryptoCheckout>][] = [
    ['idle', () => mount(orderAttributes)],
    ['choosing a coin', () => mountPayment(createdPayment())],
    [
      'searching among many coins',
      () =>
        mountPayment(
          createdPayment({
            currencyOptions: Array.from({ length: 9 }, (_none, i) => ({ ...bitcoin, currency: `C${i}` })),
          }),
        ),
    ],
    [
      'choosing a network',
      async () => {
        const element = await mountPayment(createdPayment());
        pickOption(element, 'USDT');
        await waitForStatus(element, 'choosing-network');
        return element;
      },
    ],
    [
      'quoted',
      () => {
        api.handlers.lock = () => new Promise<Response>(() => {});
        return mountPayment(quotedPayment());
      },
    ],
    [
      'awaiting funds, everything open',
      async () => {
        const writeText = () => Promise.reject(new DOMException('Denied', 'NotAllowedError'));
        Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
        Object.defineProperty(document, 'execCommand', { configurable: true, value: () => false });
        const element = await mountPayment(lockedPayment());
        await waitFor(() => hasPart(element, 'qr') && hasPart(element, 'log'));
        element.shadowRoot?.querySelectorAll('details').forEach((details) => (details.open = true));
        press(element, 'copy-amount');
        await waitFor(() => hasPart(element, 'copy-field'));
        return element;
      },
    ],
    ['in the last minute', () => mountPayment(lockedPayment({ expiresBy: Date.now() + 50_000 }))],
    [
      'reconnecting',
      async () => {
        const element = await mountPayment(lockedPayment());
        api.handlers.verify = () => Promise.reject(new TypeError('Failed to fetch'));
        await element.refresh();
        return element;
      },
    ],
    [
      'partially paid',
      () => mountPayment(paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25 })),
    ],
    ['confirming', () => mountPayment(paymentInState('confirming', { amountSeen: 3.25, confirmations: 1 }))],
    ['success', () => mountPayment(paymentInState('settled', { amountSeen: 3.25 }))],
    [
      'success, with redirect',
      async () => {
        const element = await mountPayment(lockedPayment());
        await pollPayment(element, paymentInState('settled', { redirectUrl: 'https://shop.example/thanks' }));
        return element;
      },
    ],
    ['error', () => mountPayment(paymentInState('invalid'))],
    ['expired', () => mountPayment(paymentInState('expired'))],
    ['cancelled', () => mountPayment(paymentInState('cancelled'))],
    [
      'failed to start',
      async () => {
        api.handlers.create = () =>
          Response.json(
            { status: 'error', message: 'No', data: { code: 'invalid_api_key', requestId: 'r' } },
            { status: 401 },
          );
        const element = await mount(orderAttributes);
        press(element);
        await waitForStatus(element, 'error');
        return element;
      },
    ],
  ];
  afterEach(() => {
    Reflect.deleteProperty(navigator, 'clipboard');
    Reflect.deleteProperty(document, 'execCommand');
  });
  for (const theme of ['light', 'dark'] as const) {
    for (const [name, open] of pages) {
      it(`the view “${name}” is accessible in the ${theme} theme`, async () => {
        const element = await open();
        element.theme = theme;
        await element.updateComplete;
        const background = getComputedStyle(getPart(element, 'card')).backgroundColor;
        expect(background).to.equal(theme === 'dark' ? 'rgb(20, 23, 29)' : 'rgb(255, 255, 255)');
        await expect(element).to.be.accessible();
      });
    }
  }

  it('every control is at least 44 px wide and high', async () => {
    const pages = [
      await mountPayment(createdPayment()),
      await mountPayment(quotedPayment()),
      await mountPayment(lockedPayment()),
      await mountPayment(paymentInState('settled')),
    ];
    for (const element of pages) {
      const find = () => [
        ...(element.shadowRoot?.querySelectorAll<HTMLElement>('button, a, summary, label') ?? []),
      ];
      // On a busy machine, the code of a view can come later than its payment.
      await waitUntil(() => find().length > 0, 'it has controls');
      for (const control of find()) {
        const { width, height } = control.getBoundingClientRect();
        // Controls in a closed <details> have no size. Rounding shifts boxes that a transform moves.
        if (height > 0) expect(Math.min(width, height) + 0.01, control.outerHTML).to.be.at.least(44);
      }
    }
  });
});

function labelOf(element: CryptoCheckout, labelled: Element | null | undefined): string {
  const id = labelled?.getAttribute('aria-labelledby') ?? '';
  return (element.shadowRoot?.getElementById(id)?.textContent ?? '').replace(/\s+/g, ' ').trim();
}
