/** The checks of `ledger check --chain` on forwarders and treasuries. */
import type { LedgerCheck } from '../../core/audit/check-report.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import { amountText } from '../../core/commands/records.js';
import type { ChainBalances } from './chain-balances.js';

/** Missing and excess coins are two answers. */
export function chainChecks(
  { height, checked, differences, treasuries }: ChainBalances,
  { network: { code, mode } }: ConnectedNetwork,
): LedgerCheck[] {
  const at = `on ${code} (${mode}) at block ${height}`;
  const sized = (size: ChainBalances['differences'][number]['size']) =>
    differences.filter((one) => one.size === size);
  const missing = sized('shortage').map(
    ({ address, currency, units }) =>
      `${address} holds ${amountText(-units, currency)} less than the books say`,
  );
  const spent = treasuries.flatMap(({ currency, books, chain }) =>
    chain >= books
      ? []
      : `The treasuries hold ${amountText(chain, currency)}, the books say ${amountText(books, currency)}: money left them that is not on the books`,
  );
  const more = sized('surplus').map(
    ({ address, currency, units }) =>
      `${address} holds ${amountText(units, currency)} more than the books say. "chains reconcile --network ${code} --mode ${mode} --address ${address} --apply" books it`,
  );
  const dust = sized('dust').map(
    ({ address, currency, units }) => `Dust: ${address} holds ${amountText(units, currency)} more`,
  );
  return [
    {
      invariant: `Nothing is missing that the books say is held ${at}`,
      kind: 'shortage',
      checked,
      violations: [...missing, ...spent],
    },
    {
      invariant: `No forwarder holds more than the books say, but for dust, ${at}`,
      kind: 'surplus',
      checked,
      violations: more,
      notes: dust,
    },
  ];
}
