/** Figures in `/metrics` about the comparison of balances with the books. */
import { byNetwork, type Figure } from '../../core/shared/feature.js';
import type { readStatus } from './store.js';

type Status = Awaited<ReturnType<typeof readStatus>>;

/** @param status is read once for all figures of a scrape @param now real time */
export function reconciliationFigures(status: () => Promise<Status>, now: () => number): Figure[] {
  let reading: Promise<Status> | undefined;
  const read = () => (reading ??= status().finally(() => (reading = undefined)));
  const ofRounds = (
    name: string,
    help: string,
    valueOf: (round: Status['rounds'][number]) => number,
  ): Figure =>
    byNetwork({
      name,
      help,
      read: async () => (await read()).rounds.map((round) => [round, valueOf(round)]),
    });
  return [
    ofRounds(
      'checkout_addresses_watched',
      'The number of addresses that had been given out when the last round through their balances began',
      (round) => round.last_position,
    ),
    ofRounds(
      'checkout_blocks_without_balances',
      'Blocks after which no node reported the balances of open addresses',
      ({ unread }) => unread,
    ),
    ofRounds(
      'checkout_reconciliation_age_seconds',
      'The time since all balances had been compared with the books, or the first comparison began',
      ({ finished_at, started_at }) => (now() - (finished_at ?? started_at)) / 1000,
    ),
    byNetwork({
      name: 'checkout_balance_differences',
      help: 'Addresses whose balance is not what the books say: seen (waits for a second look), dust or shortage',
      by: { state: ['seen', 'dust', 'shortage'] },
      read: async () => (await read()).differences.map((one) => [one, one.count, { state: one.state }]),
    }),
  ];
}
