import { CryptoCheckout } from 'crypto-checkout/react';

interface Props {
  order: { reference: string; amount: number };
  onPaid(paymentId: string): void;
}

export function Checkout({ order, onPaid }: Props) {
  return (
    <CryptoCheckout
      apiUrl="https://pay.example.com"
      publicKey="pk_test_…"
      amount={order.amount}
      baseCurrency="NGN"
      txRef={order.reference}
      onCheckoutSuccess={({ payment }) => payment && onPaid(payment.id)}
    />
  );
}
