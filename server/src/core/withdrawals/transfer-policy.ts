/** The merchant's own limits on transfers: only to addresses saved long enough ago, and no more than so much a day. */
import { parseDecimal } from 'crypto-checkout/contract';
import { parseAmount } from '../money/amounts.js';
import { formatUnits } from '../money/units.js';
import { isoTime } from '../shared/clock.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Destination } from './destination.js';
import * as store from './transfer-store.js';

const dayMs = 86_400_000;

/**
 * A stolen secret key cannot send money to a new address at once: the merchant has a day to notice the address. Nor can
 * it send more than the daily limit. The caller must hold the lock of the balance, so that two transfers at once do not both fit
 * under the limit. Problems: `invalid_address`, `validation_error`.
 */
export async function ensureAllowed(
  deps: WithdrawalsDeps,
  transaction: Transaction,
  scope: Scope,
  to: Destination,
): Promise<void> {
  // Not from memory: a merchant who locks down the account is locked down at once.
  const { transfers, dailyLimits } = await deps.merchants.retrieve(transaction, scope.merchantId);
  if (transfers === 'saved') checkSaved(to, deps.clock.now(scope));
  await ensureWithin(deps, transaction, scope, to, dailyLimits, 'Transfers');
}

/** Checks the daily limit of refunds, which is separate. Problem: `validation_error`. */
export async function ensureRefundAllowed(
  deps: WithdrawalsDeps,
  transaction: Transaction,
  scope: Scope,
  refund: Pick<Destination, 'currency' | 'amount'>,
): Promise<void> {
  const { dailyRefunds } = await deps.merchants.retrieve(transaction, scope.merchantId);
  await ensureWithin(deps, transaction, scope, refund, dailyRefunds, 'Refunds');
}

/** @param limits by currency code, as decimals */
async function ensureWithin(
  { clock }: WithdrawalsDeps,
  transaction: Transaction,
  scope: Scope,
  { currency, amount }: Pick<Destination, 'currency' | 'amount'>,
  limits: Readonly<Record<string, string>>,
  of: 'Transfers' | 'Refunds',
): Promise<void> {
  const limit = parseDecimal(limits[currency.code] ?? '');
  if (limit === undefined) return;
  const limitUnits = parseAmount(limit, currency, 'dailyLimits', currency.decimals);
  const since = clock.now(scope) - dayMs;
  const sent = await store.sumSince(transaction, scope, currency.code, since, of === 'Refunds');
  if (sent + amount <= limitUnits) return;
  const left = limitUnits > sent ? limitUnits - sent : 0n;
  throw invalidField(
    'amount',
    `The daily limit of this account is ${limit} ${currency.code}, and ${formatUnits(left, currency)} of it is left. ${of} count for 24 hours`,
  );
}

function checkSaved({ savedAt }: Destination, now: number): void {
  const rule = 'This account sends only to wallet addresses that were saved more than 24 hours ago.';
  if (savedAt === null) {
    throw refused(`${rule} This address is not saved: save it with POST /v1/wallet-addresses`);
  }
  if (now - savedAt <= dayMs) {
    throw refused(`${rule} This one can be used after ${isoTime(savedAt + dayMs)}`);
  }
}

function refused(message: string): Problem {
  return new Problem('invalid_address', message, { param: 'walletAddress' });
}
