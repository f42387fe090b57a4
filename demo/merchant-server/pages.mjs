/** The shop's pages: plain HTML, with the checkout's tag. */

/** @typedef {import('./orders.mjs').Order} Order */

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** @param {string} title @param {string} body */
const page = (title, body) => `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <title>${title}</title>
  <h1>${title}</h1>
  ${body}
</html>
`;

/** @param {string} price @param {string} currency */
export function counterPage(price, currency) {
  return page(
    'Paper lanterns',
    `<form method="post" action="/orders">
    <p><label>Lanterns, ${price} ${currency} each: <input name="quantity" type="number" min="1" max="9" value="1" /></label></p>
    <button>Order</button>
  </form>`,
  );
}

/**
 * @param {Order} order
 * @param {{ apiUrl: string, publicKey: string }} checkout
 */
export function orderPage(order, { apiUrl, publicKey }) {
  const { reference, quantity, amount, currency, paymentId, paymentUrl, paidBy, refundUrl } = order;
  const summary = `<p>${quantity} × paper lantern: ${amount} ${currency}</p>`;
  if (paidBy !== null) {
    const refund =
      refundUrl === null
        ? ''
        : `<p>You sent too much. <a href="${escape(refundUrl)}" rel="noreferrer">Get the rest back</a>.</p>`;
    return page(
      escape(reference),
      `${summary}<p><strong>Paid. Your lanterns are on their way.</strong></p>${refund}`,
    );
  }
  return page(
    escape(reference),
    `${summary}
  <script type="module" src="${escape(apiUrl)}/crypto-checkout.js"></script>
  <crypto-checkout public-key="${escape(publicKey)}" payment-id="${escape(paymentId)}"></crypto-checkout>
  <p>Or <a href="${escape(paymentUrl)}">pay on the payment server's own page</a>.</p>`,
  );
}

/** @param {string} title */
export function messagePage(title) {
  return page(title, '<p><a href="/">Back to the shop</a></p>');
}
