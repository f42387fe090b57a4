/** Handlers of `/v1/balances`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import type { Balances } from './balances.js';

export const balanceHandlers = {
  async list(_input, { services, caller }) {
    return { message: 'Balances fetched', data: await services.balances.list(caller) };
  },
} satisfies Handlers<Pick<typeof api, 'balances'>, { balances: Balances }>['balances'];
