/** Payments of orders: makes them, asks the server about them, and settles an order once its money is there. */
import { Injectable } from '@nestjs/common';
import {
  ConfigService,
  isGraphQlErrorResult,
  Logger,
  OrderService,
  TransactionalConnection,
  UserInputError,
  type ID,
  type Order,
  type OrderState,
  type Payment,
  type RequestContext,
  type SettlePaymentErrorResult,
  type SettlePaymentResult,
} from '@vendure/core';
import { ApiError, CheckoutError, verifyPayment, type Verification } from 'crypto-checkout/client';
import { fromUnits } from 'crypto-checkout/contract';
import { In, MoreThan, Not, type FindOptionsWhere } from 'typeorm';
import { Accounts, consoleUrl, type Account } from './accounts.service.js';
import { CryptoPayment } from './crypto-payment.entity.js';
import { notesOf, testMark, type Transaction } from './notes.js';
import { OrderNotes } from './order-notes.service.js';
import { amountDue, deliveryState, notReadyReason } from './order-rules.js';
import { VerifiedPayment } from './verified-payment.js';
import { paymentWords, refundWords } from './words.js';

export const loggerContext = 'CryptoCheckout';

/** Payments that ended are asked about for this long, for money that comes too late. */
const lateMs = 3 * 24 * 60 * 60 * 1000;
/** Payments of each kind that are asked about in one run of the scheduled task. */
const atOnce = 200;
/** Payments of an order that its page shows. */
const describedAtOnce = 10;
/** An order has few references, unless the shop's database was restored from an old copy. */
const maxTries = 20;
const unknownPerMinute = 120;
/** As the checkout server makes ids. */
const idPattern = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** A payment of an order in words, for its page in the dashboard. */
export interface Described {
  readonly paymentId: string;
  readonly payment: string;
  readonly refunds: string;
  readonly console: string;
}

/** The order does not take the money. `isFinal`: it never will. */
class NotPlaced extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message);
  }
}

@Injectable()
export class CryptoPayments {
  /** Transactions of this process run in turn: SQLite would nest those that overlap. */
  private turn: Promise<unknown> = Promise.resolve();
  /** The ids that storefronts have asked about in this minute, and this shop does not know. */
  private unknown = { minute: 0, count: 0 };

  constructor(
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly config: ConfigService,
    private readonly accounts: Accounts,
    private readonly notes: OrderNotes,
  ) {}

  /**
   * The payment to show for an order: the one that it has, while its price is right, or a new one. The order stays as it is
   * until the money is there.
   * @throws UserInputError with words for the storefront's developer
   */
  async start(ctx: RequestContext, orderId: ID, methodCode: string | undefined): Promise<CryptoPayment> {
    const account = await this.chooseAccount(ctx, methodCode);
    let paid: CryptoPayment | undefined;
    for (let tries = 0; tries < maxTries; tries += 1) {
      const [open] = await this.find({ orderId, methodId: account.methodId, status: 'open' });
      if (open) {
        const transaction = await this.ask(account, open.checkoutId);
        const reviewed = await this.review(account, open, transaction);
        if (reviewed.status === 'settled') paid = reviewed;
        if (reviewed.status !== 'open') continue;
        const order = await this.orderOf(ctx, orderId);
        const isSamePrice = open.amount === amountDue(order) && open.currencyCode === order.currencyCode;
        // Money that is on its way counts. The difference is asked for afterwards.
        if (isSamePrice || (transaction.amountSeen ?? 0) > 0) return reviewed;
        await this.cancel(account, open);
        continue;
      }
      const order = await this.orderOf(ctx, orderId);
      const reason = notReadyReason(order);
      // Its checkout says that it is paid.
      if (reason && paid) return paid;
      if (reason) throw new UserInputError(reason);
      // The payer may have moved on to another coin: a new payment would ask for the same money again.
      if (await this.adoptOfOrder(account, order)) continue;
      const made = await this.create(ctx, account, order, tries);
      if (made) return made;
    }
    throw new UserInputError('The order is changing: try again');
  }

  /**
   * Asks about a payment that a webhook or a storefront names, and does what its state needs.
   * @param channelId the only channel whose payments count; any if it is left out
   */
  async reviewById(account: Account, checkoutId: string, channelId?: ID): Promise<CryptoPayment | undefined> {
    const [known] = await this.find({ checkoutId });
    if (known && String(known.methodId) !== String(account.methodId)) {
      Logger.warn(`Payment ${checkoutId} is not of the method ${account.methodCode}`, loggerContext);
      return undefined;
    }
    if (known && !isOfChannel(known, channelId)) return undefined;
    const transaction = await this.ask(account, checkoutId);
    const payment = known ?? (await this.adopt(account, transaction, { channelId }));
    return payment && this.review(account, payment, transaction);
  }

  /** For a storefront, which may know of a further attempt before its webhook comes. Undefined if the channel has no such payment. */
  async check(ctx: RequestContext, checkoutId: string): Promise<CryptoPayment | undefined> {
    const [known] = await this.find({ checkoutId });
    const ofMethod = known && (await this.accounts.byId(known.methodId));
    if (known) return ofMethod && this.reviewById(ofMethod, checkoutId, ctx.channelId);
    if (!idPattern.test(checkoutId) || !this.mayAskAboutUnknown()) return undefined;
    for (const account of await this.accounts.ofChannel(ctx)) {
      try {
        const payment = await this.reviewById(account, checkoutId, ctx.channelId);
        if (payment) return payment;
      } catch (error) {
        // It belongs to another account, or the keys of this one are wrong.
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        Logger.verbose(`${account.methodCode}: ${wordsOf(error)}`, loggerContext);
      }
    }
    return undefined;
  }

  /** Anybody can name ids, and each unknown one costs a request with the secret key, which has a hundred a second. */
  private mayAskAboutUnknown(): boolean {
    const minute = Math.floor(Date.now() / 60_000);
    if (this.unknown.minute !== minute) this.unknown = { minute, count: 0 };
    this.unknown.count += 1;
    return this.unknown.count <= unknownPerMinute;
  }

  /** The scheduled task: asks about payments whose webhook may be lost. Resolves with their number. */
  async reviewAll(): Promise<number> {
    const oldestFirst = { order: { askedAt: 'ASC' }, take: atOnce } as const;
    const recent = MoreThan(new Date(Date.now() - lateMs));
    const repository = this.connection.rawConnection.getRepository(CryptoPayment);
    const payments = [
      ...(await repository.find({ where: { status: 'open' }, ...oldestFirst })),
      ...(await repository.find({ where: { status: 'ended', createdAt: recent }, ...oldestFirst })),
    ];
    for (const payment of payments) {
      try {
        const account = await this.accounts.byId(payment.methodId);
        if (!account) continue;
        const reviewed = await this.review(account, payment, await this.ask(account, payment.checkoutId));
        if (reviewed.status === 'ended') await this.adoptNext(account, reviewed);
      } catch (error) {
        // The next run tries again, and the others must not wait for it.
        Logger.error(`Payment ${payment.checkoutId} was not reviewed: ${wordsOf(error)}`, loggerContext);
        await repository.update({ id: payment.id }, { askedAt: new Date() });
      }
    }
    return payments.length;
  }

  /** Asks the server now if a payment of Vendure's is paid. */
  async confirm(account: Account, payment: Payment): Promise<SettlePaymentResult | SettlePaymentErrorResult> {
    const [known] = await this.find({ checkoutId: payment.transactionId, methodId: account.methodId });
    if (!known) return { success: false, errorMessage: 'It is not a payment of this method' };
    const { verified, failed } = this.verify(account, known, await this.ask(account, known.checkoutId));
    if (verified) return { success: true };
    return { success: false, errorMessage: failed.map(({ message }) => message).join(' ') };
  }

  /** Newest first. */
  find(where: FindOptionsWhere<CryptoPayment>): Promise<CryptoPayment[]> {
    return this.connection.rawConnection.getRepository(CryptoPayment).find({ where, order: { id: 'DESC' } });
  }

  /** The payments of an order in words, newest first, each asked for now. */
  async describe(orderId: ID): Promise<Described[]> {
    const payments = await this.find({ orderId });
    return Promise.all(payments.slice(0, describedAtOnce).map((payment) => this.describeOne(payment)));
  }

  async ask(account: Account, checkoutId: string): Promise<Transaction> {
    const reply = await account.client.transactions.verify({ params: { transaction_id: checkoutId } });
    return reply.data;
  }

  private async describeOne(payment: CryptoPayment): Promise<Described> {
    const account = await this.accounts.byId(payment.methodId);
    const paymentId = payment.checkoutId;
    if (!account) {
      return { paymentId, payment: 'Its payment method was deleted.', refunds: '', console: '' };
    }
    const page = consoleUrl(account, paymentId);
    try {
      const transaction = await this.ask(account, paymentId);
      const verification = this.verify(account, payment, transaction);
      // Its money is no part of the order.
      const paidAgain = payment.status === 'spare' ? [transaction] : [];
      return {
        paymentId,
        payment: `${testMark(transaction)}${paymentWords({ transaction, verification, paidAgain })}`,
        refunds: refundWords(transaction),
        console: page,
      };
    } catch (error) {
      Logger.error(`Payment ${paymentId} was not described: ${wordsOf(error)}`, loggerContext);
      return {
        paymentId,
        payment: 'The crypto-checkout server did not answer.',
        refunds: '',
        console: page,
      };
    }
  }

  private async chooseAccount(ctx: RequestContext, code: string | undefined): Promise<Account> {
    const accounts = await this.accounts.ofChannel(ctx);
    const fitting = accounts.filter(({ methodCode }) => code === undefined || methodCode === code);
    const [account] = fitting;
    if (!account) throw new UserInputError('This channel has no such crypto-checkout payment method');
    if (fitting.length > 1) throw new UserInputError('Name one of the payment methods: methodCode');
    return account;
  }

  private async orderOf(ctx: RequestContext, orderId: ID): Promise<Order> {
    const order = await this.orders.findOne(ctx, orderId);
    if (!order) throw new UserInputError('The order does not exist in this channel');
    order.payments = await this.orders.getOrderPayments(ctx, orderId);
    return order;
  }

  /** Undefined if the reference is taken: by another tab that was quicker, or by a payment with another price. */
  private async create(
    ctx: RequestContext,
    account: Account,
    order: Order,
    tries: number,
  ): Promise<CryptoPayment | undefined> {
    const attempt = (await this.find({ orderId: order.id })).length + 1 + tries;
    const base = /^[A-Za-z0-9._-]{1,80}$/.test(order.code) ? order.code : `vendure-${order.id}`;
    const txRef = attempt === 1 ? base : `${base}.${attempt}`;
    const amount = amountDue(order);
    const { currencyCode, customer } = order;
    try {
      const reply = await account.client.payments.create({
        body: {
          txRef,
          amount: this.decimal(amount),
          baseCurrency: currencyCode,
          ...(customer && {
            customer: {
              email: customer.emailAddress,
              fullName: `${customer.firstName} ${customer.lastName}`.trim(),
            },
          }),
          metadata: { vendureOrder: order.code, vendureChannel: ctx.channel.code },
        },
        // Two tabs make one payment.
        idempotencyKey: `vendure-${account.methodId}-${txRef}`,
      });
      return await this.keep({
        checkoutId: reply.data.payment.id,
        txRef,
        orderId: order.id,
        channelId: ctx.channelId,
        methodId: account.methodId,
        amount,
        currencyCode,
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (['duplicate_tx_ref', 'idempotency_mismatch'].includes(error.code)) return undefined;
      Logger.error(`No payment for order ${order.code}: ${error.shortMessage}`, loggerContext);
      throw new UserInputError(wordsForShop(error));
    }
  }

  private async keep(payment: Partial<CryptoPayment>): Promise<CryptoPayment | undefined> {
    const repository = this.connection.rawConnection.getRepository(CryptoPayment);
    try {
      await repository.insert(repository.create(payment));
    } catch (error) {
      // Another request may have stored it already.
      if ((await this.find({ checkoutId: payment.checkoutId ?? '' })).length === 0) throw error;
    }
    return (await this.find({ checkoutId: payment.checkoutId ?? '' }))[0];
  }

  private async cancel(account: Account, payment: CryptoPayment): Promise<void> {
    try {
      await account.client.payments.cancel({ params: { payment_id: payment.checkoutId } });
    } catch (error) {
      // It has ended meanwhile, which the next review finds.
      if (!(error instanceof ApiError && error.code === 'invalid_state')) throw error;
    }
    await this.review(account, payment, await this.ask(account, payment.checkoutId));
  }

  /** Adopts what the payer of an order has moved on to. False if there is nothing to pay or to review. */
  private async adoptOfOrder(account: Account, order: Order): Promise<boolean> {
    const before = await this.find({ orderId: order.id, methodId: account.methodId });
    // Another tab, or a webhook, was quicker.
    if (before.some(({ status }) => status === 'open')) return true;
    const attempts: Transaction[] = [];
    for (const payment of before) {
      if (payment.status === 'ended') attempts.push(...(await this.attemptsAfter(account, payment)));
    }
    const known = new Set(before.map(({ checkoutId }) => checkoutId));
    const fresh = attempts.filter(({ id }) => !known.has(id));
    const adopted = [];
    for (const transaction of fresh) {
      const payment = await this.adopt(account, transaction);
      if (payment && isOfOrder(payment, order)) adopted.push(payment);
    }
    if (adopted.length > 0) return true;
    // Nothing has come yet. The newest is the one that the payer sees.
    const due = amountDue(order);
    for (const transaction of fresh.toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))) {
      const payment = await this.adopt(account, transaction, { due });
      if (payment && isOfOrder(payment, order)) return true;
    }
    return false;
  }

  /** Adopts and reviews the attempts after a payment that has ended, whose webhooks may be lost. */
  private async adoptNext(account: Account, ended: CryptoPayment): Promise<void> {
    for (const transaction of await this.attemptsAfter(account, ended)) {
      const [known] = await this.find({ checkoutId: transaction.id });
      const payment = known ? undefined : await this.adopt(account, transaction);
      if (payment) await this.review(account, payment, transaction);
    }
  }

  /** Every payment with the reference of another one and a counter. Anybody with the public key can make them. */
  private async attemptsAfter(account: Account, { txRef }: CryptoPayment): Promise<Transaction[]> {
    const found = new Map<string, Transaction>();
    for (let count = 2; count < 2 + maxTries; count += 1) {
      const { data } = await account.client.transactions.list({ query: { txRef: `${txRef}:${count}` } });
      if (data.length === 0) break;
      for (const transaction of data) found.set(transaction.id, transaction);
    }
    // The checkout continues with a random counter if somebody else has taken two references in a row.
    if (found.size > 1) {
      const query = { search: `${txRef}:` };
      for await (const transaction of account.client.transactions.iterate({ query })) {
        // The search also looks at names, which anybody can choose.
        if (transaction.txRef?.startsWith(`${txRef}:`)) found.set(transaction.id, transaction);
      }
    }
    return [...found.values()];
  }

  /**
   * Takes a further attempt that the checkout made for a payment of the same order: after ABC, ABC:2, and after that ABC:3, or
   * ABC:2:2 in a page that was loaded again. Only once it concerns the order, since anybody can make one: there is money, or it is the
   * only one that the payer can still pay.
   * @param channelId the only channel whose orders count
   * @param due takes one without money too, if its price is still this
   */
  private async adopt(
    account: Account,
    transaction: Transaction,
    { channelId, due }: { channelId?: ID | undefined; due?: number } = {},
  ): Promise<CryptoPayment | undefined> {
    // Another request may have been quicker.
    const [known] = await this.find({ checkoutId: transaction.id, methodId: account.methodId });
    if (known) return isOfChannel(known, channelId) ? known : undefined;
    const first = await this.firstOf(account, transaction);
    if (
      !first ||
      !isOfChannel(first, channelId) ||
      !(await this.concerns(account, first, transaction, due))
    ) {
      Logger.verbose(`Payment ${transaction.id} belongs to no order of this shop`, loggerContext);
      return undefined;
    }
    const { orderId, methodId, amount, currencyCode } = first;
    return this.keep({
      checkoutId: transaction.id,
      txRef: transaction.txRef ?? '',
      orderId,
      channelId: first.channelId,
      methodId,
      amount,
      currencyCode,
    });
  }

  /** The stored payment whose reference an attempt has, with a counter. */
  private async firstOf(account: Account, transaction: Transaction): Promise<CryptoPayment | undefined> {
    const { txRef = '' } = transaction;
    const references = [txRef, txRef.replace(/:\d{1,12}$/, '')];
    const where = { txRef: In(references), checkoutId: Not(transaction.id), methodId: account.methodId };
    const found = await this.find(where);
    // A database may compare without case, and a counter has its own rules.
    return found.find((payment) => {
      const { failed } = this.verify(account, payment, transaction);
      return failed.every(({ rule }) => rule !== 'reference' && rule !== 'mode');
    });
  }

  private async concerns(
    account: Account,
    first: CryptoPayment,
    transaction: Transaction,
    due: number | undefined,
  ): Promise<boolean> {
    if (transaction.status === 'success') return true;
    const { amountSeen = 0, amountReceived = 0, credited = [] } = transaction;
    const hasMoney = amountSeen > 0 || amountReceived > 0 || credited.some(({ amount }) => amount > 0);
    if (transaction.status !== 'in progress') return hasMoney;
    if (!hasMoney && first.amount !== due) return false;
    const { failed } = this.verify(account, first, transaction);
    if (failed.some(({ rule }) => rule === 'price')) return false;
    // Its page would send the payer to a site that nobody has named.
    if (!hasMoney && transaction.redirectUrl && !transaction.isRedirectTrusted) return false;
    return (await this.hasEnded(account, first)) && (await this.isOfPayer(first, transaction));
  }

  /** The checkout makes no further attempt before the last one has ended. */
  private async hasEnded(account: Account, payment: CryptoPayment): Promise<boolean> {
    if (payment.status !== 'open') return payment.status === 'ended';
    const transaction = await this.ask(account, payment.checkoutId);
    return (await this.review(account, payment, transaction)).status === 'ended';
  }

  /** Refunds can be sent to the email of a payment: somebody else's must not get what this payer sends. */
  private async isOfPayer(first: CryptoPayment, { customerDetails }: Transaction): Promise<boolean> {
    if (!customerDetails?.email) return true;
    const order = await this.orders.findOne(await this.notes.contextOf(first), first.orderId);
    return order?.customer?.emailAddress.toLowerCase() === customerDetails.email.toLowerCase();
  }

  private verify(account: Account, payment: CryptoPayment, transaction: Transaction): Verification {
    return verifyPayment(transaction, {
      txRef: payment.txRef,
      baseAmount: this.decimal(payment.amount),
      baseCurrency: payment.currencyCode,
      mode: account.mode,
    });
  }

  private async review(
    account: Account,
    payment: CryptoPayment,
    transaction: Transaction,
  ): Promise<CryptoPayment> {
    const verification = this.verify(account, payment, transaction);
    const ctx = await this.notes.contextOf(payment);
    const link = consoleUrl(account, payment.checkoutId);
    await this.inTurn(() => this.notes.add(ctx, payment.id, notesOf(transaction, verification, link)));
    if (verification.verified) await this.inTurn(() => this.settle(ctx, account, payment, transaction));
    const repository = this.connection.rawConnection.getRepository(CryptoPayment);
    const hasEnded = !verification.verified && transaction.status !== 'in progress';
    if (hasEnded) await repository.update({ id: payment.id, status: 'open' }, { status: 'ended' });
    await repository.update({ id: payment.id }, { askedAt: new Date() });
    return repository.findOneByOrFail({ id: payment.id });
  }

  /** Counts a verified payment for its order: once, even if several processes do it at the same time. */
  private async settle(
    ctx: RequestContext,
    account: Account,
    payment: CryptoPayment,
    transaction: Transaction,
  ): Promise<void> {
    const link = consoleUrl(account, payment.checkoutId);
    try {
      await this.connection.withTransaction(ctx, async (within) => {
        const claimed = await this.connection
          .getRepository(within, CryptoPayment)
          .update({ id: payment.id, status: Not('settled') }, { status: 'settled' });
        if (claimed.affected === 0) return;
        await this.addToOrder(within, account, payment, transaction, link);
      });
    } catch (error) {
      if (!(error instanceof NotPlaced)) throw error;
      const money = `${this.decimal(payment.amount)} ${payment.currencyCode}`;
      const text = `Crypto: ${money} is paid, and the order does not take it: ${error.message} ${
        error.isFinal ? 'Refund it.' : 'It is tried again every few minutes.'
      } ${link}`;
      await this.notes.add(ctx, payment.id, [{ key: `${payment.checkoutId}:${error.message}`, text }]);
      Logger.warn(text, loggerContext);
      if (!error.isFinal) return;
      const repository = this.connection.rawConnection.getRepository(CryptoPayment);
      await repository.update({ id: payment.id, status: Not('settled') }, { status: 'spare' });
    }
  }

  private async addToOrder(
    ctx: RequestContext,
    account: Account,
    payment: CryptoPayment,
    transaction: Transaction,
    link: string,
  ): Promise<void> {
    const order = await this.orderOf(ctx, payment.orderId);
    if (order.currencyCode !== payment.currencyCode) {
      throw new NotPlaced(`its currency is ${order.currencyCode} now.`, true);
    }
    if (order.state === 'AddingItems') {
      const moved = await this.orders.transitionToState(ctx, order.id, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) throw new NotPlaced(moved.transitionError, false);
    } else if (order.state !== 'ArrangingPayment' && order.state !== 'ArrangingAdditionalPayment') {
      throw new NotPlaced(order.state === 'Cancelled' ? 'it is cancelled.' : 'it is paid already.', true);
    }
    const { amountReceived = 0, currency = '', networkName = '' } = transaction;
    const proof = new VerifiedPayment(payment.checkoutId, payment.amount, {
      console: link,
      paid: `${amountReceived} ${currency}`,
      network: networkName,
      ...(account.mode === 'test' && { testMoney: true }),
      public: { paymentId: payment.checkoutId },
    });
    const added = await this.orders.addPaymentToOrder(ctx, order.id, {
      method: account.methodCode,
      metadata: proof,
    });
    if (isGraphQlErrorResult(added)) throw new NotPlaced(added.message, false);
    const rest = amountDue(await this.orderOf(ctx, order.id));
    if (rest <= 0 && order.state === 'ArrangingAdditionalPayment') {
      // Vendure does this itself for every other order.
      const settled = await this.orders.transitionToState(ctx, order.id, await this.paidStateOf(ctx, order));
      if (isGraphQlErrorResult(settled)) throw new NotPlaced(settled.transitionError, false);
    }
    const words = (units: number) => `${this.decimal(units)} ${payment.currencyCode}`;
    const difference =
      rest > 0
        ? `Crypto: ${words(payment.amount)} is paid. The order has changed since: ${words(rest)} are still due.`
        : `Crypto: the order is ${words(-rest)} cheaper than what was paid. Refund the difference.`;
    if (rest === 0) return;
    await this.notes.add(ctx, payment.id, [
      { key: `${payment.checkoutId}:rest`, text: `${difference} ${link}` },
    ]);
  }

  /** The state of an order whose rest is paid: it may have been shipped before it was made dearer. */
  private async paidStateOf(ctx: RequestContext, order: Order): Promise<OrderState> {
    // Vendure's own rules read the state of a line's fulfillment.
    const fulfilled = await this.orders.findOne(ctx, order.id, [
      'lines',
      'fulfillments',
      'fulfillments.lines',
      'fulfillments.lines.fulfillment',
    ]);
    const state = fulfilled && deliveryState(fulfilled);
    return state && this.orders.getNextOrderStates(order).includes(state) ? state : 'PaymentSettled';
  }

  /** An amount of Vendure's as a decimal: 2450 → "24.5". */
  private decimal(units: number): string {
    const { precision = 2 } = this.config.entityOptions.moneyStrategy;
    return fromUnits(BigInt(Math.round(units)), precision);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => {});
    return result;
  }
}

const isOfOrder = (payment: CryptoPayment, order: Order) => String(payment.orderId) === String(order.id);

/** True for any channel if none is named. */
const isOfChannel = (payment: CryptoPayment, channelId: ID | undefined) =>
  channelId === undefined || String(payment.channelId) === String(channelId);

/** One line. It has no keys: the client's errors never do. */
export function wordsOf(error: unknown): string {
  if (error instanceof CheckoutError) return error.shortMessage;
  return error instanceof Error ? error.message : String(error);
}

/** For a storefront: a wrong key is the shop's business. */
function wordsForShop(error: ApiError): string {
  if (error.code === 'unsupported_currency') return 'Crypto payments do not take the currency of this order';
  if (error.code === 'amount_below_minimum') return 'The order is too small for a crypto payment';
  return 'Crypto payments are not available now';
}
