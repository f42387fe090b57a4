import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Checkout } from './Checkout';

const order = { reference: 'order-42', amount: 5000 };

function App() {
  const [paid, setPaid] = useState<readonly string[]>([]);
  return (
    <>
      <h1>Order 42</h1>
      <Checkout order={order} onPaid={(id) => setPaid((ids) => [...ids, id])} />
      <output>{paid.join(' ')}</output>
    </>
  );
}

const root = document.getElementById('app');
if (root) render(<App />, root);
