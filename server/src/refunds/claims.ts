/** Claims: what the holder of a link sees of a refund, and may say of it: where to. */
import type { RefundClaim } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../db/engine.js';
import type { RefundTable } from '../db/schema.js';
import { Problem } from '../shared/problem.js';
import { scopeOf } from '../shared/scope.js';
import { isSignedBy } from './address-rules.js';
import type { Approval } from './approval.js';
import type { LockedRefund, RefundChanges, RefundsDeps } from './change-refund.js';
import { createRefundStore } from './store.js';
import { tokenDigest } from '../shared/token.js';
import { signatureText, viewClaim } from './view.js';

export interface GivenAddress {
  readonly token: string;
  readonly address: string;
  readonly signature?: string | undefined;
}

export function createClaims(deps: RefundsDeps, changes: RefundChanges, approval: Approval) {
  const { database, clock, currencies, payments, merchants, checkAddress } = deps;
  const store = createRefundStore(deps.personalData);

  /** The same answer for all that leads nowhere, so that a token tells nothing of a refund that has ended. */
  function ensureOpen(row: RefundTable | undefined): RefundTable {
    const isOver = row?.status === 'awaiting_address' && row.expires_at <= clock.now(scopeOf(row));
    if (row && row.status !== 'cancelled' && row.status !== 'expired' && !isOver) return row;
    throw new Problem('not_found', 'This link is not valid, or no longer. Ask the shop for a new one');
  }

  async function view(reader: Reader, row: RefundTable, txRef: string): Promise<RefundClaim> {
    return viewClaim(row, txRef, await merchants.settings(reader, row.merchant_id), currencies);
  }

  /** Whether the paying wallet has signed for an address; null if nothing was signed. */
  async function signedBy(
    transaction: Transaction,
    { row, payment }: LockedRefund,
    { address, signature }: GivenAddress,
  ): Promise<number | null> {
    const { network } = currencies.option(row.mode, row.currency, row.network);
    if (signature === undefined || network.family !== 'evm') return null;
    const coins = await payments.creditedCoins(transaction, payment);
    const senders = coins
      .filter((one) => one.currency === row.currency && one.network === row.network)
      .flatMap((one) => one.senders);
    return isSignedBy(senders, signatureText(row, currencies, address), signature) ? 1 : 0;
  }

  return {
    /** Problem: `not_found`. */
    async retrieve(token: string): Promise<RefundClaim> {
      const { reader } = database;
      const row = ensureOpen(await store.findByToken(reader, tokenDigest(token)));
      const references = await payments.references(reader, [row.payment_id]);
      return view(reader, row, references.get(row.payment_id) ?? '');
    },

    /** Problems: `not_found`, `invalid_address`, `validation_error`, `invalid_state`. */
    async setAddress(transaction: Transaction, given: GivenAddress): Promise<RefundClaim> {
      const digest = tokenDigest(given.token);
      const found = ensureOpen(await store.findByToken(transaction, digest));
      const locked = await changes.lock(transaction, found.id);
      // Another request can have ended it, or made a new link, while this one waited for the lock.
      const row = ensureOpen(locked.row.token_digest === digest ? locked.row : undefined);
      const { network } = currencies.option(row.mode, row.currency, row.network);
      const address = await checkAddress(transaction, network, given.address);
      const sameWallet = await signedBy(transaction, locked, given);
      if (address === row.address && sameWallet === row.same_wallet) {
        return view(transaction, row, locked.payment.tx_ref);
      }
      const set = await changes.apply(transaction, locked, 'address', { address, same_wallet: sameWallet });
      const approved = await approval.approveIfSmall(transaction, set);
      return view(transaction, approved.row, locked.payment.tx_ref);
    },
  };
}
