/** Divides the receipts that are deep enough among scans, so that payers' changes wait for a few payments only. */
import type { ScanBatch } from '../../scanning/scan.js';
import { keyOf as keyOfNetwork } from '../../scanning/scan-statuses.js';
import { engineOf, type Engine, type Transaction } from '../../db/engine.js';
import { afterCommit } from '../../db/transaction-context.js';
import type { DueReceipt } from './receipt-store.js';

/**
 * The most payments that one scan changes, unless it must change more of them. The rest waits for the next scan, which follows at
 * once. SQLite has one writer, so payers wait for the whole scan there. On PostgreSQL they do not, and fewer commits cost less.
 */
const mostConfirmed = { sqlite: 5, postgres: 10 } satisfies Record<Engine, number>;
/** It still confirms so many: new blocks may come all the time. */
const fewestConfirmed = 3;

/**
 * The position in a network's payments. Receipts that wait for a second node can stay due for hours, and must not
 * delay the others.
 */
interface Round {
  /** The last payment. */
  readonly after: string;
  /** True if more may have become due meanwhile, so that another round follows. */
  readonly isRepeated: boolean;
}

const start: Round = { after: '', isRepeated: false };

export function createChooseDue() {
  const rounds = new Map<string, Round>();
  /**
   * @param due the receipts to confirm or reverse
   * @param changing the payments that the scan changes anyway, which need all of theirs
   * @returns those for this scan, and whether another one must follow
   */
  return (
    transaction: Transaction,
    { blocks, checked, orphanedAbove, ...network }: ScanBatch,
    due: readonly DueReceipt[],
    changing: readonly string[],
  ) => {
    const key = keyOfNetwork(network);
    const round = rounds.get(key) ?? start;
    const waiting = [...new Set(due.map((receipt) => receipt.payment_id))].sort();
    const most = Math.max(fewestConfirmed, mostConfirmed[engineOf(transaction)] - new Set(changing).size);
    const part = waiting.filter((id) => id > round.after).slice(0, most);
    const last = part.at(-1);
    const isOver = last === undefined || last === waiting.at(-1);
    const hasNews = blocks.length > 0 || checked.length > 0 || orphanedAbove !== undefined;
    const isRepeated = round.isRepeated || (round.after !== '' && hasNews);
    afterCommit(transaction, () => rounds.set(key, isOver ? start : { after: last, isRepeated }));
    // One that lost its confirmation never waits: it must not be paid out.
    const lost = due.filter(({ status }) => status === 'confirmed');
    const ids = new Set([...part, ...changing, ...lost.map((receipt) => receipt.payment_id)]);
    return {
      chosen: due.filter((receipt) => ids.has(receipt.payment_id)),
      hasMore: !isOver || isRepeated,
    };
  };
}
