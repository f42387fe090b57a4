/** Refunds of payments. */
import type { RefundStatus } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { ownPersonal } from '../../core/db/data-policy.js';
import { stringRecord } from '../../core/db/codecs.js';
import { codecOf, sealedColumns } from '../../core/db/personal-data.js';
import type { Rows } from '../../core/db/schema.js';
import { flag, integer, record, rowPart, table, text, time, units } from '../../core/db/table.js';
import type { Values } from '../../core/db/values.js';

const ofPayments = ownPersonal({
  columns: { reason: 'text', address: 'replaced', metadata: 'json' },
  payment: 'payment_id',
});

export const refundTables = {
  refunds: table(ofPayments, {
    ...record,
    payment_id: text().references('payments.id'),
    status: text<RefundStatus>(),
    kind: text<'full' | 'excess' | 'unaccepted' | 'partial'>(),
    /** In the merchant's words, encrypted if there is a data key, as the address and the metadata are: db/personal-data.ts. */
    reason: text(),
    currency: text(),
    network: text(),
    /**
     * The amount that arrives. Frozen at creation, like the fee, unless the payer bears a fee that the network names
     * later.
     */
    amount: units(),
    /** The fee that the network charges. Amount and fee are reserved from the available balance. */
    fee: units(),
    /** The one who bears the fee: the payer's is part of the refunded amount. */
    network_fee: text<'merchant' | 'payer'>(),
    /** 1 if the service fee of the refunded money goes back too. */
    refund_fee: flag(),
    /** The part of the coins from the payment that it uses up, fees and all. */
    used: units(),
    /** The service fee on these: it stays taken, or goes back to the payer too. */
    service_fee: units(),
    /**
     * The number of times that the service fee was returned and charged again: of an excess, on which none is earned.
     * Odd while it is returned.
     */
    fee_returns: integer(),
    /** 1 if the payment was a success when its coins were set apart: it stays one without them. */
    of_success: flag(),
    valued_by: text<'coins' | 'today'>(),
    base_currency: text(),
    /** In units of the base currency. */
    base_amount: units(),
    /** The worth of one unit then, in units of the base currency: an integer fraction `numerator/denominator`. */
    rate: text(),
    rate_at: time(),
    /** In the network's canonical form; null until it is given, and after an erasure. */
    address: text().nullable(),
    /** True if the paying wallet signed for the address; false if that is unproven, null if nothing was signed. */
    same_wallet: flag().nullable(),
    /** SHA-256 of the claim's token, in hex. */
    token_digest: text().unique(),
    /** The same of the secret that the browser keeps which gave the address by the link; null while nobody did. */
    browser_digest: text().nullable(),
    /** The key, the person's id, or the command line that made it. */
    created_by: text(),
    /** The transfer that pays it; null until it is approved. */
    transfer_id: text().nullable(),
    tx_hash: text().nullable(),
    /** Why it was cancelled, if that was not the merchant's wish: the missing money of the payment came. */
    cancel_reason: text<'payment_completed'>().nullable(),
    metadata: text().nullable(),
    expires_at: time(),
    created_at: time(),
    updated_at: time(),
  })
    .longList({
      filters: { status: rowPart('status'), currency: rowPart('currency'), network: rowPart('network') },
    })
    .index('payment', ['payment_id', 'created_at', 'id'])
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('status', ['merchant_id', 'mode', 'status', 'created_at', 'id'])
    .index('expiry', ['mode', 'expires_at', 'id'], { where: sql`status = 'awaiting_address'` }),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof refundTables> {}
}

export type RefundTable = Rows<typeof refundTables>['refunds'];
export type RefundRow = Values<(typeof refundTables)['refunds']>;

/** The merchant's own keys and values, inside the encrypted column. */
export const refundMetadata = codecOf('refunds.metadata', stringRecord);

export const sealedRefunds = sealedColumns('refunds', 'reason', 'address', 'metadata');
