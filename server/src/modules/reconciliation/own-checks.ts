/** Comparisons of one shop's addresses, which its people ask for in the console. */
import type { ConsoleApi, Data } from 'crypto-checkout/contract';
import { fromUnits } from 'crypto-checkout/contract';
import { ownedAddresses, type OwnedAddress } from '../../core/addresses/owners.js';
import { fromChain } from '../../core/chains/assets.js';
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import type { Core } from '../../core/core.js';
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { isoTime } from '../../core/shared/clock.js';
import { notFound, Problem } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { isNodeFailure } from '../networks/rpc/node-error.js';
import { checkNow, countedIn, type CountedFinding } from './check-now.js';
import type { Reconciled } from './reconcile-deps.js';
import type { Reconciliation } from './reconciliation.js';

type Api = ConsoleApi['chainChecks'];
type Finding = Data<Api['book']>[number];

type Deps = Pick<Core, 'database' | 'auditLog' | 'currencies'> & {
  readonly reconciliation: Reconciliation;
};

export type OwnChecks = ReturnType<typeof createOwnChecks>;

export function createOwnChecks(deps: Deps) {
  const { database, currencies, reconciliation } = deps;
  const { reader } = database;

  function networkOf({ mode }: Scope, code: string): Reconciled {
    const found = reconciliation.networks.find(
      ({ network }) => network.mode === mode && network.code === code,
    );
    if (!found) throw notFound('network with a node that reports balances');
    return found;
  }

  const decimal = (units: bigint, currency: string) => fromUnits(units, currencies.known(currency).decimals);

  const view =
    (network: string, owned: ReadonlyMap<string, OwnedAddress>) =>
    ({ address, currency, units, outcome }: CountedFinding): Finding => ({
      network,
      address,
      currency,
      amount: decimal(units, currency),
      outcome,
      paymentId: owned.get(address)?.paymentId ?? null,
      walletId: owned.get(address)?.walletId ?? null,
    });

  return {
    async list(scope: Scope): Promise<Data<Api['list']>> {
      const { rounds } = await reconciliation.status();
      const own = reconciliation.networks.filter(({ network }) => network.mode === scope.mode);
      const rows = await reconciliation.differencesOf(scope);
      const owned = await ownedAddresses(
        reader,
        scope,
        rows.map(({ address }) => address),
      );
      return {
        networks: own.map(({ network: { code, name } }) => {
          const round = rounds.find((one) => one.mode === scope.mode && one.network === code);
          const { finished_at: at = null, position = 0, last_position: last = 0 } = round ?? {};
          return {
            network: code,
            name,
            comparedAt: at === null ? null : isoTime(at),
            progress: progressOf(position, last),
          };
        }),
        differences: rows.flatMap((row) => {
          const network = own.find(({ network: { code } }) => code === row.network);
          const asset = network?.chainAssets[row.currency];
          if (!asset || row.state === 'spent') return [];
          const { address, currency, state } = row;
          const units = fromChain(asset, row.difference);
          const { outcome: _outcome, ...place } = view(
            row.network,
            owned,
          )({ address, currency, units, difference: row.difference, outcome: state });
          return { ...place, state, foundAt: isoTime(row.found_at) };
        }),
      };
    },

    /** Problem: `not_found`. @throws NodesUnavailable */
    async compare(scope: Scope, code: string, after: number, signal: AbortSignal) {
      const network = networkOf(scope, code);
      const part = await asked(reconciliation.comparePart(network, scope, after, signal));
      const owned = await ownedAddresses(
        reader,
        scope,
        part.findings.map(({ address }) => address),
      );
      const { height, checked, next, last } = part;
      return {
        height,
        checked,
        next,
        progress: next === null ? 1 : progressOf(next, last),
        findings: countedIn(network, part.findings).map(view(code, owned)),
      };
    },

    /** Problem: `not_found`. @throws NodesUnavailable */
    async book(scope: Scope, code: string, address: string, actor: AuditActor, signal: AbortSignal) {
      const network = networkOf(scope, code);
      const owned = await ownedAddresses(reader, scope, [address]);
      if (!owned.has(address)) throw notFound('address');
      const report = await asked(checkNow(deps, network, { address, apply: true, actor }, signal));
      return report.findings.map(view(code, owned));
    },
  };
}

const progressOf = (position: number, last: number) => (last === 0 ? 1 : Math.min(1, position / last));

/** Nodes' failures are no fault of this server. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NodesUnavailable || !isNodeFailure(error)) throw error;
    throw new Problem('chain_unavailable', 'No node of this network answered with balances. Try again');
  }
}
