/**
 * Types of the tag `<crypto-checkout>` in Vue's templates. Name them in tsconfig.json, in `types`, or once in a file:
 * `import type {} from 'crypto-checkout/types/vue';`
 *
 * With `"vueCompilerOptions": { "strictTemplates": true }`, a name that does not exist is an error.
 */
import type { CheckoutCamelCaseHandlers, CheckoutProperties, CryptoCheckout } from '../dist/element-types.js';
import type { HTMLAttributes, PublicProps } from 'vue';

declare module 'vue' {
  interface GlobalComponents {
    'crypto-checkout': new () => CryptoCheckout & {
      $props: CheckoutProperties &
        CheckoutCamelCaseHandlers &
        Omit<HTMLAttributes, keyof CheckoutProperties> &
        PublicProps;
    };
  }
}
