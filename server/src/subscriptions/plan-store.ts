/** Reads and writes payment plans. */
import { forShare, forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import type { PaymentPlanTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { inScope, insertRow, rowById, updateRow } from '../db/rows.js';

export interface PlanQuery extends PageRequest {
  /** In upper case. */
  readonly currency?: string | undefined;
}

export const insertPlan = insertRow('payment_plans');
export const updatePlan = updateRow('payment_plans');

function selectPlan(reader: Reader, scope: Scope, id: string) {
  return rowById(reader, 'payment_plans', id).$call(inScope(scope));
}

export function findPlan(reader: Reader, scope: Scope, id: string): Promise<PaymentPlanTable | undefined> {
  return selectPlan(reader, scope, id).executeTakeFirst();
}

/** Locks a plan until the transaction ends. */
export function lockPlan(transaction: Transaction, scope: Scope, id: string) {
  return selectPlan(transaction, scope, id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** Locks a plan against changes until the transaction ends. Several transactions can hold this lock at once. */
export function lockPlanShared(transaction: Transaction, scope: Scope, id: string) {
  return selectPlan(transaction, scope, id).$call(forShare(transaction)).executeTakeFirst();
}

/** Newest first. */
export function listPlans(reader: Reader, scope: Scope, query: PlanQuery): Promise<Page<PaymentPlanTable>> {
  const { currency } = query;
  const rows = reader
    .selectFrom('payment_plans')
    .selectAll()
    .where(isListed('payment_plans', scope, query))
    .where((e) => e.and({ ...(currency !== undefined && { currency }) }));
  return readPage(rows, 'payment_plans', query);
}
