/** Handlers of `/v1/countries`. */
import type { ApiHandlers } from '../api/handler.js';
import type { Countries } from './countries.js';

export function createCountryHandlers(countries: Countries): ApiHandlers<'countries'> {
  return {
    async list(_input) {
      return { data: [...countries.list()] };
    },
  };
}
