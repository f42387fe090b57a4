/**
 * Types of the tag `<crypto-checkout>` in Svelte's templates. Name them in tsconfig.json, in `types`, or once in a file:
 * `import type {} from 'crypto-checkout/types/svelte';`
 */
import type {
  CheckoutAttributes,
  CheckoutHandlers,
  CheckoutProperties,
  CryptoCheckout,
} from '../dist/element-types.js';
import type { HTMLAttributes } from 'svelte/elements';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'crypto-checkout': CheckoutAttributes &
      CheckoutProperties &
      CheckoutHandlers<'on'> &
      Omit<HTMLAttributes<CryptoCheckout>, keyof CheckoutAttributes | keyof CheckoutProperties>;
  }
}
