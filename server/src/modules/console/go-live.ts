/** Steps that a shop takes before it goes live, as far as the core knows them. Modules add theirs. */
import { type GoLiveStep, goLiveSteps } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import type { DoneStep } from '../../core/hooks.js';
import { firstFeeBasisPoints } from '../../core/merchants/merchants.js';
import type { Scope } from '../../core/shared/scope.js';

type GoLiveDeps = Pick<
  Core,
  'database' | 'merchants' | 'keys' | 'endpoints' | 'depositKeys' | 'connected' | 'auditLog' | 'hooks'
>;

export function createGoLive(deps: GoLiveDeps) {
  const { merchants, keys, endpoints, depositKeys, connected, auditLog, hooks } = deps;
  const { reader } = deps.database;

  /** True once somebody has set the fee, whatever it is. */
  async function isFeeChosen(scope: Scope, fee: number): Promise<boolean> {
    if (fee !== firstFeeBasisPoints) return true;
    const request = { action: 'merchant.updated', page: 1, skip: 1000 };
    const { rows } = await auditLog.page(reader, scope, request);
    return rows.some(({ after }) => after !== null && 'feeBasisPoints' in after);
  }

  return {
    /** In the order in which they are taken. */
    async steps(scope: Scope): Promise<DoneStep[]> {
      const [{ redirectOrigins, supportUrl, feeBasisPoints }, endpoint, publicKey] = await Promise.all([
        merchants.retrieve(reader, scope.merchantId),
        endpoints.find(reader, scope),
        keys.publicKey(scope.merchantId, scope.mode),
      ]);
      const networks = connected.flatMap(({ network }) => (network.mode === scope.mode ? network : []));
      const hasKey = networks.every(({ family, addressNet }) =>
        depositKeys.sources.find(scope, family, addressNet),
      );
      const isDone: Partial<Record<GoLiveStep, boolean>> = {
        webhook: endpoint?.disabledAt === null && endpoint.url !== '',
        redirect_origins: (redirectOrigins ?? []).length > 0,
        support_url: supportUrl !== '',
        fee: await isFeeChosen(scope, feeBasisPoints),
        // A new shop has one for test mode.
        ...(scope.mode === 'live' && { public_key: publicKey !== undefined }),
        ...(networks.length > 0 && { deposit_keys: hasKey }),
      };
      for (const step of await hooks.goLiveSteps(scope)) isDone[step.code] = step.isDone;
      return goLiveSteps.flatMap((code) => {
        const done = isDone[code];
        return done === undefined ? [] : { code, isDone: done };
      });
    },
  };
}
