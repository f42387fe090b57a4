/** Public reports of "copied" marks that outlive what they are about. */
import { expect } from '@open-wc/testing';
import { mount, press, textOf, waitFor } from '../support/element.js';
import { useFakeApi } from '../support/fake-api.js';
import { lockedPayment, paymentInState } from '../support/payments.js';

const api = useFakeApi();
const attributes = { 'public-key': 'pk_test_x', 'payment-id': lockedPayment().id, locale: 'en' };

const mountLocked = async () => {
  api.payment = lockedPayment();
  const element = await mount(attributes);
  await waitFor(() => textOf(element, 'action') === 'Copy address');
  return element;
};

describe('a copied mark', () => {
  beforeEach(() => {
    const value = { writeText: () => Promise.resolve() };
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value });
  });
  afterEach(() => Reflect.deleteProperty(navigator, 'clipboard'));

  it('IBM-Cloud/cf-deployment-tracker-service#54: the mark of a copied address ends once the amount is copied', async () => {
    const element = await mountLocked();
    press(element, 'copy-address');
    await waitFor(() => textOf(element, 'copy-address').includes('Copied'));
    press(element, 'copy-amount');
    await waitFor(() => textOf(element, 'copy-amount').includes('Copied'));
    expect(textOf(element, 'copy-address')).not.to.include('Copied');
    expect(textOf(element, 'notice')).to.match(/^Amount copied/);
  });

  it('IBM-Cloud/cf-deployment-tracker-service#54: the mark of a copied amount ends once another amount is due', async () => {
    const element = await mountLocked();
    press(element, 'copy-amount');
    await waitFor(() => textOf(element, 'copy-amount').includes('Copied'));
    api.payment = paymentInState('partially_paid', { amountSeen: 1.5, amountDue: 1.746754 });
    await element.refresh();
    await waitFor(() => textOf(element, 'amount').includes('1.746754'));
    expect(textOf(element, 'copy-amount')).not.to.include('Copied');
    expect(textOf(element, 'notice')).to.equal('');
  });
});
