/** A comparison that somebody asks for, on the command line or in the console, and what it credits, in the audit log. */
import { merchantOf } from '../../core/addresses/owners.js';
import { fromChain } from '../../core/chains/assets.js';
import { amountText } from '../../core/commands/records.js';
import type { Database } from '../../core/db/database.js';
import type { AuditActor, AuditLog } from '../../core/merchants/audit-log.js';
import type { Finding } from './reconcile.js';
import type { Reconciled } from './reconcile-deps.js';
import type { Reconciliation } from './reconciliation.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<'balance.reconciled', true> {}
}

export interface CheckDeps {
  readonly reconciliation: Pick<Reconciliation, 'check'>;
  readonly database: Database;
  readonly auditLog: Pick<AuditLog, 'record'>;
}

/** A finding in units of the currency. */
export interface CountedFinding extends Finding {
  readonly units: bigint;
}

export const countedIn = (
  { chainAssets }: Reconciled,
  findings: readonly Finding[],
): readonly CountedFinding[] =>
  findings.flatMap((finding) => {
    const asset = chainAssets[finding.currency];
    return asset ? [{ ...finding, units: fromChain(asset, finding.difference) }] : [];
  });

/** @param given one address, or all; with `apply`, surpluses that two looks agree on are booked, including dust */
export async function checkNow(
  { reconciliation, database, auditLog }: CheckDeps,
  network: Reconciled,
  given: { readonly address: string | undefined; readonly apply: boolean; readonly actor: AuditActor },
  signal: AbortSignal,
) {
  const { mode, code } = network.network;
  const { checked, height, findings } = await reconciliation.check(
    network,
    given.address,
    given.apply,
    signal,
  );
  const counted = countedIn(network, findings);
  const credited = counted.filter(({ outcome }) => outcome === 'credited');
  await database.write(async (transaction) => {
    for (const { address: place, currency, units } of credited) {
      await auditLog.record(transaction, {
        merchantId: (await merchantOf(transaction, mode, place)) ?? '',
        mode,
        actor: given.actor,
        action: 'balance.reconciled',
        subjectId: place,
        after: { network: code, currency, amount: amountText(units, currency) },
      });
    }
  });
  return { network: code, height, checked, findings: counted };
}
