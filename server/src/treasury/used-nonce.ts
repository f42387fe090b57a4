/** Proves that what a treasury signed cannot be mined any more: another transaction has used its nonce up, and no node has it. */
import type { EvmClient } from '../chains/evm/client.js';
import type { Reader } from '../db/engine.js';
import { invalidState } from '../shared/problem.js';
import type { EvmConnected } from './context.js';
import type { ReservedTransfer } from './export-store.js';
import { readCursor } from './watch-store.js';

/** Safe's `nonce()`. https://github.com/safe-global/safe-smart-account */
const safeNonceData = '0xaffed0e0';
/** EIP-7702: an account that runs the code of a contract, and has a nonce of its own all the same. */
const delegation = /^0xef0100[0-9a-f]{40}$/i;

/**
 * Nodes of two providers must say so, where there are two, and none may differ, at the last block that the watcher has read: what was paid with
 * the nonce up to there is known. A node that has dropped the state of that block says nothing.
 * @param treasuries of the merchant
 * @throws Problem `invalid_state`; NodesUnavailable
 */
export async function ensureNoncePassed(
  reader: Reader,
  on: EvmConnected | undefined,
  treasuries: readonly string[],
  nonce: number,
  signal: AbortSignal,
): Promise<void> {
  const refused = (reason: string) => invalidState(`${reason}. Nothing was released`);
  if (!on || treasuries.length === 0) throw refused('There is no treasury whose nonce could be read');
  const height = await readCursor(reader, { mode: on.network.mode, network: on.network.code });
  if (height === undefined) throw refused('The watcher of treasuries has not read any block yet');
  for (const treasury of treasuries) {
    const answers = await on.evm.each(
      async (node) => ({
        provider: on.evm.providerOf(node.name),
        next: await nextNonce(node, treasury, height),
      }),
      signal,
    );
    for (const { next } of answers) {
      if (next === undefined) throw refused(`${treasury} is a contract without the nonce of a Safe`);
      if (next <= nonce) {
        throw refused(
          `At block ${height}, the next nonce of ${treasury} is ${next}: ${nonce} can still be used`,
        );
      }
    }
    const told = new Set(answers.map(({ provider }) => provider));
    if (told.size < Math.min(2, on.evm.providers)) {
      throw refused(
        `Only one of the ${on.evm.providers} providers can tell the nonce of ${treasury} at block ${height}, and it takes two`,
      );
    }
  }
}

/** The next nonce of an account, or of a Safe; undefined for other contracts. */
export async function nextNonce(
  node: EvmClient,
  treasury: string,
  height: number | 'latest',
): Promise<number | undefined> {
  const code = await node.code(treasury);
  if (code === '0x' || delegation.test(code)) return node.nonce(treasury, height);
  const answer = await node.call(
    { to: treasury, data: safeNonceData },
    height === 'latest' ? undefined : height,
  );
  return answer !== undefined && /^0x[0-9a-f]{64}$/i.test(answer) ? Number(BigInt(answer)) : undefined;
}

/** A transfer, and what is known of a wallet that was asked to send it. */
type HandedTransfer = Pick<ReservedTransfer, 'id'> &
  Partial<Pick<ReservedTransfer, 'wallet_answer' | 'handed_nonce'>>;

export const isHash = (answer: string): boolean => /^0x[0-9a-f]{64}$/i.test(answer);

/**
 * For a release: what a wallet has sent can be mined. Only a nonce that is used up says otherwise, and only while no node has the
 * transaction. Problem: `invalid_state`.
 * @throws NodesUnavailable
 */
export async function ensureUnsent(
  on: EvmConnected | undefined,
  { id, wallet_answer: answer, handed_nonce: least }: HandedTransfer,
  nonce: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!answer) return;
  const refused = (reason: string) =>
    invalidState(`A wallet has sent the transfer ${id} as ${answer}, ${reason}. Nothing was released`);
  if (!on) throw refused('and its network is not in NETWORKS_FILE any more');
  if (nonce === undefined || nonce < (least ?? 0)) {
    throw refused(
      `which can be mined at any time. If something else was mined with its nonce, give that: ${least ?? 0} or above`,
    );
  }
  if (!isHash(answer)) return;
  const known = await on.evm.each(async (node) => {
    const [receipt] = await node.receipts([answer]);
    return receipt ? receipt.isSuccess : node.isPending(answer);
  }, signal);
  if (known.includes(true))
    throw refused('and a node has it: the transfer ends by itself when that is final');
}
