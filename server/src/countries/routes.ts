/** Handlers of `/v1/countries`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import type { Countries } from './countries.js';

export const countryHandlers = {
  async list(_input, { services }) {
    return { message: 'Countries fetched', data: [...services.countries.list()] };
  },
} satisfies Handlers<Pick<typeof api, 'countries'>, { countries: Countries }>['countries'];
