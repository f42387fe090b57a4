/** What belongs to the transaction that runs: callbacks for after its commit, and the guard against the outer handle. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Callbacks to run after commit. Present only inside a transaction. */
const current = new AsyncLocalStorage<(() => void)[]>();

/** Calls back once the running transaction has committed, and never if it does not. Only for news to this process. */
export function afterCommit(callback: () => void): void {
  current.getStore()?.push(callback);
}

/** Runs work as part of a transaction. @param callbacks collects what `afterCommit` is given */
export function runInTransaction<T>(callbacks: (() => void)[], work: () => Promise<T>): Promise<T> {
  return current.run(callbacks, work);
}

/** Inside a transaction the outer handle would wait for a connection that only the transaction can give back. */
export function refuseInsideTransaction(): void {
  if (current.getStore()) {
    throw new Error('The outer database handle was used inside a transaction: pass the transaction on');
  }
}
