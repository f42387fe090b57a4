/** Handlers of `/console/api/erasure`. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import type { Handlers } from '../../core/api/handler.js';
import type { Customers } from '../../core/customers/customers.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import { invalidField } from '../../core/shared/problem.js';
import type { Erasure } from './erasure.js';

export function createErasureHandlers(
  customers: Pick<Customers, 'retrieve'>,
  erasure: Erasure,
): Pick<Handlers<ConsoleApi>, 'erasure'> {
  return {
    erasure: {
      async preview({ params }, { caller }) {
        const { email } = await customers.retrieve(caller, params.customer_id);
        return { data: { email, ...(await erasure.preview(caller.merchantId, email)) } };
      },

      async erase({ params, body }, { caller, change }) {
        const { email } = await customers.retrieve(caller, params.customer_id);
        if (body.email.toLowerCase() !== email.toLowerCase())
          throw invalidField('email', 'Is not the address of this customer');
        return change((transaction) => erasure.erase(transaction, caller.merchantId, email, actorOf(caller)));
      },
    },
  };
}
