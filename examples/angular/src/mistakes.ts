/** Mistakes that the compiler must refuse: each line that says `wrong`, and no other. */
import { Component } from '@angular/core';
import { CheckoutInputs } from './checkout-inputs';

@Component({
  selector: 'app-mistakes',
  imports: [CheckoutInputs],
  template: `
    <crypto-checkout [amount]="5" (checkout-locked)="take($event.payment?.id)" />
    <crypto-checkout [amout]="5" data-wrong />
    <crypto-checkout [theme]="'purple'" data-wrong />
    <crypto-checkout (checkout-success)="take($event.order)" data-wrong />
  `,
})
export class Mistakes {
  take(id: string | undefined): void {
    console.log(id);
  }
}
