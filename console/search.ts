/** The search field: recognizes the kind of input, for which the list has a filter; or finds by its beginning. */
import type { Mode } from './api.js';
import { formatRoute } from './route.js';

export const searchRoute = (base: string, mode: Mode, text: string) =>
  formatRoute(base, mode, 'payments', undefined, { q: text });

export type Filter = Readonly<
  Partial<Record<'customer' | 'txHash' | 'address' | 'txRef' | 'search', string>>
>;

/**
 * The filters of the list that may match, most likely first. A reference can look like anything, so it is always tried;
 * and then the beginnings of all texts, which only the newest payments are searched for.
 * An id has no filter: the payment itself is requested.
 */
export function filtersFor(text: string): readonly Filter[] {
  const others = [...(text.length <= 100 ? [{ txRef: text }] : []), { search: text.slice(0, 254) }];
  if (text.includes('@')) return [{ customer: text }, ...others];
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return [{ txHash: text }, ...others];
  if (/^(0x[0-9a-f]{40}|[a-z]{2,5}1[a-z0-9]{20,90}|[1-9A-HJ-NP-Za-km-z]{26,48})$/i.test(text)) {
    return [{ address: text }, ...others];
  }
  return others;
}

/** Ids are 26 characters of Crockford's base 32. */
export const looksLikeId = (text: string) => /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(text);
