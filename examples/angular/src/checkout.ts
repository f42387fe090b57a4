import { Component, input, output } from '@angular/core';
import 'crypto-checkout';
import { CheckoutInputs } from './checkout-inputs';

@Component({
  selector: 'app-checkout',
  imports: [CheckoutInputs],
  template: `
    <crypto-checkout
      api-url="https://pay.example.com"
      public-key="pk_test_…"
      [amount]="order().amount"
      base-currency="NGN"
      [txRef]="order().reference"
      (checkout-success)="$event.payment && paid.emit($event.payment.id)"
    />
  `,
})
export class Checkout {
  readonly order = input.required<{ reference: string; amount: number }>();
  readonly paid = output<string>();
}
