/** Refunds: made at the server, pending in Vendure until their coins have been sent. */
import { Injectable } from '@nestjs/common';
import {
  EventBus,
  ID,
  Logger,
  OrderService,
  Refund,
  TransactionalConnection,
  UserInputError,
  type CreateRefundResult,
  type Order,
  type Payment,
  type RequestContext,
} from '@vendure/core';
import { ApiError, type MerchantClient } from 'crypto-checkout/client';
import { decimalOf, fromUnits, toUnits } from 'crypto-checkout/contract';
import { Accounts, consoleUrl, type Account } from './accounts.service.js';
import { CryptoPayments, loggerContext, wordsOf } from './crypto-payments.service.js';
import { noteOfRefund, type Transaction } from './notes.js';
import { OrderNotes } from './order-notes.service.js';
import { CryptoRefundEvent } from './refund-event.js';

type RefundBody = Parameters<MerchantClient['refunds']['create']>[0]['body'];
type CreatedRefund = Awaited<ReturnType<MerchantClient['refunds']['create']>>['data'];

interface Asked {
  readonly order: Order;
  readonly payment: Payment;
  readonly amount: number;
  readonly reason: string;
}

@Injectable()
export class CryptoRefunds {
  constructor(
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly events: EventBus,
    private readonly accounts: Accounts,
    private readonly payments: CryptoPayments,
    private readonly notes: OrderNotes,
  ) {}

  /** Vendure's refund of a part of a payment, or of all of it. */
  async create(ctx: RequestContext, account: Account, asked: Asked): Promise<CreateRefundResult> {
    const { payment, amount, reason } = asked;
    const earlier = await this.earlierRefunds(ctx, payment.id);
    const isWhole = amount === payment.amount && earlier.every(({ state }) => state === 'Failed');
    try {
      const body: RefundBody = isWhole
        ? { kind: 'full' }
        : { kind: 'partial', amount: await this.share(account, payment, amount) };
      const refund = await this.make(ctx, account, asked.order, payment.transactionId, `${earlier.length}`, {
        ...body,
        ...(reason && { reason: reason.slice(0, 255) }),
      });
      // The Shop API shows a refund's metadata, so it has no link.
      return { state: 'Pending', transactionId: refund.id, metadata: {} };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const text = `Crypto: the refund could not be made: ${wordsOf(error)}`;
      Logger.error(text, loggerContext);
      await this.orders.addNoteToOrder(ctx, { id: asked.order.id, note: text, isPublic: false });
      // The Shop API shows this metadata too.
      return { state: 'Failed', metadata: {} };
    }
  }

  /** The excess of a payment, which is not in any amount of Vendure's. Undefined if the server sends the link. */
  async refundExcess(ctx: RequestContext, account: Account, payment: Payment): Promise<CreatedRefund> {
    try {
      const body: RefundBody = { kind: 'excess', reason: 'You sent more than the price' };
      return await this.make(ctx, account, payment.order, payment.transactionId, 'excess', body);
    } catch (error) {
      if (error instanceof ApiError) throw new UserInputError(error.shortMessage);
      throw error;
    }
  }

  /** Asks about a refund, and settles Vendure's once its coins were sent. */
  async review(account: Account, refundId: string): Promise<void> {
    const { data: refund } = await account.client.refunds.retrieve({ params: { refund_id: refundId } });
    const [payment] = await this.payments.find({
      checkoutId: refund.paymentId,
      methodId: account.methodId,
    });
    if (!payment) return;
    const ctx = await this.notes.contextOf(payment);
    const link = consoleUrl(account, payment.checkoutId);
    await this.notes.add(ctx, payment.id, [noteOfRefund(refund, link)]);
    const [known] = await this.connection
      .getRepository(ctx, Refund)
      .find({ where: { transactionId: refundId, state: 'Pending' } });
    if (!known) return;
    if (refund.status === 'paid') {
      await this.orders.settleRefund(ctx, { id: known.id, transactionId: refundId });
    } else if (['failed', 'cancelled', 'expired'].includes(refund.status)) {
      await this.orders.transitionRefundToState(ctx, known.id, 'Failed');
    }
  }

  /** The scheduled task: asks about refunds whose webhook may be lost. */
  async reviewAll(): Promise<void> {
    const pending = await this.connection.rawConnection
      .getRepository(Refund)
      .find({ where: { state: 'Pending' }, relations: ['payment'] });
    for (const { transactionId, payment } of pending) {
      const [known] = await this.payments.find({ checkoutId: payment.transactionId });
      const account = known && (await this.accounts.byId(known.methodId));
      if (!account || !transactionId) continue;
      try {
        await this.review(account, transactionId);
      } catch (error) {
        Logger.error(`Refund ${transactionId} was not reviewed: ${wordsOf(error)}`, loggerContext);
      }
    }
  }

  private async make(
    ctx: RequestContext,
    account: Account,
    order: Order,
    checkoutId: string,
    step: string,
    body: RefundBody,
  ): Promise<CreatedRefund> {
    const { client } = account;
    const call = (deliver: 'email' | 'link') =>
      client.refunds.create({
        params: { payment_id: checkoutId },
        body: { ...body, deliver },
        idempotencyKey: `vendure-refund-${checkoutId}-${step}-${deliver}`,
      });
    // The server's own message is best: then nobody but the payer sees the link.
    const { data: refund } = await call('email').catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'invalid_state') return call('link');
      throw error;
    });
    const [payment] = await this.payments.find({ checkoutId });
    const page = consoleUrl(account, checkoutId);
    const how = refund.claimUrl
      ? `Send this link to the customer's own address, and to nobody else: ${refund.claimUrl}`
      : 'The payer gets the link by email.';
    if (payment) {
      const { key, text } = noteOfRefund(refund, page);
      await this.notes.add(ctx, payment.id, [{ key, text: `${text} ${how}` }]);
    }
    await this.events.publish(new CryptoRefundEvent(ctx, order, refund.id, refund.claimUrl));
    return refund;
  }

  private earlierRefunds(ctx: RequestContext, paymentId: ID): Promise<Refund[]> {
    return this.connection.getRepository(ctx, Refund).find({ where: { payment: { id: paymentId } } });
  }

  /**
   * The coins that are as much of the payment's as `amount` is of its price, rounded down. The service fee stays taken, as in
   * a refund of everything: otherwise the last part would have too few coins.
   */
  private async share(account: Account, payment: Payment, amount: number): Promise<string> {
    const transaction: Transaction = await this.payments.ask(account, payment.transactionId);
    const { data: currencies } = await account.client.currencies.list({});
    const decimals = currencies.find(({ code }) => code === transaction.currency)?.decimals ?? 0;
    const units = (value: number) => toUnits(decimalOf(value), decimals);
    const credit = transaction.credited?.find(({ currency }) => currency === transaction.currency);
    if (!credit) throw new UserInputError('Nothing of this payment was credited');
    const net = (units(transaction.amount ?? 0) * units(credit.net)) / units(credit.amount);
    return fromUnits((net * BigInt(amount)) / BigInt(payment.amount), decimals);
  }
}
