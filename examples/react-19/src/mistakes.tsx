/** Mistakes that TypeScript must refuse. Without an error, `@ts-expect-error` is one. */
import { CryptoCheckout } from 'crypto-checkout/react';

export const right = [
  <CryptoCheckout amount="5" noRedirect className="pay" style={{ margin: 0 }} messages={{}} />,
  <crypto-checkout amount={5} base-currency="NGN" no-redirect class="pay" id="pay" />,
];

export const wrong = [
  // @ts-expect-error: amout
  <CryptoCheckout amout={5} />,
  // @ts-expect-error: amout
  <crypto-checkout amout={5} />,
  // @ts-expect-error: an object is no amount
  <CryptoCheckout amount={{ value: 5 }} />,
  // @ts-expect-error: there is no such theme
  <crypto-checkout theme="purple" />,
  // @ts-expect-error: the event has no order
  <CryptoCheckout onCheckoutSuccess={({ order }) => order} />,
  // @ts-expect-error: React loses handlers of the tag, where it hydrates and in React 18
  <crypto-checkout oncheckout-success={() => undefined} />,
  // @ts-expect-error: the status can only be read
  <CryptoCheckout status="success" />,
];
