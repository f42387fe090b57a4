import 'crypto-checkout';

interface Props {
  order: { reference: string; amount: number };
  onPaid(paymentId: string): void;
}

export function Checkout(props: Props) {
  return (
    <crypto-checkout
      api-url="https://pay.example.com"
      public-key="pk_test_…"
      amount={props.order.amount}
      base-currency="NGN"
      tx-ref={props.order.reference}
      on:checkout-success={({ payment }) => payment && props.onPaid(payment.id)}
    />
  );
}
