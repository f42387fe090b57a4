/** Publishes webhook events about payments, in the transaction of the change that they report. */
import type { PaymentState, WebhookEventType } from 'crypto-checkout/contract';
import { Problem } from '../shared/problem.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { Outbox } from '../webhooks/outbox.js';
import { statusOf } from './assess.js';
import { eventsOf, outcomeEvent } from './events.js';
import { isReported } from './deposits.js';
import type { PaymentReader } from './payment-reader.js';
import type { StoredRecord } from './store.js';
import type { Transaction } from '../db/engine.js';

export interface AnnouncementsDeps {
  readonly reader: PaymentReader;
  readonly outbox: Outbox;
  /** Reads the wallet of a deposit. It cannot be deleted until the transaction ends. */
  readonly wallet: (transaction: Transaction, id: string) => Promise<DepositTarget>;
}

export interface Announcements {
  /** Publishes the events of a change of state. @param record locked, with the new state already stored */
  publish(transaction: Transaction, former: PaymentState, record: StoredRecord): Promise<void>;
  /**
   * Sends the newest event of a locked payment again, or a new one if none has reported the current status.
   * Problems: `invalid_state`, `webhook_not_configured`.
   */
  resend(transaction: Transaction, record: StoredRecord): Promise<void>;
}

export function createAnnouncements({ reader, outbox, wallet }: AnnouncementsDeps): Announcements {
  async function announce(
    transaction: Transaction,
    record: StoredRecord,
    types: readonly WebhookEventType[],
  ): Promise<void> {
    const { id, merchant_id: merchantId, mode } = record;
    if (types.length === 0 || !(await outbox.hasEndpoint(transaction, { merchantId, mode }))) return;
    const data = reader.view('secret', record);
    for (const type of types) {
      await outbox.add(transaction, { merchantId, mode, type, subjectId: id, data });
    }
  }

  async function announceDeposit(
    transaction: Transaction,
    record: StoredRecord,
    walletId: string,
  ): Promise<void> {
    const { id, merchant_id: merchantId, mode } = record;
    if (!(await outbox.hasEndpoint(transaction, { merchantId, mode }))) return;
    const target = await wallet(transaction, walletId);
    if (target.isDeleted) return;
    await outbox.add(transaction, {
      merchantId,
      mode,
      type: 'wallet.transaction',
      subjectId: id,
      data: { transaction: reader.view('secret', record), wallet: target.wallet },
    });
  }

  return {
    async publish(transaction, former, record) {
      const { state, wallet_id: walletId } = record;
      if (walletId === null) await announce(transaction, record, eventsOf(former, state));
      else if (isReported(statusOf(former), statusOf(state))) {
        await announceDeposit(transaction, record, walletId);
      }
    },

    async resend(transaction, record) {
      const { wallet_id: walletId, state } = record;
      if (walletId !== null && (await wallet(transaction, walletId)).isDeleted) {
        throw new Problem(
          'invalid_state',
          'The wallet of this deposit was deleted, so no webhooks are sent for it',
        );
      }
      await outbox.requireEndpoint(transaction, { merchantId: record.merchant_id, mode: record.mode });
      const newest = await outbox.newest(transaction, record.id);
      // An event with another status is outdated: the current status was never sent.
      const isOutdated = walletId === null && newest?.data['status'] !== statusOf(state);
      if (newest && !isOutdated) await outbox.resend(transaction, newest);
      else if (walletId === null) await announce(transaction, record, [outcomeEvent(state)]);
      else await announceDeposit(transaction, record, walletId);
    },
  };
}
