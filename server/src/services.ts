/** What handlers may ask for: the rules, resource by resource. */
import type { Currencies } from './currencies/currencies.js';
import type { Keys } from './keys/keys.js';
import type { Merchants } from './merchants/merchants.js';
import type { Payments } from './payments/payments.js';
import type { Sandbox } from './sandbox/sandbox.js';

export interface Services {
  readonly keys: Keys;
  readonly merchants: Merchants;
  readonly currencies: Currencies;
  readonly payments: Payments;
  readonly sandbox: Sandbox;
  /** Where the hosted pages are: `{checkoutUrl}/{payment id}`. Known once the server listens. */
  readonly checkoutUrl: string;
}
