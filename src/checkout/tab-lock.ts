/** Lets one tab of a browser at a time create an order's payment. */
import { tabLocks } from '../platform.js';

/** Maximum wait for another tab. It may be frozen; then the idempotency key still keeps the payment single. */
const longestWaitMs = 8_000;

/** Runs `work` while no other tab holds the lock. If the browser has no locks, it runs immediately. */
export async function withTabLock<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const locks = tabLocks();
  if (locks === undefined) return work();
  const waiting = new AbortController();
  const stopWaiting = () => waiting.abort();
  const timer = setTimeout(stopWaiting, longestWaitMs);
  signal.addEventListener('abort', stopWaiting);
  const lock: { isHeld: boolean } = { isHeld: false };
  try {
    return await locks.request(name, { signal: waiting.signal }, () => {
      lock.isHeld = true;
      clearTimeout(timer);
      return work();
    });
  } catch (error) {
    if (lock.isHeld || signal.aborted) throw error;
    return await work();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stopWaiting);
  }
}
