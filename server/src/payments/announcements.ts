/** Tells merchants what became of payments, in the transaction of the change that is told. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Transaction } from '../db/database.js';
import { Problem } from '../problems.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { Outbox } from '../webhooks/outbox.js';
import { statusOf } from './assess.js';
import { eventsOf, outcomeEvent } from './events.js';
import { isTold } from './deposits.js';
import type { Records } from './records.js';
import type { PaymentRow } from './store.js';

export interface AnnouncementsDependencies {
  readonly records: Records;
  readonly outbox: Outbox;
  /** The wallet that a deposit comes to; it stays as it is until the transaction ends. */
  readonly wallet: (transaction: Transaction, id: string) => Promise<DepositTarget>;
}

export interface Announcements {
  /** Tells a change that is written already. @param row as it was before; locked */
  tell(transaction: Transaction, row: PaymentRow, state: PaymentRow['state']): Promise<void>;
  /**
   * Sends the newest event of a locked payment once more, or tells where it stands if no event has. Problems:
   * `invalid_state`, `webhook_not_configured`.
   */
  resend(transaction: Transaction, row: PaymentRow): Promise<void>;
}

export function createAnnouncements({ records, outbox, wallet }: AnnouncementsDependencies): Announcements {
  async function announce(
    transaction: Transaction,
    { id, merchant_id: merchantId, mode }: PaymentRow,
    types: readonly WebhookEventType[],
  ): Promise<void> {
    if (types.length === 0 || !(await outbox.isHeard(transaction, merchantId))) return;
    const data = records.view(await records.find(transaction, { merchantId, mode }, id));
    for (const type of types) {
      await outbox.announce(transaction, { merchantId, mode, type, subjectId: id, data });
    }
  }

  async function announceDeposit(transaction: Transaction, row: PaymentRow, walletId: string): Promise<void> {
    const scope = { merchantId: row.merchant_id, mode: row.mode };
    if (!(await outbox.isHeard(transaction, scope.merchantId))) return;
    const target = await wallet(transaction, walletId);
    if (target.isDeleted) return;
    const record = records.view(await records.find(transaction, scope, row.id));
    await outbox.announce(transaction, {
      ...scope,
      type: 'wallet.transaction',
      subjectId: row.id,
      data: { transaction: record, wallet: target.wallet },
    });
  }

  return {
    async tell(transaction, row, state) {
      if (row.wallet_id === null) await announce(transaction, row, eventsOf(row.state, state));
      else if (isTold(statusOf(row.state), statusOf(state))) {
        await announceDeposit(transaction, row, row.wallet_id);
      }
    },

    async resend(transaction, row) {
      if (row.wallet_id !== null && (await wallet(transaction, row.wallet_id)).isDeleted) {
        throw new Problem('invalid_state', 'The wallet of this deposit was deleted: it has no more webhooks');
      }
      await outbox.requireEndpoint(transaction, row.merchant_id);
      const newest = await outbox.newest(transaction, row.id);
      // An event of another status is old news: where the payment stands now was not told.
      const isNews = row.wallet_id === null && newest?.data['status'] !== statusOf(row.state);
      if (newest && !isNews) await outbox.resend(transaction, newest);
      else if (row.wallet_id === null) await announce(transaction, row, [outcomeEvent(row.state)]);
      else await announceDeposit(transaction, row, row.wallet_id);
    },
  };
}
