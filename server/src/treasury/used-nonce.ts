/** Proves that what a treasury signed with a nonce cannot be mined any more: another transaction has used the nonce up. */
import type { EvmClient } from '../chains/evm/client.js';
import type { Reader } from '../db/engine.js';
import { invalidState } from '../shared/problem.js';
import type { EvmConnected } from './forwarder-checks.js';
import { readCursor } from './watch-store.js';

/** Safe's `nonce()`. https://github.com/safe-global/safe-smart-account */
const safeNonceData = '0xaffed0e0';
/** EIP-7702: an account that runs the code of a contract, and has a nonce of its own all the same. */
const delegation = /^0xef0100[0-9a-f]{40}$/i;

/**
 * Two nodes must say so, where there are two, and none may differ, at the last block that the watcher has read: what was paid with
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
    const answers = await on.evm.each((node) => nextNonce(node, treasury, height), signal);
    for (const next of answers) {
      if (next === undefined) throw refused(`${treasury} is a contract without the nonce of a Safe`);
      if (next <= nonce) {
        throw refused(
          `At block ${height}, the next nonce of ${treasury} is ${next}: ${nonce} can still be used`,
        );
      }
    }
    if (answers.length < Math.min(2, on.evm.clients.length)) {
      throw refused(
        `Only one of the ${on.evm.clients.length} nodes can tell the nonce of ${treasury} at block ${height}, and it takes two`,
      );
    }
  }
}

async function nextNonce(node: EvmClient, treasury: string, height: number): Promise<number | undefined> {
  const code = await node.code(treasury);
  if (code === '0x' || delegation.test(code)) return node.nonce(treasury, height);
  const answer = await node.call({ to: treasury, data: safeNonceData }, height);
  return answer !== undefined && /^0x[0-9a-f]{64}$/i.test(answer) ? Number(BigInt(answer)) : undefined;
}
