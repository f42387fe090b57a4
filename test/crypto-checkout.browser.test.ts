/** What a payer sees and does in each state, and what a page can set and hear. */
import { aTimeout, expect, fixture, html, waitUntil } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CheckoutEvent, CheckoutStatus, CryptoCheckout } from '../src/index.js';
import {
  has,
  listen,
  order,
  part,
  payUpToAddress,
  pick,
  place,
  press,
  reach,
  textOf,
  until,
} from './element.js';
import { FakeApi } from './fake-api.js';
import { bitcoin, created, inState, locked, quoted } from './records.js';

let api: FakeApi;

beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
});
afterEach(() => api.remove());

const resuming = { 'public-key': 'pk_test_x', 'payment-id': created().id, locale: 'en' };

async function show(payment: Payment, attributes: object = {}): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await place({ ...resuming, ...attributes });
  await until(() => !['idle', 'creating'].includes(element.getAttribute('status') ?? ''));
  return element;
}

/** Hears of a later record, as if a poll had brought it. */
async function report(element: CryptoCheckout, payment: Payment): Promise<void> {
  api.payment = payment;
  await element.refresh();
  await element.updateComplete;
}

describe('before it is started', () => {
  it('shows order, amount and one button, and asks the server nothing', async () => {
    const element = await place({ ...order, locale: 'en' });
    expect(element.getAttribute('status')).to.equal('idle');
    expect(textOf(element, 'order')).to.equal('Order order-42');
    expect(textOf(element, 'total')).to.match(/^NGN\s5,000\.00$/);
    expect(textOf(element, 'action')).to.equal('Pay');
    await aTimeout(50);
    expect(api.requests).to.have.length(0);
  });

  it('is started by start() as by the button', async () => {
    const element = await place(order);
    const events = listen(element);
    await element.start();
    await reach(element, 'choosing-currency');
    expect(events).to.deep.equal(['created']);
  });
});

describe('the way to the address', () => {
  it('fires one event for each change, after its view is there, up through shadow roots', async () => {
    const element = await place(order);
    const events = listen(document);
    const seen: [string, CheckoutStatus, boolean][] = [];
    element.addEventListener('checkout-locked', (event: CheckoutEvent) => {
      seen.push([event.payment?.id ?? '', element.status, has(element, 'address')]);
    });
    await payUpToAddress(element);
    expect(events).to.deep.equal(['created', 'currency-set', 'locked']);
    expect(seen).to.deep.equal([[created().id, 'awaiting-funds', true]]);
    await report(element, inState('partially_paid', { amountSeen: 1, amountDue: 2.246754 }));
    await report(element, inState('partially_paid', { amountSeen: 1, amountDue: 2.246754 }));
    await report(element, inState('confirming', { amountSeen: 3.246754, amountDue: 0 }));
    await report(element, inState('settled', { amountSeen: 3.246754 }));
    expect(events.slice(3)).to.deep.equal(['detected', 'partial', 'confirming', 'success']);
  });

  it('goes by radio groups that are named, and whose options are', async () => {
    const element = await show(created());
    const group = element.shadowRoot?.querySelector('[role=radiogroup]');
    expect(labelOf(element, group)).to.equal('Currency');
    const options = [...(group?.querySelectorAll('input') ?? [])];
    expect(options.map((option) => labelOf(element, option))).to.deep.equal([
      'Tether USD USDT',
      'Bitcoin BTC',
    ]);
    expect(textOf(element, 'option')).to.contain('≈ 3.246754');
  });

  it('does not go on before something is picked', async () => {
    const element = await show(created());
    press(element);
    await element.updateComplete;
    expect(element.status).to.equal('choosing-currency');
    expect(api.of('set')).to.have.length(0);
  });

  it('warns of wrong networks where the network is picked', async () => {
    const element = await show(created());
    pick(element, 'USDT');
    await element.updateComplete;
    press(element);
    await reach(element, 'choosing-network');
    expect(labelOf(element, element.shadowRoot?.querySelector('[role=radiogroup]'))).to.equal('Network');
    expect(textOf(element, 'warning')).to.contain('the same network');
    const details = [...(element.shadowRoot?.querySelectorAll('.detail') ?? [])].map(
      (detail) => detail.textContent,
    );
    expect(details).to.deep.equal(['Low network fee · about 1 min', 'Low network fee · about 1 min']);
  });

  it('leads back with the choice kept', async () => {
    const element = await show(quoted());
    press(element, 'back');
    await reach(element, 'choosing-network');
    press(element, 'back');
    await reach(element, 'choosing-currency');
    const checked = element.shadowRoot?.querySelector<HTMLInputElement>('input:checked');
    expect(checked?.value).to.equal('USDT');
    expect(has(element, 'back')).to.equal(false);
  });

  it('has no pickers where there is one option', async () => {
    const element = await show(created({ currencyOptions: [bitcoin] }));
    await reach(element, 'quoted');
    expect(api.of('set').map(({ path }) => path.split('/').slice(-2))).to.deep.equal([['BTC', 'bitcoin']]);
    expect(has(element, 'back')).to.equal(false);
  });

  it('has no pickers where the page names currency and network', async () => {
    const element = await show(created(), { currency: 'usdt', network: 'base' });
    await reach(element, 'quoted');
    expect(api.of('set').map(({ path }) => path.split('/').slice(-2))).to.deep.equal([['USDT', 'base']]);
  });

  it('has a search from 8 coins on, which keeps what is picked', async () => {
    const coins = ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC', 'POL'];
    const options = coins.map((currency) => ({
      ...bitcoin,
      currency,
      name: `Coin ${currency}`,
      network: currency,
    }));
    const few = await show(created({ currencyOptions: options.slice(1) }));
    expect(has(few, 'search')).to.equal(false);
    const element = await show(created({ currencyOptions: options }));
    pick(element, 'LTC');
    const search = part(element, 'search');
    if (!(search instanceof HTMLInputElement)) throw new Error('The search is no field');
    const type = async (query: string) => {
      search.value = query;
      search.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await element.updateComplete;
      return [...(element.shadowRoot?.querySelectorAll<HTMLInputElement>('input[type=radio]') ?? [])];
    };
    expect((await type('us')).map(({ value }) => value)).to.deep.equal(['USDT', 'USDC']);
    expect(await type('nothing')).to.have.length(0);
    expect((await type('')).filter(({ checked }) => checked).map(({ value }) => value)).to.deep.equal([
      'LTC',
    ]);
  });
});

describe('the address', () => {
  it('stands in groups of four, dimmed in the middle, and is whole', async () => {
    const element = await show(locked());
    const { address = '' } = locked().addressInformation ?? {};
    expect(part(element, 'address').textContent.replace(/\s/g, '')).to.equal(address);
    const groups = [...part(element, 'address').querySelectorAll('span')];
    expect(groups.map((group) => group.textContent)).to.deep.equal(address.match(/.{1,4}/g));
    expect(groups.filter((group) => group.className === 'dim')).to.have.length(groups.length - 4);
  });

  it('follows merchant and order, amount and time, in the order a payer needs them', async () => {
    const element = await show(locked());
    await until(() => has(element, 'qr'));
    const names = [
      'order',
      'amount',
      'base-amount',
      'countdown',
      'qr',
      'address',
      'warning',
      'exchange',
      'log',
    ];
    const parts = names.map((name) => part(element, name));
    const sorted = [...parts].sort((a, b) =>
      a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
    );
    expect(sorted.map((one) => one.getAttribute('part'))).to.deep.equal(names);
  });

  it('is a bare address in the QR code, labelled so', async () => {
    const element = await show(locked());
    await until(() => has(element, 'qr'));
    expect(part(element, 'qr').getAttribute('role')).to.equal('img');
    expect(part(element, 'qr').getAttribute('aria-label')).to.contain(
      locked().addressInformation?.address ?? '-',
    );
    expect(textOf(element, 'qr-panel')).to.contain('Type the amount yourself');
    expect(has(element, 'wallet')).to.equal(false);
  });

  it('of Bitcoin comes with the amount, and a link to a wallet', async () => {
    const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    const addressInformation = { address, network: 'bitcoin', id: 'a' };
    const amounts = { amount: 7e-7, amountDue: 7e-7 };
    const element = await show(
      locked({ currency: 'BTC', currencyNetwork: 'bitcoin', addressInformation, ...amounts }),
    );
    await until(() => has(element, 'qr'));
    expect(part(element, 'wallet').getAttribute('href')).to.equal(`bitcoin:${address}?amount=0.0000007`);
    expect(textOf(element, 'qr-panel')).to.contain('and the amount');
  });

  it('is gone when the time is up, and a new payment is one press away', async () => {
    const element = await place(order);
    await payUpToAddress(element);
    await report(element, inState('expired'));
    expect(element.status).to.equal('expired');
    for (const name of ['address', 'qr', 'amount', 'copy-address'])
      expect(has(element, name), name).to.equal(false);
    api.payment = created({ id: 'the-next' });
    press(element);
    await reach(element, 'choosing-currency');
    expect(api.of('create')[1]?.body).to.have.property('txRef', 'order-42:2');
    expect(element.payment?.id).to.equal('the-next');
    const keys = api.of('create').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(new Set(keys)).to.have.length(2);
  });

  it('stays for the rest of a partial payment', async () => {
    const element = await show(inState('partially_paid', { amountSeen: 1.5, amountDue: 1.746754 }));
    expect(textOf(element, 'status')).to.match(/^1\.5\sUSDT arrived, 1\.746754\sUSDT is left\./);
    expect(textOf(element, 'amount')).to.equal('1.746754 USDT');
    expect(has(element, 'address')).to.equal(true);
    expect(has(element, 'cancel')).to.equal(false);
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

  it('takes the plain decimal and the whole address, and says so with the network', async () => {
    const element = await show(locked({ amount: 7e-7, amountDue: 7e-7 }), { locale: 'de' });
    expect(textOf(element, 'amount')).to.equal('0,0000007 USDT');
    press(element, 'copy-amount');
    press(element, 'copy-address');
    await until(() => copied.length === 2);
    expect(copied).to.deep.equal(['0.0000007', locked().addressInformation?.address]);
    await until(() => textOf(element, 'notice').includes('Send only USDT on Tron'));
    expect(part(element, 'notice').getAttribute('aria-live')).to.equal('polite');
  });

  it('takes the time log as text', async () => {
    const element = await show(locked());
    press(element, 'copy-log');
    await until(() => copied.length === 1);
    expect(copied[0]?.split('\n')).to.deep.equal(
      locked().transactionTimeLog.map(({ time, event }) => `${time} ${event}`),
    );
  });

  it('works without permission for the clipboard, or says that it does not', async () => {
    setClipboard(() => Promise.reject(new DOMException('Denied', 'NotAllowedError')));
    const element = await show(locked());
    try {
      const execCommand = () => {
        const field = element.shadowRoot?.activeElement;
        if (field instanceof HTMLTextAreaElement) copied.push(field.value);
        return copied.length === 1;
      };
      Object.defineProperty(document, 'execCommand', { configurable: true, value: execCommand });
      press(element, 'copy-address');
      await until(() => textOf(element, 'notice').startsWith('Copied.'));
      expect(copied).to.deep.equal([locked().addressInformation?.address]);
      press(element, 'copy-amount');
      await until(() => textOf(element, 'notice').startsWith('Copying is blocked'));
      expect(element.shadowRoot?.querySelectorAll('textarea').length).to.equal(0);
    } finally {
      Reflect.deleteProperty(document, 'execCommand');
    }
  });
});

describe('the countdown', () => {
  it('goes by the server’s clock, not the device’s', async () => {
    const serverNow = Date.now() + 3 * 86_400_000;
    api.answers.retrieve = () =>
      Response.json(
        { status: 'success', message: '', data: locked({ expiresBy: serverNow + 754_000 }) },
        { headers: { date: new Date(serverNow).toUTCString() } },
      );
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    expect(part(element, 'countdown').getAttribute('role')).to.equal('timer');
    expect(textOf(element, 'countdown')).to.match(/^12:3[345]$/);
    const before = textOf(element, 'countdown');
    await waitUntil(() => textOf(element, 'countdown') !== before, 'ticks', { timeout: 2_500 });
  });

  it('is spoken at 5 minutes, 1 minute and 30 seconds only', async () => {
    const rows: [number, string][] = [
      [301, ''],
      [299, '5 minutes left to pay.'],
      [62, '5 minutes left to pay.'],
      [59, '1 minute left to pay.'],
      [32, '1 minute left to pay.'],
      [29, '30 seconds left to pay.'],
    ];
    for (const [seconds, spoken] of rows) {
      const element = await show(locked({ expiresBy: Date.now() + seconds * 1000 }));
      const live = element.shadowRoot?.querySelector('.time [aria-live]');
      expect(live?.textContent, `${seconds} s`).to.equal(spoken);
    }
  });

  it('asks the server at zero before it says that the time is up', async () => {
    const element = await show(locked({ expiresBy: Date.now() + 1_200 }));
    await waitUntil(() => textOf(element, 'countdown') === '0:00', 'runs out', { timeout: 4_000 });
    expect(element.status).to.equal('awaiting-funds');
    await until(() => textOf(element, 'status').includes('Asking whether your payment arrived'));
    await until(() => api.of('verify').length > 0);
    await report(element, inState('expired'));
    expect(element.status).to.equal('expired');
  });
});

describe('the endings tell what became of the money', () => {
  const rows: [string, Payment, CheckoutStatus, RegExp][] = [
    [
      'settled',
      inState('settled', { amountReceived: 3.246754, amountSeen: 3.246754 }),
      'success',
      /received 3\.246754\sUSDT/,
    ],
    [
      'over',
      inState('settled_over', { amountSeen: 5 }),
      'success',
      /^You sent 5\sUSDT, more than the 3\.246754\sUSDT.*the excess/,
    ],
    ['late', inState('settled_late'), 'success', /after the time limit.*accepted/],
    ['expired', inState('expired'), 'expired', /Nothing arrived in time/],
    [
      'expired with a part',
      inState('expired_partial', { amountSeen: 1 }),
      'expired',
      /^1\sUSDT of 3\.246754\sUSDT arrived/,
    ],
    ['too late', inState('expired_late', { amountSeen: 3 }), 'expired', /^3\sUSDT came after the time limit/],
    ['invalid', inState('invalid'), 'error', /not the coin that was asked for/],
    ['reversed', inState('reversed'), 'error', /took your payment back/],
    ['cancelled', inState('cancelled'), 'cancelled', /Do not send/],
    [
      'cancelled, then paid',
      inState('cancelled_paid', { amountSeen: 2 }),
      'cancelled',
      /^Your 2\sUSDT came after/,
    ],
  ];
  for (const [name, payment, status, sentence] of rows) {
    it(name, async () => {
      const element = await show(payment);
      expect(element.status).to.equal(status);
      expect(part(element, 'status').getAttribute('role')).to.equal('status');
      expect(textOf(element, 'status')).to.match(sentence);
      expect(textOf(element, 'action')).to.equal(
        status === 'success' ? 'Copy receipt' : 'Start a new payment',
      );
      expect(has(element, 'qr')).to.equal(false);
    });
  }

  it('and a late payment is heard of on an expired page', async () => {
    const element = await show(inState('expired'));
    await report(element, inState('settled_late'));
    expect(element.status).to.equal('success');
  });

  it('cancelling is one press, and shows the server’s answer', async () => {
    const element = await show(locked());
    const events = listen(element);
    press(element, 'cancel');
    await reach(element, 'cancelled');
    expect(api.of('cancel')).to.have.length(1);
    expect(events).to.deep.equal(['cancelled']);
  });
});

describe('the way back to the shop', () => {
  const settled = inState('settled', { redirectUrl: 'https://shop.example/thanks' });
  const waiting = locked({ redirectUrl: 'https://shop.example/thanks' });

  it('is taken by itself after some seconds, unless the payer stays', async () => {
    const element = await show(waiting);
    await report(element, settled);
    expect(textOf(element, 'action')).to.equal('Back to the shop');
    expect(textOf(element, 'redirect')).to.match(/Back to the shop in [78] s\./);
    part(element, 'redirect').querySelector('button')?.click();
    await element.updateComplete;
    expect(has(element, 'redirect')).to.equal(false);
    expect(textOf(element, 'action')).to.equal('Back to the shop');
  });

  it('is only offered with no-redirect, and to who comes back later', async () => {
    const staying = await show(waiting, { 'no-redirect': '' });
    await report(staying, settled);
    expect(has(staying, 'redirect')).to.equal(false);
    const later = await show(settled);
    expect(has(later, 'redirect')).to.equal(false);
    expect(textOf(later, 'action')).to.equal('Back to the shop');
  });

  it('is never a script', async () => {
    const element = await show(waiting);
    await report(element, { ...settled, redirectUrl: 'javascript:alert(1)' });
    expect(has(element, 'redirect')).to.equal(false);
    expect(textOf(element, 'action')).to.equal('Copy receipt');
  });
});

describe('a page can', () => {
  it('replace any text', async () => {
    const element = await place(order);
    element.messages = { pay: 'Payer {amount}', idleHeading: 'Payer en crypto' };
    await element.updateComplete;
    expect(textOf(element, 'action')).to.equal('Payer {amount}');
    expect(textOf(element, 'heading')).to.equal('Payer en crypto');
    expect(textOf(element, 'status')).to.equal('Pay from any wallet or exchange.');
  });

  it('leave out time log and branding', async () => {
    const branding = {
      id: 'm',
      businessName: 'Example Shop',
      name: 'Example',
      logo: 'https://shop.example/logo.png',
    };
    const stamps = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
    const payment = locked({ branding: { ...branding, ...stamps } });
    const full = await show(payment);
    expect(textOf(full, 'merchant')).to.equal('Example Shop');
    expect(part(full, 'logo').getAttribute('src')).to.equal('https://shop.example/logo.png');
    expect(has(full, 'log')).to.equal(true);
    const bare = await show(payment, { 'no-time-log': '', 'no-branding': '' });
    for (const name of ['merchant', 'logo', 'log']) expect(has(bare, name), name).to.equal(false);
    const unsafe = await show({
      ...payment,
      branding: { ...branding, ...stamps, logo: 'http://shop.example/l.png' },
    });
    expect(has(unsafe, 'logo')).to.equal(false);
  });

  it('fill the slots', async () => {
    const element = await show(inState('settled'));
    for (const slot of ['header', 'footer', 'success']) {
      const own = document.createElement('p');
      own.slot = slot;
      own.textContent = `Own ${slot}`;
      element.append(own);
      expect(own.assignedSlot?.name).to.equal(slot);
    }
    const failed = await show(inState('expired'));
    failed.innerHTML = '<p slot="error">Own error</p>';
    expect(failed.querySelector('p')?.assignedSlot?.name).to.equal('error');
  });

  it('read payment and status, and set neither', async () => {
    const element = await show(locked());
    expect(element.payment?.id).to.equal(locked().id);
    expect(element.status).to.equal('awaiting-funds');
    expect(() => Object.assign(element, { payment: undefined })).to.throw(TypeError);
    expect(() => Object.assign(element, { status: 'success' })).to.throw(TypeError);
  });

  it('hear that it is ready', async () => {
    const heard = listen(document);
    await place(order);
    await place(order);
    expect(heard).to.deep.equal(['ready', 'ready']);
  });
});

describe('the time log', () => {
  it('is an ordered list, newest last, its times readable by machines and in the zone of the reader', async () => {
    const element = await show(locked());
    const list = part(element, 'log');
    expect(list.tagName).to.equal('OL');
    const entries = [...list.querySelectorAll('li')].map((entry) => [
      entry.querySelector('span')?.textContent,
      entry.querySelector('time')?.dateTime,
    ]);
    expect(entries).to.deep.equal(locked().transactionTimeLog.map(({ event, time }) => [event, time]));
    const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts();
    expect(list.textContent).to.contain(zone.find(({ type }) => type === 'timeZoneName')?.value);
  });
});

describe('focus', () => {
  it('follows the payer to the next heading', async () => {
    const element = await place(order);
    part(element, 'action').focus();
    press(element);
    await reach(element, 'choosing-currency');
    expect(element.shadowRoot?.activeElement === part(element, 'heading')).to.equal(true);
  });

  it('is not taken from the page', async () => {
    const field = await fixture<HTMLInputElement>(html`<input aria-label="Elsewhere" />`);
    const element = await show(locked());
    field.focus();
    await report(element, inState('confirming'));
    await report(element, inState('settled'));
    expect(document.activeElement === field).to.equal(true);
  });

  it('stays where it is while the payment moves on within its view', async () => {
    const element = await show(locked());
    part(element, 'copy-address').focus();
    await report(element, inState('partially_paid', { amountSeen: 1, amountDue: 2.246754 }));
    expect(element.shadowRoot?.activeElement === part(element, 'copy-address')).to.equal(true);
  });
});

describe('accessible', () => {
  const pages: [string, () => Promise<CryptoCheckout>][] = [
    ['idle', () => place(order)],
    ['choosing a coin', () => show(created())],
    [
      'searching among many coins',
      () =>
        show(
          created({
            currencyOptions: Array.from({ length: 9 }, (_none, i) => ({ ...bitcoin, currency: `C${i}` })),
          }),
        ),
    ],
    [
      'choosing a network',
      async () => {
        const element = await show(created());
        pick(element, 'USDT');
        await element.updateComplete;
        press(element);
        await reach(element, 'choosing-network');
        return element;
      },
    ],
    ['quoted', () => show(quoted())],
    [
      'awaiting funds, all opened',
      async () => {
        const element = await show(locked());
        await until(() => has(element, 'qr'));
        element.shadowRoot?.querySelectorAll('details').forEach((details) => (details.open = true));
        press(element, 'copy-amount');
        await until(() => textOf(element, 'notice') !== '');
        return element;
      },
    ],
    ['in the last minute', () => show(locked({ expiresBy: Date.now() + 50_000 }))],
    [
      'reconnecting',
      async () => {
        const element = await show(locked());
        api.answers.verify = () => Promise.reject(new TypeError('Failed to fetch'));
        await element.refresh();
        return element;
      },
    ],
    ['partially paid', () => show(inState('partially_paid', { amountSeen: 1, amountDue: 2.246754 }))],
    ['confirming', () => show(inState('confirming', { amountSeen: 3.246754, confirmations: 1 }))],
    ['success', () => show(inState('settled', { amountSeen: 3.246754 }))],
    [
      'success, on the way back to the shop',
      async () => {
        const element = await show(locked());
        await report(element, inState('settled', { redirectUrl: 'https://shop.example/thanks' }));
        return element;
      },
    ],
    ['error', () => show(inState('invalid'))],
    ['expired', () => show(inState('expired'))],
    ['cancelled', () => show(inState('cancelled'))],
    [
      'failed to start',
      async () => {
        api.answers.create = () =>
          Response.json(
            { status: 'error', message: 'No', data: { code: 'invalid_api_key', requestId: 'r' } },
            { status: 401 },
          );
        const element = await place(order);
        press(element);
        await reach(element, 'error');
        return element;
      },
    ],
  ];
  for (const theme of ['light', 'dark'] as const) {
    for (const [name, open] of pages) {
      it(`${name}, ${theme}`, async () => {
        const element = await open();
        element.theme = theme;
        await element.updateComplete;
        const background = getComputedStyle(part(element, 'card')).backgroundColor;
        expect(background).to.equal(theme === 'dark' ? 'rgb(20, 23, 29)' : 'rgb(255, 255, 255)');
        await expect(element).to.be.accessible();
      });
    }
  }

  it('every control is large enough to hit', async () => {
    const pages = [
      await show(created()),
      await show(quoted()),
      await show(locked()),
      await show(inState('settled')),
    ];
    for (const element of pages) {
      const controls = element.shadowRoot?.querySelectorAll<HTMLElement>('button, a, summary, label') ?? [];
      expect(controls.length).to.be.greaterThan(0);
      for (const control of controls) {
        const { width, height } = control.getBoundingClientRect();
        // What stands in a closed disclosure has no size.
        if (height > 0) expect(Math.min(width, height), control.outerHTML).to.be.at.least(44);
      }
    }
  });
});

function labelOf(element: CryptoCheckout, labelled: Element | null | undefined): string {
  const id = labelled?.getAttribute('aria-labelledby') ?? '';
  return (element.shadowRoot?.getElementById(id)?.textContent ?? '').replace(/\s+/g, ' ').trim();
}
