/**
 * A storefront for a Vendure shop with the plug-in crypto-checkout-vendure: cart, address, crypto payment, order.
 * Set the address of your shop, and the code of its payment method, here.
 */
const shopApi = 'http://localhost:3000/shop-api';
const methodCode = 'crypto';

const main = document.querySelector('main');

/** Calls the Shop API. The token in localStorage keeps the cart, so a customer who comes back continues there. */
async function query(text, variables = {}) {
  const token = localStorage.getItem('vendure-token');
  const response = await fetch(shopApi, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query: text, variables }),
  });
  const fresh = response.headers.get('vendure-auth-token');
  if (fresh) localStorage.setItem('vendure-token', fresh);
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors.map(({ message }) => message).join(' '));
  const refused = Object.values(data).find((one) => one?.errorCode);
  if (refused) throw new Error(refused.message);
  return data;
}

const money = (amount, currency) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100);

/** Shows a step: text becomes text, never markup. */
function show(title, ...parts) {
  const heading = document.createElement('h2');
  heading.textContent = title;
  const section = document.createElement('section');
  section.append(heading, ...parts);
  main.replaceChildren(section);
  return section;
}

function paragraph(text) {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}

function button(text, action) {
  const element = document.createElement('button');
  element.textContent = text;
  element.addEventListener('click', () => run(action));
  return element;
}

/** Runs a step, and shows its error with a way on. */
async function run(action) {
  try {
    await action();
  } catch (error) {
    show(
      'That did not work',
      paragraph(error.message),
      button('Try again', () => run(start)),
    );
  }
}

async function start() {
  const paid = new URL(location.href).searchParams.get('order');
  if (paid) return showOrder(paid);
  const { activeOrder } = await query(
    `{ activeOrder { code totalQuantity customer { id } shippingLines { id } } }`,
  );
  if (!activeOrder?.totalQuantity) return showProducts();
  return activeOrder.customer && activeOrder.shippingLines.length > 0 ? showPayment() : showAddress();
}

async function showProducts() {
  const { products } = await query(
    `{ products(options: { take: 10 }) { items { name description
      variants { id name priceWithTax currencyCode } } } }`,
  );
  const variants = products.items.flatMap(({ variants: all }) => all);
  show(
    'Our lanterns',
    ...variants.flatMap(({ id, name, priceWithTax, currencyCode }) => [
      paragraph(`${name}, ${money(priceWithTax, currencyCode)}`),
      button(`Buy: ${name}`, async () => {
        await query(
          `mutation ($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 1) {
            ... on ErrorResult { errorCode message } } }`,
          { id },
        );
        showAddress();
      }),
    ]),
  );
}

const fields = [
  ['firstName', 'First name', 'given-name'],
  ['lastName', 'Last name', 'family-name'],
  ['emailAddress', 'Email', 'email'],
  ['streetLine1', 'Street', 'street-address'],
  ['countryCode', 'Country, as US', 'country'],
];

function showAddress() {
  const form = document.createElement('form');
  for (const [name, text, autocomplete] of fields) {
    const label = document.createElement('label');
    const input = document.createElement('input');
    Object.assign(input, { name, autocomplete, required: true });
    label.append(text, input);
    form.append(label);
  }
  const submit = document.createElement('button');
  submit.textContent = 'Continue to payment';
  form.append(submit);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { streetLine1, countryCode, ...customer } = Object.fromEntries(new FormData(form));
    void run(async () => {
      await query(
        `mutation ($customer: CreateCustomerInput!, $address: CreateAddressInput!) {
          setCustomerForOrder(input: $customer) { ... on ErrorResult { errorCode message } }
          setOrderShippingAddress(input: $address) { ... on ErrorResult { errorCode message } } }`,
        { customer, address: { streetLine1, countryCode } },
      );
      const { eligibleShippingMethods } = await query(`{ eligibleShippingMethods { id } }`);
      await query(
        `mutation ($ids: [ID!]!) { setOrderShippingMethod(shippingMethodId: $ids) {
          ... on ErrorResult { errorCode message } } }`,
        { ids: eligibleShippingMethods.slice(0, 1).map(({ id }) => id) },
      );
      await showPayment();
    });
  });
  show('Where to?', form);
}

/** The shop makes the payment, or returns the one that this order has already. */
async function showPayment() {
  const { createCryptoPayment: payment } = await query(
    `mutation ($methodCode: String) { createCryptoPayment(methodCode: $methodCode) { paymentId apiUrl publicKey amount currencyCode orderCode } }`,
    { methodCode },
  );
  const script = document.createElement('script');
  Object.assign(script, { type: 'module', src: `${payment.apiUrl}/crypto-checkout.js` });
  document.head.append(script);
  const checkout = document.createElement('crypto-checkout');
  checkout.setAttribute('public-key', payment.publicKey);
  checkout.setAttribute('payment-id', payment.paymentId);
  // This page is light on every device.
  checkout.setAttribute('theme', 'light');
  const section = show(
    'Payment',
    paragraph(`Order ${payment.orderCode}: ${money(payment.amount, payment.currencyCode)}`),
    checkout,
  );
  // An event only says when to ask: the shop asks the checkout server itself.
  checkout.addEventListener('checkout-success', (event) =>
    run(async () => {
      const { checkCryptoPayment } = await query(
        `mutation ($id: String!) { checkCryptoPayment(paymentId: $id) { status orderCode } }`,
        // Not always the one above: its payer may have used another coin.
        { id: event.payment.id },
      );
      // Without an order that is settled there may be a rest to pay, if the cart has changed.
      const { activeOrder } = await query(`{ activeOrder { code } }`);
      if (activeOrder) section.append(button('Pay the rest', showPayment));
      else section.append(button('See my order', () => showOrder(checkCryptoPayment.orderCode)));
    }),
  );
  for (const ending of ['checkout-expired', 'checkout-cancelled', 'checkout-error']) {
    checkout.addEventListener(ending, () => {
      if (!section.querySelector('button')) section.append(button('Pay again', showPayment));
    });
  }
}

async function showOrder(code) {
  history.replaceState(null, '', `?order=${encodeURIComponent(code)}`);
  const { orderByCode: order } = await query(
    `query ($code: String!) { orderByCode(code: $code) { code state currencyCode totalWithTax
      payments { state amount refunds { state total } } } }`,
    { code },
  );
  const refunds = order.payments.flatMap((payment) => payment.refunds);
  const words = { Pending: 'is on its way', Settled: 'is paid back', Failed: 'was not paid' };
  show(
    `Order ${order.code}`,
    paragraph(
      order.state === 'PaymentSettled'
        ? `Paid: ${money(order.totalWithTax, order.currencyCode)}. Thank you!`
        : `State: ${order.state}`,
    ),
    ...refunds.map(({ state, total }) =>
      paragraph(`A refund of ${money(total, order.currencyCode)} ${words[state] ?? state}.`),
    ),
  );
}

void run(start);
