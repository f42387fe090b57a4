/**
 * The key of the PostgreSQL advisory lock that keeps list checkpoints exact. Transactions that change a list take it
 * shared; the job that adds checkpoints takes it exclusively. The number is arbitrary and must never change.
 */
export const checkpointLock = 7_203_114;
