/** Work that waits for the shop's staff, by the page that shows it: the numbers in the menu. */
import type { ParsedData } from '../src/contract/endpoint.js';
import { home } from '../src/contract/home.js';
import type { Api } from './api.js';

/** The page of the console that shows a list of the API. */
export const pageOf: Readonly<Record<string, string>> = {
  '/v1/transactions': 'payments',
  '/v1/refunds': 'refunds',
  '/v1/transfers': 'money',
  '/v1/webhooks': 'developers',
  '/v1/networks': 'networks',
  '/v1/balances': 'money',
};

/** By page; without zeros. */
export type Counts = Readonly<Record<string, number>>;

export async function readCounts(api: Api, signal: AbortSignal): Promise<Counts> {
  const { data } = await api(home.retrieve, {}, signal);
  return countsOf(data.attention);
}

export function countsOf(attention: ParsedData<typeof home.retrieve>['attention']): Counts {
  const counts: Record<string, number> = {};
  for (const { count, list } of attention) {
    const page = list && pageOf[list.path];
    if (page) counts[page] = (counts[page] ?? 0) + count;
  }
  return counts;
}
