/** The context of the running transaction: callbacks for after its commit, and a guard against the outer handle. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Callbacks to run after commit; set only inside a transaction. */
const current = new AsyncLocalStorage<(() => void)[]>();

/** Calls back after the running transaction commits, and never if it fails. Use it only to notify this process. */
export function afterCommit(callback: () => void): void {
  current.getStore()?.push(callback);
}

/** Stands for the running transaction, whose handle several share that commit together; undefined outside of one. */
export function runningTransaction(): object | undefined {
  return current.getStore();
}

/** @returns a function that drops the callbacks passed to `afterCommit` since, for a part that was rolled back */
export function markCallbacks(): () => void {
  const callbacks = current.getStore();
  const kept = callbacks?.length ?? 0;
  return () => callbacks?.splice(kept);
}

/** Runs work as part of a transaction. @param callbacks collects the callbacks passed to `afterCommit` */
export function runInTransaction<T>(callbacks: (() => void)[], work: () => Promise<T>): Promise<T> {
  return current.run(callbacks, work);
}

/** Throws inside a transaction: the outer handle could wait forever for a connection that the transaction holds. */
export function refuseInsideTransaction(): void {
  if (current.getStore()) {
    throw new Error(
      'The outer database handle was used inside a transaction; use the transaction handle instead',
    );
  }
}
