/** Refunds: coins of a payment that go back to its payer, at an address that the payer gives and the merchant approves. */
import { toUnits, type Api, type Input } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { PaymentRow, TransferRow } from '../../core/db/schema.js';
import { storedActor, type AuditAction, type AuditActor } from '../../core/merchants/audit-log.js';
import { parseAmount } from '../../core/money/amounts.js';
import type { Currency } from '../../core/money/currency-list.js';
import { parseFraction, reduced, writeFraction, type Fraction } from '../../core/money/fractions.js';
import { requireRate, unitRate } from '../../core/money/rates.js';
import { exactNumber, formatUnits, replyDecimals } from '../../core/money/units.js';
import type { CreditedCoins } from '../../core/payments/refundable.js';
import { createFailures } from '../../core/shared/failures.js';
import type { Page, PageRequest } from '../../core/shared/pagination.js';
import { invalidField, invalidState, notFound, orNotFound, Problem } from '../../core/shared/problem.js';
import { retention } from '../../core/shared/retention.js';
import { isWithin, scopeOf, type Scope } from '../../core/shared/scope.js';
import { shareOf, worthToday } from './amounts.js';
import { auditFields, createApproval } from './approval.js';
import { createRefundChanges, type RefundsDeps } from './change-refund.js';
import { createClaims } from './claims.js';
import { isSuccess, refundableOf, whyNotDue } from './due.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import { transferEvents } from './states.js';
import {
  createRefundStore,
  findOverdue,
  findPaymentsOf,
  findUnfollowed,
  listOfPayment,
  sumTakenBefore,
  type RefundFilter,
} from './store.js';
import { viewRefund, type Refund } from './view.js';
import type { RefundRow } from './tables.js';
import { refundMetadata } from './tables.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<`refund.${'created' | 'approved' | 'cancelled' | 'linked'}`, true> {}
}

type Body = Input<Api['refunds']['create']>['body'];
type NewRefund = Omit<Body, 'deliver'> & { readonly paymentId: string; readonly deliver?: Body['deliver'] };

/** `claimUrl` is known only now. */
export type LinkedRefund = Refund & { readonly claimUrl?: string };

export type Refunds = ReturnType<typeof createRefunds>;

export function createRefunds(deps: RefundsDeps) {
  const { database, clock, newId, currencies, rates, balances, payments, auditLog, checkAddress } = deps;
  const store = createRefundStore(deps.personalData);
  const changes = createRefundChanges(deps);
  const approval = createApproval(deps, changes);
  const linkOf = (token: string) => `${deps.publicUrl}/refund#${token}`;
  const view = (row: RefundRow, { tx_ref: txRef }: PaymentRow) => viewRefund(row, txRef, currencies);

  async function viewAll(rows: readonly RefundRow[]): Promise<Refund[]> {
    const references = await payments.references(
      database.reader,
      rows.map((row) => row.payment_id),
    );
    const makers = await auditLog.describeActors(
      database.reader,
      rows.map((row) => row.created_by),
    );
    return rows.map((row) => ({
      ...viewRefund(row, references.get(row.payment_id) ?? '', currencies),
      createdBy: makers.get(row.created_by) ?? row.created_by,
    }));
  }

  /** The amount that a refund of a locked payment gives back, and its coins. */
  async function price(transaction: Reader, payment: PaymentRow, request: NewRefund) {
    const { kind, refundFee, by, networkFee } = request;
    const coins = chooseCoins(payment, await payments.creditedCoins(transaction, payment), request);
    const { network } = currencies.option(payment.mode, coins.currency, coins.network);
    const currency = currencies.known(coins.currency);
    const of = { payment_id: payment.id, currency: currency.code, network: network.code };
    const facts = refundableOf(payment, coins, await listOfPayment(transaction, of));
    // The shop never earned a fee on an excess.
    const withFee = refundFee || kind === 'excess';
    const wanted = kind === 'partial' ? partialAmount(request, currency) : undefined;
    const share = shareOf(kind, facts, withFee, wanted);
    if (!share) {
      const all = shareOf(kind === 'partial' ? 'full' : kind, facts, withFee);
      const most = all ? all.used - (withFee ? 0n : all.fee) : 0n;
      throw invalidState(
        `Of this payment, ${formatUnits(most, currency)} ${currency.code} can be refunded as "${kind}"`,
      );
    }
    const rate = rateOf(currency, payment.base_currency);
    const coinsBack = share.used - (withFee ? 0n : share.fee);
    const counted = by === 'today' ? worthToday(coinsBack, rateThen(payment, coins), rate) : coinsBack;
    const fee = toUnits(network.assets[currency.code]?.withdrawalFee ?? '0', currency.decimals);
    const amount = roundDown(counted - (networkFee === 'payer' ? fee : 0n), currency);
    if (amount <= 0n) throw invalidState('Nothing would be left of this refund for the payer');
    return { currency, network, amount, fee, rate, share, withFee };
  }

  /** The worth of one unit now, in units of the base currency. Problem: `rate_unavailable`. */
  function rateOf(currency: Currency, baseCode: string): Fraction {
    const base = currencies.known(baseCode);
    const now = clock.real();
    return unitRate(
      { rate: requireRate(rates, currency.code, now), decimals: currency.decimals },
      { rate: requireRate(rates, base.code, now), decimals: base.decimals },
    );
  }

  /** Follows the transfer that pays a refund. A network fee that the payer bears was deducted, and did not arrive. */
  async function follow(transaction: Transaction, transfer: TransferRow): Promise<void> {
    if (transfer.refund_id === null) return;
    const locked = await changes.lock(transaction, transfer.refund_id);
    const event = transferEvents[transfer.status];
    const { tx_hash } = transfer;
    const [amount, fee] = [transfer.amount, transfer.fee];
    const rate = parseFraction(locked.row.rate) ?? { numerator: 0n, denominator: 1n };
    const base_amount = nearest(amount, rate);
    await changes.apply(transaction, locked, event, { tx_hash, amount, fee, base_amount });
  }

  async function audit(transaction: Transaction, row: RefundRow, action: AuditAction, actor: AuditActor) {
    await auditLog.record(transaction, {
      ...scopeOf(row),
      actor,
      action,
      subjectId: row.id,
      after: auditFields(row),
    });
  }

  /** To modules that can bring the link to its payer. */
  const announceLink = (transaction: Transaction, row: RefundRow, token: string): Promise<boolean> =>
    deps.hooks.onRefundLink(transaction, {
      ...scopeOf(row),
      paymentId: row.payment_id,
      amount: exactNumber(row.amount, currencies.known(row.currency).decimals),
      currency: row.currency,
      url: linkOf(token),
      expiresAt: row.expires_at,
    });

  return {
    claims: createClaims(deps, changes, approval),

    /**
     * Problems: `not_found`, `validation_error`, `unsupported_currency`, `invalid_address`, `invalid_state`,
     * `insufficient_balance`, `balance_suspended`, `rate_unavailable`.
     * @param maker its maker, without an e-mail address: it is kept with the refund
     */
    async create(
      transaction: Transaction,
      scope: Scope,
      request: NewRefund,
      actor: AuditActor,
      maker = storedActor(actor),
    ): Promise<LinkedRefund> {
      const payment = await payments.lock(transaction, request.paymentId);
      if (!isWithin(payment, scope)) throw notFound('payment');
      const { currency, network, amount, fee, rate, share, withFee } = await price(
        transaction,
        payment,
        request,
      );
      const address =
        request.address === undefined ? null : await checkAddress(transaction, network, request.address);
      // The part of the service fee that is returned pays its share of an excess.
      const returned = request.kind === 'excess' ? share.fee : 0n;
      await balances.ensureSpendableOn(transaction, scope, currency, network, amount + fee - returned);
      const now = clock.now(scope);
      const token = newToken();
      const row: RefundRow = {
        id: newId(),
        merchant_id: scope.merchantId,
        mode: scope.mode,
        payment_id: payment.id,
        status: address === null ? 'awaiting_address' : 'awaiting_approval',
        kind: request.kind,
        reason: request.reason ?? '',
        currency: currency.code,
        network: network.code,
        amount,
        fee,
        network_fee: request.networkFee,
        used: share.used,
        service_fee: share.fee,
        fee_returns: 0,
        refund_fee: withFee,
        of_success: isSuccess(payment),
        valued_by: request.by,
        base_currency: payment.base_currency,
        base_amount: nearest(amount, rate),
        rate: writeFraction(rate),
        rate_at: now,
        address,
        same_wallet: null,
        token_digest: tokenDigest(token),
        browser_digest: null,
        created_by: maker,
        transfer_id: null,
        tx_hash: null,
        cancel_reason: null,
        metadata: request.metadata ? refundMetadata.write(request.metadata) : null,
        expires_at: now + retention.refundLinkMs,
        created_at: now,
        updated_at: now,
      };
      const started = await changes.start(transaction, { row, payment });
      await audit(transaction, started.row, 'refund.created', actor);
      const isBrought = address === null && (await announceLink(transaction, started.row, token));
      if (request.deliver !== 'email') return { ...view(started.row, payment), claimUrl: linkOf(token) };
      if (isBrought) return view(started.row, payment);
      throw invalidState(
        address === null
          ? 'No message can be sent to this payer: the payment needs the address of its customer, and the shop must send messages of the kind refundLink'
          : 'A refund with an address has no link to send',
      );
    },

    /** The amounts that refunds would give back now, by kind and coin. Problems: `not_found`, `rate_unavailable`. */
    async quote(scope: Scope, paymentId: string) {
      const { reader } = database;
      const payment = await payments.find(reader, paymentId);
      if (!isWithin(payment, scope)) throw notFound('payment');
      const quotes = [];
      for (const { currency: code, network, counts } of await payments.creditedCoins(reader, payment)) {
        const kinds =
          isSuccess(payment) && counts ? (['excess', 'full'] as const) : (['unaccepted'] as const);
        for (const kind of kinds) {
          const request = { paymentId, kind, currency: code, network, ...byDefault };
          const priced = await possible(price(reader, payment, request));
          if (!priced) continue;
          const { currency, amount, fee, share, withFee } = priced;
          const numberOf = (units: bigint) => exactNumber(units, currency.decimals);
          quotes.push({
            kind,
            currency: code,
            network,
            amount: numberOf(amount),
            fee: numberOf(fee),
            feeKept: withFee ? 0 : numberOf(share.fee),
          });
        }
      }
      return quotes;
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Refund> {
      const [refund] = await viewAll([
        orNotFound(await store.findRefund(database.reader, scope, id), 'refund'),
      ]);
      return orNotFound(refund, 'refund');
    },

    async list(scope: Scope, filter: PageRequest & RefundFilter): Promise<Page<Refund>> {
      const { rows, total } = await store.listRefunds(database.reader, scope, filter);
      return { rows: await viewAll(rows), total };
    },

    /** For operators: refunds of all merchants, oldest first, at most 1000. */
    listAll: async (
      filter: Parameters<ReturnType<typeof createRefundStore>['listAllRefunds']>[1],
    ): Promise<Refund[]> => viewAll(await store.listAllRefunds(database.reader, filter)),

    /** For operators: whose it is. Problem: `not_found`. */
    owner: async (id: string): Promise<Scope> =>
      scopeOf(orNotFound(await store.findAnyRefund(database.reader, id), 'refund')),

    /**
     * Repeating it changes nothing. Problems: `not_found`, `invalid_state`, `invalid_address`, `balance_suspended`,
     * `validation_error` for the daily limit.
     * @param seen the address that the approver has seen
     */
    async approve(transaction: Transaction, scope: Scope, id: string, actor: AuditActor, seen?: string) {
      const locked = await changes.lock(transaction, id, scope);
      const { row, payment } = await approval.approve(transaction, locked, seen);
      if (row.status !== locked.row.status) await audit(transaction, row, 'refund.approved', actor);
      return view(row, payment);
    },

    /** Repeating it changes nothing. Problems: `not_found`, `invalid_state`. */
    async cancel(transaction: Transaction, scope: Scope, id: string, actor: AuditActor): Promise<Refund> {
      const locked = await changes.lock(transaction, id, scope);
      if (locked.row.status === 'cancelled') return view(locked.row, locked.payment);
      const { row, payment } = await changes.apply(transaction, locked, 'cancel');
      await audit(transaction, row, 'refund.cancelled', actor);
      return view(row, payment);
    },

    /** Problems: `not_found`, `invalid_state`. */
    async link(transaction: Transaction, scope: Scope, id: string, actor: AuditActor): Promise<LinkedRefund> {
      const { row, payment } = await changes.lock(transaction, id, scope);
      const now = clock.now(scope);
      const isOver = row.status === 'awaiting_address' && row.expires_at <= now;
      if (row.status === 'cancelled' || row.status === 'expired' || isOver) {
        throw invalidState(
          `A refund that is ${isOver ? 'expired' : row.status} gets no link. Create another one`,
        );
      }
      const token = newToken();
      const linked = {
        ...row,
        token_digest: tokenDigest(token),
        browser_digest: null,
        expires_at: now + retention.refundLinkMs,
        updated_at: now,
      };
      await store.updateRefund(transaction, linked);
      await audit(transaction, row, 'refund.linked', actor);
      await announceLink(transaction, linked, token);
      return { ...view(linked, payment), claimUrl: linkOf(token) };
    },

    /** For payments: the counted coins that were returned, or are about to be, before they were a success. */
    takenBefore: (reader: Reader, payment: PaymentRow) => sumTakenBefore(reader, payment),

    /**
     * A payment has become a success: refunds from before that still wait for an address yield to it. Call it with
     * the payment locked.
     */
    async yieldTo(transaction: Transaction, payment: PaymentRow): Promise<void> {
      const { id: payment_id, currency, network } = payment;
      if (!isSuccess(payment) || currency === null || network === null) return;
      for (const { id, status, of_success } of await listOfPayment(transaction, {
        payment_id,
        currency,
        network,
      })) {
        if (status !== 'awaiting_address' || of_success) continue;
        const locked = await changes.lock(transaction, id);
        await changes.apply(transaction, locked, 'cancel', { cancel_reason: 'payment_completed' });
      }
    },

    /** For the rooms that pay: why the transfer of a refund must not be paid now; undefined for all others. */
    async whyNotDue(reader: Reader, { refund_id: id }: Pick<TransferRow, 'refund_id'>) {
      const row = id === null ? undefined : await store.findAnyRefund(reader, id);
      if (!row) return undefined;
      return whyNotDue(reader, payments, await payments.find(reader, row.payment_id), row);
    },

    /** Locks the payments whose refunds these transfers pay. */
    async lockPaidBack(transaction: Transaction, transfers: readonly TransferRow[]): Promise<void> {
      const ids = transfers.flatMap(({ refund_id: id }) => id ?? []);
      await payments.lockAll(transaction, await findPaymentsOf(transaction, ids));
    },

    follow,

    /** Follows the transfers that ended while the server ran without refunds. */
    async followMissed(): Promise<void> {
      for (const { refund_id: id } of await findUnfollowed(database.reader)) {
        if (id === null) continue;
        await database.write(async (transaction) => {
          await changes.lock(transaction, id);
          // Another server may have followed it meanwhile.
          const [transfer] = await findUnfollowed(transaction, id);
          if (transfer) await follow(transaction, transfer);
        });
      }
    },

    /** Ends the refunds for which nobody gave an address in time. One that fails does not stop the others. */
    async expireOverdue(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      for (const id of await findOverdue(database.reader, clock.real())) {
        if (signal.aborted) return;
        await failures.collect(() =>
          database.write(async (transaction) => {
            const locked = await changes.lock(transaction, id);
            const { row } = locked;
            const isOver = row.expires_at <= clock.now(scopeOf(row));
            if (row.status === 'awaiting_address' && isOver)
              await changes.apply(transaction, locked, 'expire');
          }),
        );
      }
      failures.report('refunds could not be expired');
    },
  };
}

const byDefault = { by: 'coins', refundFee: false, networkFee: 'merchant', deliver: 'link' } as const;

/** Undefined if there is nothing to give back in this way. */
const possible = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'invalid_state') return undefined;
    throw error;
  });

/** The coins that a request means. Problems: `validation_error`, `invalid_state`. */
function chooseCoins(
  payment: PaymentRow,
  credited: readonly CreditedCoins[],
  { kind, currency, network }: NewRefund,
): CreditedCoins {
  const isAccepted = isSuccess(payment);
  const isMeant = (coins: CreditedCoins) =>
    (currency === undefined || coins.currency === currency.toUpperCase()) &&
    (network === undefined || coins.network === network.toLowerCase()) &&
    (kind !== 'unaccepted' || !isAccepted || !coins.counts) &&
    (kind !== 'excess' || (isAccepted && coins.counts));
  const meant = credited.filter(isMeant);
  const asked = currency === undefined && network === undefined && kind !== 'unaccepted';
  const found = (asked ? meant.find(({ counts }) => counts) : undefined) ?? meant[0];
  if (!found) {
    throw invalidState(`Nothing was credited of this payment that could be refunded as "${kind}"`);
  }
  if (meant.length > 1 && !(asked && found.counts)) {
    const names = meant.map((coins) => `${coins.currency} on ${coins.network}`).join(', ');
    throw invalidField('currency', `Name the coins, with currency and network: ${names} were credited`);
  }
  return found;
}

/** The worth of one unit when it came: by the price of the order if it was accepted, otherwise by the rate then. */
function rateThen(payment: PaymentRow, coins: CreditedCoins): Fraction {
  if (coins.counts && isSuccess(payment) && payment.amount !== null) {
    return reduced(payment.base_amount, payment.amount);
  }
  if (!coins.worth) throw invalidState('No rate is known of when these coins came: refund them by "coins"');
  return reduced(coins.worth.numerator, coins.worth.denominator * coins.amount);
}

function partialAmount({ amount }: NewRefund, currency: Currency): bigint {
  if (amount === undefined) throw invalidField('amount', 'Is required for a partial refund');
  return parseAmount(amount, currency, 'amount', replyDecimals(currency));
}

/** Rounds to an amount that a reply can show, so that the payer reads the amount that arrives. */
function roundDown(units: bigint, currency: Currency): bigint {
  return units <= 0n ? 0n : toUnits(formatUnits(units, currency), currency.decimals);
}

function nearest(units: bigint, { numerator, denominator }: Fraction): bigint {
  return (2n * units * numerator + denominator) / (2n * denominator);
}
