/** The checkout of a shop on Medusa: cart, address, crypto, order. It talks to the Store API, and knows no secret. */
const { medusa, key, provider } = document.body.dataset;
const form = document.querySelector('form');
const section = document.querySelector('section');

/** A call of Medusa's Store API. A refusal is shown as Medusa words it. */
async function store(path, body) {
  const response = await fetch(`${medusa}/store${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', 'x-publishable-api-key': key },
    body: body && JSON.stringify(body),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(reply.message);
  return reply;
}

const say = (text) => section.replaceChildren(text);

/** The customer's cart outlives the page: another tab or visit takes it up again. */
const cartKey = 'cart';

/** The first region that takes crypto. A real shop asks, or reads it from the address. */
async function findRegion() {
  const { regions } = await store('/regions?fields=id,currency_code,*countries');
  for (const region of regions) {
    const { payment_providers } = await store(`/payment-providers?region_id=${region.id}`);
    if (payment_providers.some(({ id }) => id === provider)) return region;
  }
  throw new Error(`No region has ${provider}: enable it in the admin`);
}

async function showProducts() {
  const region = await findRegion();
  const { products } = await store(
    `/products?region_id=${region.id}&fields=title,*variants.calculated_price`,
  );
  const options = products.flatMap(({ title, variants }) =>
    variants.map(({ id, calculated_price: price }) => {
      const amount =
        price && new Intl.NumberFormat('en', { style: 'currency', currency: price.currency_code });
      return new Option(`${title}, ${amount?.format(price.calculated_amount) ?? 'not sold here'}`, id);
    }),
  );
  form.elements.variant.replaceChildren(...options);
}

async function fillCart() {
  const region = await findRegion();
  const { variant, email, name, street, city, code } = Object.fromEntries(new FormData(form));
  const [first_name, ...rest] = name.split(' ');
  const shipping_address = {
    first_name,
    last_name: rest.join(' '),
    address_1: street,
    city,
    postal_code: code,
    country_code: region.countries[0]?.iso_2,
  };
  const items = [{ variant_id: variant, quantity: 1 }];
  const { cart } = await store('/carts', { region_id: region.id, email, items, shipping_address });
  // A shop that ships offers its ways of shipping here: /shipping-options, then /carts/ID/shipping-methods.
  localStorage.setItem(cartKey, cart.id);
  return cart;
}

/** The cart's payment. One that waits is taken up again: a new one would end it, in the other tab too. */
async function findPayment(cart) {
  const { payment_collection } = await store('/payment-collections', { cart_id: cart.id });
  const isOurs = ({ provider_id, status }) => provider_id === provider && status === 'pending';
  const waiting = payment_collection.payment_sessions?.find(isOurs);
  if (waiting) return waiting.data;
  const chosen = await store(`/payment-collections/${payment_collection.id}/payment-sessions`, {
    provider_id: provider,
    // Medusa does not pass on the email of a guest.
    data: { email: cart.email },
  });
  return chosen.payment_collection.payment_sessions.find(isOurs).data;
}

async function showCheckout(cart) {
  const { api_url, public_key, payment_id, payment_url } = await findPayment(cart);
  const tag = document.createElement('crypto-checkout');
  for (const [name, value] of Object.entries({
    'api-url': api_url,
    'public-key': public_key,
    'payment-id': payment_id,
  })) {
    tag.setAttribute(name, value);
  }
  const link = document.createElement('a');
  link.href = payment_url;
  link.textContent = 'Pay on the payment page';
  // Seen without the script of the tag.
  tag.append(link);
  // The order is placed as soon as money is on its way. Medusa marks it as paid once the payment is complete.
  const place = () => placeOrder(cart).catch(({ message }) => console.error(message));
  tag.addEventListener('checkout-detected', place, { once: true });
  tag.addEventListener('checkout-success', place, { once: true });
  form.hidden = true;
  section.replaceChildren(tag);
}

async function placeOrder({ id }) {
  const { type, order, error } = await store(`/carts/${id}/complete`, {});
  if (type !== 'order') throw new Error(error.message);
  localStorage.removeItem(cartKey);
  // Both events can ask at the same time: Medusa answers both with the same order.
  const line = section.querySelector('[data-order]') ?? section.appendChild(document.createElement('p'));
  line.dataset.order = order.id;
  line.textContent = `Thank you. Your order is #${order.display_id}.`;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  fillCart()
    .then(showCheckout)
    .catch(({ message }) => say(message));
});

/** Takes up the cart of the last visit, unless it has become an order. */
async function start() {
  const id = localStorage.getItem(cartKey);
  const reply = id
    ? await store(`/carts/${id}?fields=id,email,completed_at`).catch(() => undefined)
    : undefined;
  if (reply && !reply.cart.completed_at) return showCheckout(reply.cart);
  localStorage.removeItem(cartKey);
  return showProducts();
}

start().catch(({ message }) => say(message));
