/** The payment provider, as medusa-config names it: `crypto-checkout-medusa/providers/crypto-checkout`. */
import { ModuleProvider, Modules } from '@medusajs/framework/utils';
import { CryptoCheckoutProvider } from './service.js';

export default ModuleProvider(Modules.PAYMENT, { services: [CryptoCheckoutProvider] });
