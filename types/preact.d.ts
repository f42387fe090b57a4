/**
 * Types of the tag `<crypto-checkout>` in Preact's JSX. Name them in tsconfig.json, in `types`, or once in a file:
 * `import type {} from 'crypto-checkout/types/preact';`
 */
import type {
  CheckoutAttributes,
  CheckoutHandlers,
  CheckoutRichProperties,
  CryptoCheckout,
} from '../dist/element-types.js';
import type { HTMLAttributes } from 'preact';

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'crypto-checkout': CheckoutAttributes &
        CheckoutRichProperties &
        CheckoutHandlers<'on'> &
        Omit<HTMLAttributes<CryptoCheckout>, keyof CheckoutAttributes>;
    }
  }
}
