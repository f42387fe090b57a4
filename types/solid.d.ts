/**
 * Types of the tag `<crypto-checkout>` in Solid's JSX. Name them in tsconfig.json, in `types`, or once in a file:
 * `import type {} from 'crypto-checkout/types/solid';`
 */
import type {
  CheckoutAttributes,
  CheckoutHandlers,
  CheckoutProperties,
  CryptoCheckout,
} from '../dist/element-types.js';
import type { JSX } from 'solid-js';

type Prefixed<Properties> = { [Name in keyof Properties as `prop:${Name & string}`]?: Properties[Name] };

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'crypto-checkout': CheckoutAttributes &
        Prefixed<CheckoutProperties> &
        CheckoutHandlers<'on:'> &
        Omit<JSX.HTMLAttributes<CryptoCheckout>, keyof CheckoutAttributes>;
    }
  }
}
