/** Examines a transaction that a wallet or a person claims has paid transfers: nobody is believed about that. */
import type { EvmClient } from '../networks/evm/client.js';
import { readTransferLog } from '../networks/evm/token.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { EvmConnected } from './context.js';
import type { HeldExport } from './export-store.js';
import { payoutCall } from './payout-file.js';

export const isHash = (answer: string): boolean => /^0x[0-9a-f]{64}$/i.test(answer);

/** `other`: it pays something else, or has failed. `unknown`: that cannot be known, or not yet. */
type Verdict = 'pays' | 'other' | 'unknown';

interface Judged {
  readonly verdict: Verdict;
  /** True if a node has the transaction. */
  readonly isKnown: boolean;
}

type Row = TransferRow & Partial<Pick<HeldExport, 'account'>>;

/**
 * @param rows transfers that it is claimed to pay, all of one account
 * @throws NodesUnavailable
 */
export async function judgeHash(
  on: EvmConnected,
  rows: readonly Row[],
  hash: string,
  signal: AbortSignal,
): Promise<Judged> {
  const found = await on.evm.each((node) => judgeAt(node, on, rows, hash), signal);
  const verdicts = new Set(found.map(({ verdict }) => verdict));
  const verdict = verdicts.has('pays') ? 'pays' : verdicts.has('other') ? 'other' : 'unknown';
  return { verdict, isKnown: found.some(({ isKnown }) => isKnown) };
}

async function judgeAt(
  node: EvmClient,
  on: EvmConnected,
  rows: readonly Row[],
  hash: string,
): Promise<Judged> {
  const sent = await node.transaction(hash);
  const account = rows[0]?.account?.toLowerCase();
  if (!sent) return { verdict: 'unknown', isKnown: false };
  if (account === undefined) return { verdict: 'unknown', isKnown: true };
  const [receipt] = await node.receipts([hash]);
  const isDirect = sent.from === account && sent.to !== account;
  if (receipt?.isSuccess === false) return { verdict: 'other', isKnown: true };
  if (isDirect && rows.length === 1) {
    const call = rows[0] && payoutCall(on, rows[0]);
    const isSame =
      sent.to === call?.to.toLowerCase() &&
      sent.value === (call.value ?? 0n) &&
      sent.input.toLowerCase() === call.data.toLowerCase();
    return { verdict: isSame ? 'pays' : 'other', isKnown: true };
  }
  if (receipt) {
    const logs = receipt.logs.flatMap((log) => {
      const transfer = readTransferLog(log);
      return transfer?.from === account ? [`${log.address}/${transfer.to}/${transfer.amount}`] : [];
    });
    const wanted = rows.map((row) => payoutCall(on, row));
    // The coin leaves no log.
    if (wanted.some(({ value }) => value !== undefined)) return { verdict: 'unknown', isKnown: true };
    const isThere = rows.every((row, index) => {
      const { to = '', data = '' } = wanted[index] ?? {};
      const name = `${to.toLowerCase()}/${row.address.toLowerCase()}/${BigInt(`0x${data.slice(-64)}`)}`;
      const at = logs.indexOf(name);
      return at >= 0 && logs.splice(at, 1).length > 0;
    });
    return { verdict: isThere ? 'pays' : 'other', isKnown: true };
  }
  // An account without code pays only with its own transactions.
  const isForeign = sent.from !== account && (await node.code(account)) === '0x';
  return { verdict: isForeign ? 'other' : 'unknown', isKnown: true };
}
