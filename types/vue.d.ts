/**
 * Types of the tag `<crypto-checkout>` in Vue's templates. Name them in tsconfig.json, in `types`, or once in a file:
 * `import type {} from 'crypto-checkout/types/vue';`
 *
 * With `"vueCompilerOptions": { "strictTemplates": true }`, a name that does not exist is an error.
 */
import type { CheckoutEventMap, CheckoutProperties, CryptoCheckout } from '../dist/element-types.js';
import type { EmitFn, HTMLAttributes, PublicProps } from 'vue';

declare module 'vue' {
  interface GlobalComponents {
    'crypto-checkout': new () => CryptoCheckout & {
      $props: CheckoutProperties & Omit<HTMLAttributes, keyof CheckoutProperties> & PublicProps;
      $emit: EmitFn<{ [E in keyof CheckoutEventMap]: (event: CheckoutEventMap[E]) => void }>;
    };
  }
}
