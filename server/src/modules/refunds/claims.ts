/** Claims: what the holder of a link sees of a refund, and may say of it: where to. */
import type { RefundClaim } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { invalidState, Problem } from '../../core/shared/problem.js';
import { scopeOf } from '../../core/shared/scope.js';
import type { Approval } from './approval.js';
import { ensureDue, isSuccess } from './due.js';
import type { LockedRefund, RefundChanges, RefundsDeps } from './change-refund.js';
import { createRefundStore } from './store.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import { signatureText, viewClaim } from './view.js';
import { createWalletProofs, type WalletProof } from './wallet-proof.js';
import type { RefundRow } from './tables.js';

export interface GivenAddress {
  readonly token: string;
  readonly address: string;
  readonly signature?: string | undefined;
  /** Sets nothing. */
  readonly checkOnly?: boolean | undefined;
}

/** The browser that holds a link. One that has given the address keeps a secret, by which it may change the address. */
export interface ClaimBrowser {
  find(refundId: string): string | undefined;
  keep(refundId: string, secret: string, forMs: number): void;
}

export function createClaims(deps: RefundsDeps, changes: RefundChanges, approval: Approval) {
  const { database, clock, currencies, payments, merchants, checkAddress } = deps;
  const proofs = createWalletProofs(deps);
  const store = createRefundStore(deps.personalData);

  /** The same answer for every dead link, so that a token reveals nothing about a refund that has ended. */
  function ensureOpen(row: RefundRow | undefined): RefundRow {
    const isOver = row?.status === 'awaiting_address' && row.expires_at <= clock.now(scopeOf(row));
    const isCompleted =
      row?.cancel_reason === 'payment_completed' && row.expires_at > clock.now(scopeOf(row));
    if (row && (isCompleted || (row.status !== 'cancelled' && row.status !== 'expired' && !isOver)))
      return row;
    throw new Problem('not_found', 'This link is not valid, or has expired. Ask the shop for a new one');
  }

  async function view(reader: Reader, row: RefundRow, txRef: string, mayGive: boolean): Promise<RefundClaim> {
    const merchant = await merchants.settings(reader, row.merchant_id);
    return viewClaim(row, txRef, { merchant, currencies, mayGive, publicUrl: deps.publicUrl });
  }

  const textOf = async (reader: Reader, row: RefundRow, address: string) => {
    const { business_name: shop } = await merchants.settings(reader, row.merchant_id);
    return signatureText(row, { shop, currencies, publicUrl: deps.publicUrl }, address);
  };

  return {
    /** Problem: `not_found`. */
    async retrieve(token: string, browser: Pick<ClaimBrowser, 'find'>): Promise<RefundClaim> {
      const { reader } = database;
      const row = ensureOpen(await store.findByToken(reader, tokenDigest(token)));
      const references = await payments.references(reader, [row.payment_id]);
      return view(reader, row, references.get(row.payment_id) ?? '', mayGive(row, browser));
    },

    /**
     * Checks what was signed, as far as the chain must be asked for it: before `setAddress`, because that asks nobody while it
     * holds locks. Undefined if nothing was signed. Problems: `not_found`, `validation_error`, `service_unavailable`.
     */
    async prove(
      { token, address, signature }: GivenAddress,
      signal: AbortSignal,
    ): Promise<WalletProof | undefined> {
      const { reader } = database;
      const row = ensureOpen(await store.findByToken(reader, tokenDigest(token)));
      if (signature === undefined) return undefined;
      return proofs.prove(row, await textOf(reader, row, address), signature, signal);
    },

    /**
     * Sets where a refund goes to. A link does so once: to change the address takes the browser that gave it, or a new link.
     * Problems: `not_found`, `invalid_address`, `invalid_state`.
     */
    async setAddress(
      transaction: Transaction,
      given: GivenAddress,
      proof: WalletProof | undefined,
      browser: ClaimBrowser,
    ): Promise<RefundClaim> {
      const digest = tokenDigest(given.token);
      const found = ensureOpen(await store.findByToken(transaction, digest));
      const locked = await changes.lock(transaction, found.id);
      // Another request can have ended it, or made a new link, while this one waited for the lock.
      const row = ensureOpen(locked.row.token_digest === digest ? locked.row : undefined);
      const { network } = currencies.option(row.mode, row.currency, row.network);
      const address = await checkAddress(transaction, network, given.address);
      if (given.checkOnly) return view(transaction, row, locked.payment.tx_ref, mayGive(row, browser));
      const sameWallet = await isProven(transaction, locked, given, proof);
      const isGiven = row.browser_digest !== null && address === row.address;
      if (isGiven && sameWallet === row.same_wallet) {
        return view(transaction, row, locked.payment.tx_ref, mayGive(row, browser));
      }
      if (!mayGive(row, browser)) throw givenAlready();
      if (row.status === 'awaiting_address') await ensureDue(transaction, payments, locked);
      const secret = newToken();
      const set = await changes.apply(transaction, locked, 'address', {
        address,
        same_wallet: sameWallet,
        browser_digest: tokenDigest(secret),
        ...(row.status === 'awaiting_address' && { of_success: isSuccess(locked.payment) }),
      });
      browser.keep(row.id, secret, row.expires_at - clock.now(scopeOf(row)));
      const approved = await approval.approveIfSmall(transaction, set);
      return view(transaction, approved.row, locked.payment.tx_ref, true);
    },
  };

  /** True if the paying wallet has signed for an address; null if nothing was signed. */
  async function isProven(
    transaction: Transaction,
    locked: LockedRefund,
    { address }: GivenAddress,
    proof: WalletProof | undefined,
  ): Promise<boolean | null> {
    if (!proof) return null;
    const isOfThis = proof.text === (await textOf(transaction, locked.row, address));
    return isOfThis && (await proofs.holds(transaction, locked, proof));
  }
}

/** True if the holder of the link may set the destination: no one did by this link, or this browser did. */
function mayGive(row: RefundRow, browser: Pick<ClaimBrowser, 'find'>): boolean {
  if (row.browser_digest === null) return true;
  const secret = browser.find(row.id);
  return secret !== undefined && tokenDigest(secret) === row.browser_digest;
}

function givenAlready(): Problem {
  return invalidState(
    'An address was given by this link. To change it, use the browser in which it was given, or ask the shop for a new link',
  );
}
