/**
 * Transfers that a wallet was asked to send and has refused, as the page says: only the account's nonce can show that
 * it has sent nothing.
 */
import type { Reader } from '../../core/db/engine.js';
import { invalidState } from '../../core/shared/problem.js';
import { placeOf, type EvmConnected } from './context.js';
import { answersSince, type ReservedTransfer } from './export-store.js';
import { isHash } from './reported-hash.js';
import { leastNonce } from './used-nonce.js';

/**
 * Before they are handed over or written once more. Transactions that its wallet has reported explain later nonces: of
 * a batch that it refused, it was asked for one transfer after the other.
 * @throws NodesUnavailable; Problem `invalid_state` if the account has sent something else since
 */
export async function ensureUnsent(
  reader: Reader,
  on: EvmConnected,
  rows: readonly ReservedTransfer[],
  signal: AbortSignal,
): Promise<void> {
  const nonces = new Map<string, number | undefined>();
  for (const { id, account, handed_nonce: asked } of rows) {
    if (account === null || asked === null) continue;
    if (!nonces.has(account)) nonces.set(account, await leastNonce(on, account, signal));
    const next = nonces.get(account);
    if (next === undefined || next <= asked) continue;
    const answers = await answersSince(reader, placeOf(on), account, asked);
    const sent = await Promise.all(answers.filter(isHash).map((hash) => isSentBy(on, account, hash, signal)));
    if (next <= asked + sent.filter(Boolean).length) continue;
    throw invalidState(
      `A wallet was asked to send the transfer ${id} when the next nonce of ${account} was ${asked}. That is ${next} now, so the wallet may have sent it, although it refused. If so, it settles automatically; if not, release it`,
    );
  }
}

async function isSentBy(
  on: EvmConnected,
  account: string,
  hash: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await on.evm.each((node) => node.transaction(hash), signal);
  return found.some((sent) => sent?.from === account.toLowerCase());
}
