import 'crypto-checkout';

interface Props {
  order: { reference: string; amount: number };
  onPaid(paymentId: string): void;
}

export function Checkout({ order, onPaid }: Props) {
  return (
    <crypto-checkout
      api-url="https://pay.example.com"
      public-key="pk_test_…"
      amount={order.amount}
      base-currency="NGN"
      tx-ref={order.reference}
      oncheckout-success={({ payment }) => payment && onPaid(payment.id)}
    />
  );
}
