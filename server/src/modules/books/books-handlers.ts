/** Handler of `/v1/books`. */
import type { Api } from 'crypto-checkout/contract';
import type { Handlers } from '../../core/api/handler.js';
import { isoTime } from '../../core/shared/clock.js';
import type { Books } from './books.js';

export function createBookHandlers(books: Pick<Books, 'list'>): Handlers<Api>['books'] {
  return {
    async list({ query }, { caller }) {
      const { period, bookings, ...page } = await books.list(caller, query);
      const { from, to, zone } = period;
      return { data: { ...page, from: isoTime(from), to: isoTime(to), zone, bookings: [...bookings] } };
    },
  };
}
