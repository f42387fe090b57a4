/**
 * Types of the tag `<crypto-checkout>` in the JSX of React 18 and 19. Name them in tsconfig.json, in `types`, or once
 * in a file: `import type {} from 'crypto-checkout/types/react';`
 *
 * The tag takes only attributes. A handler such as `oncheckout-success` is an error on purpose: React 18 ignores it,
 * and React 19 forgets it where it hydrates. `CryptoCheckout` from `crypto-checkout/react` has handlers that work
 * everywhere.
 */
import type { CheckoutAttributes, CheckoutHandlers, CryptoCheckout } from '../dist/element-types.js';
import type { ClassAttributes, HTMLAttributes } from 'react';

type NoHandlers = { [Name in keyof CheckoutHandlers<'on'>]?: never };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'crypto-checkout': CheckoutAttributes &
        NoHandlers & { class?: string | undefined } & ClassAttributes<CryptoCheckout> &
        Omit<HTMLAttributes<CryptoCheckout>, keyof CheckoutAttributes | 'className'>;
    }
  }
}
