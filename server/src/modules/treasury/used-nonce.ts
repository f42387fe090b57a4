/** Proves that what a treasury signed cannot be mined any more: another transaction has used its nonce up, and no node has it. */
import { coinOf } from '../../core/chains/assets.js';
import type { EvmClient } from '../networks/evm/client.js';
import type { Reader } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { invalidState } from '../../core/shared/problem.js';
import type { EvmConnected } from './context.js';
import type { HeldExport } from './export-store.js';
import { isHash, judgeHash } from './reported-hash.js';
import { readCursor } from './watch-store.js';

/** Safe's `nonce()`. https://github.com/safe-global/safe-smart-account */
const safeNonceData = '0xaffed0e0';
/** EIP-7702: an account that runs the code of a contract, and has a nonce of its own anyway. */
const delegation = /^0xef0100[0-9a-f]{40}$/i;

type KindOfAccount = 'plain' | 'delegated' | 'contract';

/** A nonce that is claimed to prove that transfers in a currency will not be paid. */
interface ClaimedNonce {
  readonly account: string;
  readonly nonce: number;
  readonly currency: string;
}

/**
 * Nodes of two providers must say so, where there are two, and none may differ, at the last block that the watcher has
 * read: payments with the nonce up to there are known. A node that has dropped the state of that block says nothing.
 * The nonce of a contract proves nothing about the coin: a relayer or a module can have had it executed, in a
 * transaction that the watcher does not look at, and the payment has no log. That of an account that runs the code of
 * a contract proves nothing at all: what the account has signed for that code has another nonce.
 * @throws Problem `invalid_state`; NodesUnavailable
 */
export async function ensureNoncePassed(
  reader: Reader,
  on: EvmConnected | undefined,
  { account, nonce, currency }: ClaimedNonce,
  signal: AbortSignal,
): Promise<void> {
  const refused = (reason: string) => invalidState(`${reason}. Nothing was released`);
  if (!on) throw refused('The network of the treasury is not in NETWORKS_FILE any more');
  const isCoin = coinOf(on.chainAssets)?.currency === currency;
  const height = await readCursor(reader, { mode: on.network.mode, network: on.network.code });
  if (height === undefined) throw refused('The watcher of treasuries has not read any block yet');
  const answers = await on.evm.each(
    async (node) => ({
      provider: on.evm.providerOf(node.name),
      kind: await kindOf(node, account),
      next: await nextNonce(node, account, height),
    }),
    signal,
  );
  for (const { kind, next } of answers) {
    if (kind === 'delegated') {
      throw refused(
        `${account} runs the code of a contract (EIP-7702), which can pay without its nonce. An owner can release without one`,
      );
    }
    if (kind === 'contract' && isCoin) {
      throw refused(
        `${account} is a contract, and its nonce does not show whether it has paid ${currency}: that leaves no log. If it has, use "transfers settle"; if not, an owner can release without a nonce`,
      );
    }
    if (next === undefined) throw refused(`${account} is a contract without the nonce of a Safe`);
    if (next <= nonce) {
      throw refused(
        `At block ${height}, the next nonce of ${account} is ${next}: ${nonce} can still be used`,
      );
    }
  }
  const providers = new Set(answers.map(({ provider }) => provider));
  if (providers.size < Math.min(2, on.evm.providers)) {
    throw refused(
      `Only one of the ${on.evm.providers} providers can return the nonce of ${account} at block ${height}, and it takes two`,
    );
  }
}

async function kindOf(node: EvmClient, account: string): Promise<KindOfAccount> {
  const code = await node.code(account);
  if (code === '0x') return 'plain';
  return delegation.test(code) ? 'delegated' : 'contract';
}

/** The next nonce of an account, or of a Safe; undefined for other contracts. */
async function nextNonce(
  node: EvmClient,
  treasury: string,
  height: number | 'latest',
): Promise<number | undefined> {
  if ((await kindOf(node, treasury)) !== 'contract') return node.nonce(treasury, height);
  const answer = await node.call(
    { to: treasury, data: safeNonceData },
    height === 'latest' ? undefined : height,
  );
  return answer !== undefined && /^0x[0-9a-f]{64}$/i.test(answer) ? Number(BigInt(answer)) : undefined;
}

/**
 * The lowest nonce with which an account can sign now: any node's highest, and those of transactions that wait for a block count.
 * Undefined for contracts that are no Safe.
 * @throws NodesUnavailable
 */
export async function leastNonce(
  on: EvmConnected,
  account: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answers = await on.evm.each(async (node) => {
    const [next, pending] = await Promise.all([
      nextNonce(node, account, 'latest'),
      node.pendingNonce(account),
    ]);
    if (next === undefined) return undefined;
    // The nonce of a contract's account counts what it has created.
    return (await kindOf(node, account)) === 'contract' ? next : Math.max(next, pending ?? 0);
  }, signal);
  return answers.reduce((most, next) => (next !== undefined && next > (most ?? -1) ? next : most), undefined);
}

/** A transfer, and the known facts about the wallet that has it. */
type HeldTransfer = Pick<TransferRow, 'id'> & Partial<HeldExport>;

/**
 * For a release: what the wallet has signed has a nonce from that moment on. Without that moment, any old nonce would
 * do. Problem: `invalid_state`.
 * @returns the account of the wallet
 */
export function ensurePossible(
  { id, account, handed_nonce: handed, first_nonce: first }: HeldTransfer,
  nonce: number,
): string {
  const least = handed ?? first ?? null;
  if (!account || least === null) {
    throw invalidState(
      `It is not known which account has the transfer ${id}, or since which nonce, so that no nonce is a proof. An owner can release it without one. Nothing was released`,
    );
  }
  if (nonce >= least) return account;
  throw invalidState(
    `The wallet had the transfer ${id} when its next nonce was ${least}: it cannot have signed it with ${nonce}. Nothing was released`,
  );
}

/**
 * For a release: what a node has can be mined, whatever anybody says. Problem: `invalid_state`.
 * @throws NodesUnavailable
 */
export async function ensureNotSeen(
  on: EvmConnected | undefined,
  transfer: TransferRow & Partial<HeldExport>,
  signal: AbortSignal,
): Promise<void> {
  const { id, wallet_answer: answer } = transfer;
  if (!answer || !isHash(answer)) return;
  const refused = (reason: string) =>
    invalidState(`A wallet has sent the transfer ${id} as ${answer}, ${reason}. Nothing was released`);
  if (!on) throw refused('and its network is not in NETWORKS_FILE any more');
  const { verdict, isKnown } = await judgeHash(on, [transfer], answer, signal);
  if (isKnown && verdict !== 'other')
    throw refused('and a node has it: the transfer ends automatically when that is final');
}
