/** Handlers of sweeps, which people plan and send in the console. */
import { fromUnits, type ConsoleApi } from 'crypto-checkout/contract';
import type { Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { EvmConnected } from './context.js';
import { groupItems, sumOf } from './plan.js';
import { coinCodeOf, type Sweeps } from './sweeps.js';

export function createSweepHandlers(
  sweeps: Sweeps,
  currencies: Pick<Currencies, 'known'>,
): Pick<Handlers<ConsoleApi>, 'sweeps'> {
  const amountOf = (units: bigint, code: string) => fromUnits(units, currencies.known(code).decimals);

  return {
    sweeps: {
      async list(_input, { caller }) {
        const sent = (await sweeps.sent(caller)).map(({ time: sentAt, actor, ...one }) => ({
          ...one,
          sentAt,
          // Then come the role, the address and the request, which the audit log has.
          sentBy: actor.split(', ')[0] ?? '',
        }));
        return { data: { networks: (await sweeps.networksOf(caller)).map(viewNetwork), sent } };
      },

      async plan({ body }, { caller, signal }) {
        const { on, plan, transactions, safe } = await sweeps.plan(caller, body.network, signal);
        const { baseCurrency } = plan;
        const worthOf = (units: bigint | undefined) =>
          units === undefined ? null : amountOf(units, baseCurrency);
        const groups = groupItems(plan);
        const swept = groups.filter(({ skipped }) => skipped === undefined);
        return {
          data: {
            ...viewNetwork(on),
            baseCurrency,
            safe,
            cost: worthOf(sumOf(swept.map(({ cost }) => cost))),
            groups: groups.map(({ treasury, currency, addresses, skipped = null, units, worth, cost }) => ({
              treasury,
              currency,
              addresses,
              skipped,
              cost: worthOf(cost),
              worth: worthOf(worth),
              amount: amountOf(units, currency),
            })),
            transactions: transactions.map(({ to, data, items }) => ({
              to,
              value: '0',
              data,
              balances: items.length,
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
  network: on.network.code,
  name: on.network.name,
  chainId: on.chainId,
  coin: coinCodeOf(on),
  rpcUrl: on.network.evm?.rpcUrl ?? null,
});
