/** Handlers of sweeps, which people plan and send in the console. */
import { fromUnits, type SweepsApi } from 'crypto-checkout/contract';
import type { Handlers } from '../api/handler.js';
import { actorOf } from '../merchants/audit-log.js';
import type { Currencies } from '../money/currencies.js';
import type { EvmConnected } from './context.js';
import { groupItems, type SweepItem } from './plan.js';
import { baseCurrency, coinCodeOf, type Sweeps } from './sweeps.js';

export function createSweepHandlers(
  sweeps: Sweeps,
  currencies: Pick<Currencies, 'known'>,
): Handlers<SweepsApi> {
  const amountOf = (units: bigint, code: string) => fromUnits(units, currencies.known(code).decimals);

  /** Null if one is unknown. */
  function sum(items: readonly SweepItem[], of: (item: SweepItem) => bigint | undefined, code: string) {
    const known = items.flatMap((item) => of(item) ?? []);
    const total = known.reduce((units, more) => units + more, 0n);
    return known.length < items.length ? null : amountOf(total, code);
  }
  const costOf = (items: readonly SweepItem[]) => sum(items, ({ cost }) => cost, baseCurrency);

  return {
    sweeps: {
      async list(_input, { caller }) {
        const sent = (await sweeps.sent(caller)).map(({ time: sentAt, actor, ...one }) => ({
          ...{ ...one, sentAt },
          // Then come the role, the address and the request, which the audit log has.
          sentBy: actor.split(', ')[0] ?? '',
        }));
        return { data: { networks: (await sweeps.networksOf(caller)).map(viewNetwork), sent } };
      },

      async plan({ body }, { caller, signal }) {
        const { on, plan, transactions, safe } = await sweeps.plan(caller, body.network, signal);
        return {
          data: {
            ...{ ...viewNetwork(on), baseCurrency, safe },
            cost: costOf(plan.items.filter(({ skipped }) => skipped === undefined)),
            groups: groupItems(plan).map(({ treasury, currency, skipped = null, items }) => ({
              ...{ treasury, currency, addresses: items.length, skipped, cost: costOf(items) },
              amount: sum(items, ({ units }) => units, currency) ?? '0',
              worth: sum(items, ({ worth }) => worth, baseCurrency),
            })),
            transactions: transactions.map(({ to, data, items }) => ({
              ...{ to, value: '0', data, balances: items.length },
            })),
          },
        };
      },

      async keepAnswer({ body }, { caller }) {
        await sweeps.keepAnswer(caller, body, actorOf(caller));
        return { data: undefined };
      },
    },
  };
}

const viewNetwork = (on: EvmConnected) => ({
  ...{ network: on.network.code, name: on.network.name, chainId: on.chainId },
  ...{ coin: coinCodeOf(on), rpcUrl: on.network.evm?.rpcUrl ?? null },
});
