/** Handlers of `/v1/payouts`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { Payouts } from './payouts.js';

interface Services {
  readonly payouts: Payouts;
}

export const payoutHandlers = {
  async list({ query }, { services, caller }) {
    const { payouts, total } = await services.payouts.list(caller, query);
    return { message: 'Payouts fetched', data: payouts, pagination: paginate(query, payouts.length, total) };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.payouts.retrieve(caller, params.payout_id);
    return { message: 'Payout fetched', data };
  },
} satisfies Handlers<Pick<typeof api, 'payouts'>, Services>['payouts'];
