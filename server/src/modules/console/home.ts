/**
 * The first things that a shop's people look at. Waiting things are counted by the lists that show them, so both
 * always agree.
 */
import type { Api, AttentionCode, Data, Overview, PaymentReview } from 'crypto-checkout/contract';
import type { Currencies } from '../../core/money/currencies.js';
import type { Attention } from '../../core/hooks.js';
import { isCurrent, type RateSource } from '../../core/money/rates.js';
import { unitsToNumber } from '../../core/money/units.js';
import type { NetworkHealth } from '../../core/scanning/network-health.js';
import { describeNetwork } from '../../core/scanning/network-health.js';
import type { Clock } from '../../core/shared/clock.js';
import type { Scope } from '../../core/shared/scope.js';
import type { Merchants } from '../../core/merchants/merchants.js';
import type { Reader } from '../../core/db/engine.js';
import { addDays, dayOf, startOfDay } from '../../core/merchants/time-zone.js';
import { isoTime } from '../../core/shared/clock.js';
import type { createVolume } from './volume.js';

/** The length of a list is all that is read of it. */
type Count<Query> = (
  scope: Scope,
  query: Query & { page: number; skip: number },
) => Promise<{ total: number }>;

export interface HomeDeps {
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly rates: RateSource;
  readonly payments: Count<{ review: PaymentReview; from: number }>;
  readonly transfers: Count<{ status: 'pending' }>;
  readonly webhooks: Count<{ status: 'failing' | 'failed' }>;
  readonly endpoint: (scope: Scope) => Promise<{ readonly disabledAt: number | null } | undefined>;
  readonly balances: (scope: Scope) => Promise<readonly { readonly isSuspended: boolean }[]>;
  /** Further waiting things, for modules. */
  readonly attention: (scope: Scope) => Promise<readonly Attention[]>;
  /** Payments that a scan could not process. */
  readonly quarantined: (scope: Scope) => Promise<number>;
  readonly networks: () => readonly NetworkHealth[];
  readonly volume: ReturnType<typeof createVolume>;
  readonly merchants: Pick<Merchants, 'settings'>;
  readonly reader: Reader;
}

const reviewedDays = 30;
const noRows = { page: 1, skip: 0 };

export function createHome(deps: HomeDeps) {
  const { clock, currencies, rates } = deps;

  const networksOf = ({ mode }: Scope) =>
    deps
      .networks()
      .filter((network) => network.mode === mode)
      .map(describeNetwork);

  async function money(scope: Scope, from: number): Promise<Attention[]> {
    const payments = async (review: PaymentReview): Promise<Attention> => ({
      code: `payments_${review}`,
      count: (await deps.payments(scope, { ...noRows, review, from })).total,
      list: { path: '/v1/transactions', query: { review, from: isoTime(from) } },
    });
    return Promise.all([
      ...(['late', 'short', 'excess', 'wrong_coin', 'reversed'] as const).map(payments),
      deps.transfers(scope, { ...noRows, status: 'pending' }).then(({ total }) => ({
        code: 'transfers_waiting' as const,
        count: total,
        list: { path: '/v1/transfers', query: { status: 'pending' } },
      })),
    ]);
  }

  async function server(scope: Scope): Promise<Attention[]> {
    const webhooks = async (status: 'failing' | 'failed') =>
      (await deps.webhooks(scope, { ...noRows, status })).total;
    const endpoint = await deps.endpoint(scope);
    const suspended = (await deps.balances(scope)).filter(({ isSuspended }) => isSuspended);
    const failing = networksOf(scope).filter(
      ({ isOffered, lagSeconds, problems }) => !isOffered || lagSeconds === undefined || problems.length > 0,
    );
    const coins = new Set(currencies.options(scope.mode).map(({ currency }) => currency.code));
    const now = clock.real();
    const withoutRate = [...coins].filter((code) => {
      const rate = rates.latest(code);
      return !rate || !isCurrent(rate, now);
    });
    const counts: readonly (readonly [AttentionCode, number, Attention['list']])[] = [
      ['webhooks_failing', await webhooks('failing'), { path: '/v1/webhooks', query: { status: 'failing' } }],
      ['webhooks_failed', await webhooks('failed'), { path: '/v1/webhooks', query: { status: 'failed' } }],
      [
        'webhooks_off',
        endpoint !== undefined && endpoint.disabledAt !== null ? 1 : 0,
        { path: '/v1/webhooks', query: {} },
      ],
      ['balances_suspended', suspended.length, { path: '/v1/balances', query: {} }],
      ['payments_stuck', await deps.quarantined(scope), null],
      ['networks_failing', failing.length, { path: '/v1/networks', query: {} }],
      ['rates_missing', withoutRate.length, null],
    ];
    return counts.map(([code, count, list]) => ({ code, count, list }));
  }

  async function volume(scope: Scope, zone: string, today: string, now: number): Promise<Overview['volume']> {
    const dates = Array.from({ length: reviewedDays + 1 }, (_, index) =>
      addDays(today, index - reviewedDays),
    );
    const days = dates.map((date) => ({
      start: startOfDay(zone, date),
      end: startOfDay(zone, addDays(date, 1)),
    }));
    const volumes = await deps.volume(scope, days, now);
    return dates.flatMap((date, index) =>
      (volumes[index] ?? []).map(({ currency, payments, amount }) => ({
        date,
        currency,
        payments,
        amount: unitsToNumber(amount, currencies.known(currency)),
      })),
    );
  }

  return {
    async retrieve(scope: Scope): Promise<Overview> {
      const now = clock.now(scope);
      const { time_zone: zone } = await deps.merchants.settings(deps.reader, scope.merchantId);
      const timeZone = zone ?? 'UTC';
      const today = dayOf(timeZone, now);
      const waiting = [
        ...(await money(scope, startOfDay(timeZone, addDays(today, -reviewedDays)))),
        ...(await server(scope)),
        ...(await deps.attention(scope)),
      ];
      return {
        mode: scope.mode,
        timeZone,
        today,
        attention: waiting.filter(({ count }) => count > 0),
        volume: await volume(scope, timeZone, today, now),
      };
    },

    listNetworks: (scope: Scope): Data<Api['home']['listNetworks']> =>
      networksOf(scope).map(({ mode, network, isOffered, lagSeconds, node, problems }) => ({
        network,
        name: currencies.network(mode, network)?.name ?? network,
        isOffered,
        lagSeconds: lagSeconds ?? null,
        node: node ?? null,
        problems,
      })),
  };
}
