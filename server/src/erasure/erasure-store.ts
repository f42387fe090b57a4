/** Finds and replaces personal data in the tables of all rooms: one of the places that may write them, see "Rooms" in CONTRIBUTING.md. */
import { sql } from 'kysely';
import { inChunks } from '../db/chunks.js';
import { everyPage, everyPageById } from '../db/pages.js';
import { hasRows, updateRow } from '../db/rows.js';
import type { PersonalData } from '../db/personal-data.js';
import type { Transaction } from '../db/engine.js';
import type { IdempotencyReplyTable, PaymentTable } from '../db/schema.js';
import type { RefundStatus } from 'crypto-checkout/contract';
import { modes } from '../shared/scope.js';

export function findCustomers(transaction: Transaction, merchantId: string, emailIndexes: readonly string[]) {
  return (
    transaction
      .selectFrom('customers')
      .select('id')
      .where('merchant_id', '=', merchantId)
      // So that the index is used beyond its first column.
      .where('mode', 'in', modes)
      .where('email_index', 'in', emailIndexes)
      .execute()
  );
}

export function findPayments(transaction: Transaction, merchantId: string, payerIndexes: readonly string[]) {
  return transaction
    .selectFrom('payments')
    .select('id')
    .where('merchant_id', '=', merchantId)
    .where('mode', 'in', modes)
    .where('payer_index', 'in', payerIndexes)
    .execute();
}

export async function hasActiveSubscription(transaction: Transaction, customerIds: readonly string[]) {
  if (customerIds.length === 0) return false;
  return hasRows(
    transaction
      .selectFrom('subscribers')
      .where('customer_id', 'in', customerIds)
      .where((e) => e.and({ is_active: 1, removed_at: null })),
  );
}

const setRefund = updateRow('refunds');
const setTransfer = updateRow('transfers');
const open: readonly RefundStatus[] = ['awaiting_address', 'awaiting_approval', 'approved', 'processing'];

/**
 * The number of refunds of payments that are not paid or ended yet, and those that ended unpaid, with the transfer if
 * there was one. A transfer that was given to a wallet is none of those: it may be paid all the same, and is known by
 * its address.
 */
export async function findRefundAddresses(
  transaction: Transaction,
  paymentIds: readonly string[],
  personalData: PersonalData,
) {
  const rows = await inChunks(paymentIds, (chunk) =>
    transaction
      .selectFrom('refunds')
      .leftJoin('transfers', 'transfers.refund_id', 'refunds.id')
      .select(['refunds.id', 'refunds.status', 'refunds.address', 'transfers.id as transferId'])
      .where('refunds.payment_id', 'in', chunk)
      .where((e) =>
        e.or([
          e('refunds.status', 'in', [...open, 'cancelled', 'expired']),
          e.and([
            e('refunds.status', '=', 'failed'),
            e('transfers.settled_at', 'is', null),
            ...(['psbt_transfers', 'transfer_exports'] as const).map((given) =>
              e.not(
                e.exists(
                  e
                    .selectFrom(given)
                    .select(`${given}.transfer_id`)
                    .whereRef(`${given}.transfer_id`, '=', 'transfers.id'),
                ),
              ),
            ),
          ]),
        ]),
      )
      .execute(),
  );
  return {
    open: rows.filter(({ status }) => open.includes(status)).length,
    unpaid: rows
      .filter(({ status }) => !open.includes(status))
      .map((row) => personalData.openRow('refunds', row)),
  };
}

/** Of refunds that ended unpaid. Those that were paid keep it: it is in the books, and on the chain. */
export async function eraseRefundAddresses(
  transaction: Transaction,
  unpaid: readonly { readonly id: string; readonly transferId: string | null }[],
): Promise<void> {
  for (const { id, transferId } of unpaid) {
    await setRefund(transaction, id, { address: null, same_wallet: null });
    if (transferId !== null) await setTransfer(transaction, transferId, { address: '' });
  }
}

export const eraseCustomer = updateRow('customers');
/** The new version lets views of the payment be made again. */
export async function erasePayment(
  transaction: Transaction,
  id: string,
  payer: Pick<PaymentTable, 'payer' | 'payer_index'>,
): Promise<void> {
  await transaction
    .updateTable('payments')
    .set({ ...payer, parts_version: sql<number>`parts_version + 1` })
    .where('id', '=', id)
    .execute();
}

const setPayment = updateRow('payments');

/** Rewrites what the shop wrote to these payments and their refunds: where their payers went, metadata and reasons. */
export async function rewriteTexts(
  transaction: Transaction,
  paymentIds: readonly string[],
  personalData: PersonalData,
  rewrite: { readonly json: Rewrite; readonly text: Rewrite },
): Promise<void> {
  const { openRow, sealRow } = personalData;
  const metadataOf = (json: string | null) => (json === null ? null : (rewrite.json(json) ?? json));
  const payments = await inChunks(paymentIds, (chunk) =>
    transaction
      .selectFrom('payments')
      .select(['id', 'redirect_url', 'metadata'])
      .where('id', 'in', chunk)
      .execute(),
  );
  for (const row of payments) {
    const { id, redirect_url: url, metadata } = openRow('payments', row);
    const rewritten = { id, redirect_url: rewrite.text(url) ?? url, metadata: metadataOf(metadata) };
    await setPayment(transaction, id, sealRow('payments', rewritten));
  }
  const refunds = await inChunks(paymentIds, (chunk) =>
    transaction
      .selectFrom('refunds')
      .select(['id', 'reason', 'metadata'])
      .where('payment_id', 'in', chunk)
      .execute(),
  );
  for (const row of refunds) {
    const { id, reason, metadata } = openRow('refunds', row);
    const rewritten = { id, reason: rewrite.text(reason) ?? reason, metadata: metadataOf(metadata) };
    await setRefund(transaction, id, sealRow('refunds', rewritten));
  }
}

const setEvent = updateRow('outbox');

const repliesPerRead = 500;

/** Rewrites JSON; undefined keeps it. */
type Rewrite = (json: string) => string | undefined;

/** @returns how many events were changed */
export async function rewriteWebhooks(
  transaction: Transaction,
  merchantId: string,
  personalData: PersonalData,
  rewrite: Rewrite,
): Promise<number> {
  let changed = 0;
  const events = transaction
    .selectFrom('outbox')
    .select(['id', 'data'])
    .where('merchant_id', '=', merchantId);
  for await (const page of everyPageById(events)) {
    for (const event of page) {
      const rewritten = rewrite(personalData.openEvent(event));
      if (rewritten === undefined) continue;
      await setEvent(transaction, event.id, { data: personalData.sealEvent(event.id, rewritten) });
      // A receiver may have echoed what it was sent.
      await transaction
        .updateTable('webhook_tries')
        .set({ response_excerpt: personalData.sealResponse(event.id, '') })
        .where('event_id', '=', event.id)
        .execute();
      changed += 1;
    }
  }
  return changed;
}

/** @returns how many stored replies were changed */
export async function rewriteReplies(
  transaction: Transaction,
  merchantId: string,
  personalData: PersonalData,
  rewrite: Rewrite,
): Promise<number> {
  let changed = 0;
  for (const mode of modes) {
    const pages = everyPage<IdempotencyReplyTable>(repliesPerRead, (last) =>
      transaction
        .selectFrom('idempotency_replies')
        .selectAll()
        .where((e) => e.and({ merchant_id: merchantId, mode }))
        .where('hash', '>', last?.hash ?? '')
        .orderBy('hash')
        .limit(repliesPerRead)
        .execute(),
    );
    for await (const page of pages) {
      for (const row of page) {
        const rewritten = rewrite(personalData.openReply(row, row.reply));
        if (rewritten === undefined) continue;
        await transaction
          .updateTable('idempotency_replies')
          .set({ reply: personalData.sealReply(row, rewritten) })
          .where((e) => e.and({ merchant_id: merchantId, mode, hash: row.hash }))
          .execute();
        changed += 1;
      }
    }
  }
  return changed;
}
