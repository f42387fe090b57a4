/** Public reports of nearly valid input: it is read as people write it, or the page's developer learns of it. */
import { expect } from '@open-wc/testing';
import {
  getPart,
  hasPart,
  mount,
  orderAttributes,
  textOf,
  waitFor,
  waitForStatus,
} from '../support/element.js';
import { failureReply, FakeApi } from '../support/fake-api.js';

let api: FakeApi;
let logged: string;
const { error } = console;
beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
  logged = '';
  console.error = (...values: unknown[]) => void (logged += `${values.join(' ')}\n`);
});
afterEach(() => {
  api.remove();
  console.error = error;
});

for (const [locale, text] of [
  ['pt_BR', 'Pagar'],
  ['PT-br', 'Pagar'],
  ['fr_CA.UTF-8', 'Payer'],
  ['zh_Hant_TW', '支付'],
  ['en_GB', 'Pay'],
] as const) {
  it(`Automattic/statify#345: the language ${locale} is read as people write it`, async () => {
    const element = await mount({ ...orderAttributes, locale });
    await waitFor(
      () => textOf(element, 'action').includes(text),
      `${textOf(element, 'action')} in ${locale}`,
    );
  });
}

const attributes = [
  'public-key',
  'api-url',
  'payment-id',
  'amount',
  'base-currency',
  'tx-ref',
  'customer-email',
  'customer-name',
  'customer-phone',
  'redirect-url',
  'currency',
  'network',
] as const;
for (const [index, attribute] of attributes.entries()) {
  // Each attribute once, and each value several times: the card says it only after a pause.
  const value = ['undefined', 'null', 'NaN', '[object Object]'][index % 4] ?? '';
  it(`${attribute}="${value}" is a mistake of the page`, async () => {
    const element = await mount({ ...orderAttributes, [attribute]: value });
    await waitFor(() => hasPart(element, 'error'), 'the card says it');
    expect(textOf(element, 'error').toLowerCase()).to.contain(`${attribute} is "${value.toLowerCase()}"`);
    expect(hasPart(element, 'action')).to.equal(false);
    expect(api.requests).to.have.length(0);
    expect(logged).to.contain(attribute);
  });
}

for (const [attribute, value] of [
  ['merchant-name', 'undefined'],
  ['merchant-logo', 'null'],
  ['locale', 'null'],
] as const)
  it(`${attribute}="${value}", which is only shown, is ignored with a warning, and the payment starts`, async () => {
    let warned = '';
    const { warn } = console;
    console.warn = (...values: unknown[]) => void (warned += values.join(' '));
    try {
      const element = await mount({ ...orderAttributes, [attribute]: value });
      await waitFor(() => hasPart(element, 'action'), 'the pay button');
      expect(element.shadowRoot?.querySelector('.card')?.textContent).to.not.contain(value);
      getPart(element, 'action').click();
      await waitForStatus(element, 'choosing-currency');
      expect(warned).to.contain(`${attribute}="${value}"`);
    } finally {
      console.warn = warn;
    }
  });

for (const name of ['Null', 'Nan', 'NULL', 'Undefined'])
  it(`a payer named ${name} can pay`, async () => {
    const element = await mount({ ...orderAttributes, 'customer-name': name });
    await waitFor(() => hasPart(element, 'action'), 'the pay button');
    getPart(element, 'action').click();
    await waitForStatus(element, 'choosing-currency');
    expect(logged).to.equal('');
  });

it('no-branding="false", as React 18 writes it, leaves the branding', async () => {
  const element = await mount({ ...orderAttributes, 'merchant-name': 'Naija Loom', 'no-branding': 'false' });
  expect(element.noBranding).to.equal(false);
  expect(textOf(element, 'merchant')).to.equal('Naija Loom');
  element.setAttribute('no-branding', '');
  expect(element.noBranding).to.equal(true);
});

it('a public key that the server does not know is reported before any press', async () => {
  api.offer = () => failureReply(401, 'invalid_api_key');
  const element = await mount(orderAttributes);
  await waitFor(() => hasPart(element, 'error'), 'the card says it');
  expect(getPart(element, 'error').textContent).to.contain('This public key is unknown here');
  expect(logged).to.contain('invalid_api_key');
});
