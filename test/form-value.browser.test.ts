/** The checkout as a form control. */
import { expect, fixture, html } from '@open-wc/testing';
import type { CryptoCheckout } from '../src/index.js';
import {
  createElement,
  getPart,
  hasPart,
  orderAttributes,
  press,
  waitFor,
  waitForStatus,
} from './support/element.js';
import { useFakeApi } from './support/fake-api.js';
import { createdPayment, paymentInState } from './support/payments.js';

const api = useFakeApi();

async function mountInForm(attributes: object = {}): Promise<{
  readonly form: HTMLFormElement;
  readonly fieldset: HTMLFieldSetElement;
  readonly element: CryptoCheckout;
}> {
  const form = await fixture<HTMLFormElement>(html`<form><fieldset></fieldset></form>`);
  const element = createElement({ ...orderAttributes, name: 'payment', required: '', ...attributes });
  const fieldset = form.querySelector('fieldset');
  if (!fieldset) throw new Error('There is no fieldset');
  fieldset.append(element);
  expect(form.checkValidity(), 'before its code is loaded').to.equal(false);
  await waitFor(() => validationMessageOf(form) !== '…');
  return { form, fieldset, element };
}

const valueIn = (form: HTMLFormElement) => new FormData(form).get('payment');
const { id } = createdPayment();

async function poll(element: CryptoCheckout, payment: typeof api.payment): Promise<void> {
  api.payment = payment;
  await element.refresh();
  await element.updateComplete;
}

describe('in a form', () => {
  it('The checkout has the payment’s id as its value, and is valid only once the payment is a success', async () => {
    const { form, element } = await mountInForm();
    expect(valueIn(form)).to.equal(null);
    expect(form.checkValidity()).to.equal(false);
    api.payment = paymentInState('awaiting_funds');
    press(element);
    await waitForStatus(element, 'awaiting-funds');
    expect(valueIn(form)).to.equal(id);
    expect(form.checkValidity()).to.equal(false);
    for (const state of ['partially_paid', 'confirming'] as const) {
      await poll(element, paymentInState(state, { amountSeen: 1 }));
      expect(form.checkValidity(), state).to.equal(false);
    }
    await poll(element, paymentInState('settled'));
    expect(form.checkValidity()).to.equal(true);
    expect(valueIn(form)).to.equal(id);
    await poll(element, paymentInState('reversed'));
    expect(form.checkValidity(), 'reversed').to.equal(false);
  });

  for (const state of ['expired', 'cancelled', 'invalid'] as const) {
    it(`The form stays invalid when the payment is ${state}`, async () => {
      api.payment = paymentInState(state);
      const { form, element } = await mountInForm({ 'payment-id': id });
      await waitFor(() => element.payment !== undefined);
      await element.updateComplete;
      expect(form.checkValidity()).to.equal(false);
    });
  }

  it('An unpaid checkout stops the form from being submitted, says why, and focuses its button', async () => {
    const { form, element } = await mountInForm();
    let submits = 0;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      submits += 1;
    });
    let message = '';
    element.addEventListener('invalid', () => (message = validationMessageOf(form)));
    form.requestSubmit();
    expect(submits).to.equal(0);
    expect(message).to.equal('Complete the payment before you submit this form.');
    expect(element.shadowRoot?.activeElement?.getAttribute('part')).to.equal('action');
  });

  it('The trigger of a closed modal gets the focus when the form cannot be submitted', async () => {
    const { form, element } = await mountInForm({ mode: 'modal' });
    form.requestSubmit();
    expect(element.shadowRoot?.activeElement?.getAttribute('part')).to.equal('trigger');
  });

  it('The message that the payment is missing can be in the page’s words', async () => {
    const { form, element } = await mountInForm();
    element.messages = { formRequired: 'Bitte erst bezahlen.' };
    await element.updateComplete;
    expect(validationMessageOf(form)).to.equal('Bitte erst bezahlen.');
  });

  it('A form without a payment is invalid only if the payment is required', async () => {
    const { form, element } = await mountInForm();
    element.required = false;
    await element.updateComplete;
    expect(form.checkValidity()).to.equal(true);
    element.required = true;
    await element.updateComplete;
    expect(form.checkValidity()).to.equal(false);
  });

  it('The checkout keeps its value when the form is reset: a payment cannot be undone', async () => {
    api.payment = paymentInState('settled');
    const { form, element } = await mountInForm({ 'payment-id': id });
    await waitForStatus(element, 'success');
    form.reset();
    await element.updateComplete;
    expect(valueIn(form)).to.equal(id);
    expect(form.checkValidity()).to.equal(true);
    expect(element.status).to.equal('success');
  });

  it('A disabled checkout cannot be started, but a payment in progress can continue', async () => {
    const { form, fieldset, element } = await mountInForm();
    fieldset.disabled = true;
    await element.updateComplete;
    expect(getPart(element, 'card').closest('[inert]') !== null).to.equal(true);
    expect(valueIn(form)).to.equal(null);
    fieldset.disabled = false;
    await element.updateComplete;
    expect(getPart(element, 'card').closest('[inert]')).to.equal(null);
    api.payment = paymentInState('awaiting_funds');
    press(element);
    await waitForStatus(element, 'awaiting-funds');
    fieldset.disabled = true;
    await element.updateComplete;
    expect(getPart(element, 'card').closest('[inert]')).to.equal(null);
    expect(hasPart(element, 'address')).to.equal(true);
  });

  it('The order’s payment is shown again when the browser restores the form', async () => {
    api.payment = paymentInState('settled');
    const first = await mountInForm({ 'payment-id': id });
    await waitForStatus(first.element, 'success');
    const state = restoredStateOf(first.element, id);
    first.form.remove();
    localStorage.clear();
    const { form, element } = await mountInForm({ 'payment-id': id });
    element.formStateRestoreCallback(state);
    await waitForStatus(element, 'success');
    expect(valueIn(form)).to.equal(id);
  });

  it('A restored form shows the payment of its reference again, without creating another', async () => {
    api.payment = paymentInState('settled');
    const { form, element } = await mountInForm();
    element.formStateRestoreCallback(restoredStateOf(element, id));
    await waitForStatus(element, 'success');
    expect(valueIn(form)).to.equal(id);
    expect(api.requestsFor('create')).to.have.length(0);
  });

  for (const [what, state] of [
    ['another order', JSON.stringify([JSON.stringify(['another']), id])],
    ['a missing state', null],
    ['nonsense', '{"a":1}'],
    ['a file', new File([], 'a')],
  ] as const) {
    it(`The checkout does not restore ${what}`, async () => {
      api.payment = paymentInState('settled');
      const { element } = await mountInForm();
      element.formStateRestoreCallback(state);
      await element.updateComplete;
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(element.status).to.equal('idle');
      expect(api.requests).to.have.length(0);
    });
  }
});

/** The element's value for the browser to keep: the order, and the payment's id. */
function restoredStateOf(element: CryptoCheckout, paymentId: string): string {
  const { apiUrl, publicKey, paymentId: given, amount, baseCurrency, txRef } = element.order;
  return JSON.stringify([JSON.stringify([apiUrl, publicKey, given, amount, baseCurrency, txRef]), paymentId]);
}

function validationMessageOf(form: HTMLFormElement): string {
  const [control] = [...form.elements].filter((one) => one.localName === 'crypto-checkout');
  // The browser shows the message, but no script can read it, so a spy reads the element's report.
  return control ? (messages.get(control) ?? '') : '';
}

/** Each element's report to the browser. */
const messages = new WeakMap<Element, string>();
const { attachInternals } = HTMLElement.prototype;
HTMLElement.prototype.attachInternals = function (this: HTMLElement) {
  const internals = attachInternals.call(this);
  const setValidity = internals.setValidity.bind(internals);
  internals.setValidity = (flags, message = '', anchor) => {
    messages.set(this, message);
    if (anchor) setValidity(flags, message, anchor);
    else setValidity(flags, message);
  };
  return internals;
};
