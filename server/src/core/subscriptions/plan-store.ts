/** Reads and writes payment plans. */
import { tables } from '../db/schema.js';
import { forShare, forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import { valuesOf, type Values } from '../db/values.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { inScope, insertRow, rowById, updateRow } from '../db/rows.js';

export interface PlanQuery extends PageRequest {
  /** In upper case. */
  readonly currency?: string | undefined;
}

const plans = valuesOf(tables.payment_plans);
export type PlanRow = Values<typeof tables.payment_plans>;

const insertStored = insertRow('payment_plans');
const updateStored = updateRow('payment_plans');
export const insertPlan = (transaction: Transaction, row: PlanRow) =>
  insertStored(transaction, plans.encode(row));
export const updatePlan = (transaction: Transaction, id: string, changes: Partial<PlanRow>) =>
  updateStored(transaction, id, plans.encode(changes));

function selectPlan(reader: Reader, scope: Scope, id: string) {
  return rowById(reader, 'payment_plans', id).$call(inScope(scope));
}

export async function findPlan(reader: Reader, scope: Scope, id: string): Promise<PlanRow | undefined> {
  return plans.decode(await selectPlan(reader, scope, id).executeTakeFirst());
}

/** Locks a plan until the transaction ends. */
export async function lockPlan(transaction: Transaction, scope: Scope, id: string) {
  return plans.decode(
    await selectPlan(transaction, scope, id).$call(forUpdate(transaction)).executeTakeFirst(),
  );
}

/** Locks a plan against changes until the transaction ends. Several transactions can hold this lock at once. */
export async function lockPlanShared(transaction: Transaction, scope: Scope, id: string) {
  return plans.decode(
    await selectPlan(transaction, scope, id).$call(forShare(transaction)).executeTakeFirst(),
  );
}

/** Newest first. */
export async function listPlans(reader: Reader, scope: Scope, query: PlanQuery): Promise<Page<PlanRow>> {
  const { currency } = query;
  const listed = reader
    .selectFrom('payment_plans')
    .selectAll()
    .where(isListed('payment_plans', scope, query))
    .where((e) => e.and({ ...(currency !== undefined && { currency }) }));
  const { rows, total } = await readPage(listed, 'payment_plans', query);
  return { rows: rows.map(plans.decode), total };
}
