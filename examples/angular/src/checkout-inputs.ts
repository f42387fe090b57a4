import { Directive, ElementRef, inject, Input, type OnChanges, type SimpleChanges } from '@angular/core';
import type { CryptoCheckout } from 'crypto-checkout';

/** Declares the tag's properties to Angular, so that it checks them in templates. Add those that you bind. */
@Directive({ selector: 'crypto-checkout' })
export class CheckoutInputs implements OnChanges {
  @Input() publicKey: CryptoCheckout['publicKey'];
  @Input() paymentId: CryptoCheckout['paymentId'];
  @Input() amount: CryptoCheckout['amount'];
  @Input() baseCurrency: CryptoCheckout['baseCurrency'];
  @Input() txRef: CryptoCheckout['txRef'];
  @Input() theme: CryptoCheckout['theme'];
  @Input() messages: CryptoCheckout['messages'];

  readonly #element = inject<ElementRef<CryptoCheckout>>(ElementRef).nativeElement;

  ngOnChanges(changes: SimpleChanges): void {
    for (const [name, { currentValue }] of Object.entries(changes)) {
      Object.assign(this.#element, { [name]: currentValue as unknown });
    }
  }
}
