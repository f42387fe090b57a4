import { CryptoCheckout } from 'crypto-checkout/react';
import { useState } from 'react';

export interface AppProps {
  path: string;
  apiUrl: string;
  publicKey: string;
  order: { reference: string; amount: number };
}

export function App(props: AppProps) {
  return props.path === '/tip' ? <Tip {...props} /> : <Order {...props} />;
}

function Order({ apiUrl, publicKey, order }: AppProps) {
  const [paid, setPaid] = useState<readonly string[]>([]);
  return (
    <>
      <h1>Order 42</h1>
      <CryptoCheckout
        apiUrl={apiUrl}
        publicKey={publicKey}
        amount={order.amount}
        baseCurrency="NGN"
        txRef={order.reference}
        onCheckoutSuccess={({ payment }) => payment && setPaid((ids) => [...ids, payment.id])}
      />
      <output>{paid.join(' ')}</output>
    </>
  );
}

/** The tag itself, for a page that handles no event. The component above has imported the element. */
function Tip({ apiUrl, publicKey }: AppProps) {
  return (
    <>
      <h1>Leave a tip</h1>
      <crypto-checkout api-url={apiUrl} public-key={publicKey} amount={500} base-currency="NGN" no-redirect />
    </>
  );
}
