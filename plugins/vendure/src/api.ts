/** GraphQL of the plugin: the storefront's payment, and the refund of an excess for the shop's staff. */
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import {
  ActiveOrderService,
  Allow,
  Ctx,
  OrderService,
  Payment,
  Permission,
  RequestContext,
  TransactionalConnection,
  UserInputError,
  type ID,
} from '@vendure/core';
import gql from 'graphql-tag';
import { Accounts, payPage } from './accounts.service.js';
import type { CryptoPayment } from './crypto-payment.entity.js';
import { CryptoPayments } from './crypto-payments.service.js';
import { CryptoRefunds } from './crypto-refunds.service.js';

export const shopSchema = gql`
  "A payment for <crypto-checkout>. It has no secret."
  type CryptoPayment {
    "For the attribute payment-id"
    paymentId: String!
    "For the attribute api-url"
    apiUrl: String!
    "For the attribute public-key"
    publicKey: String!
    "The hosted page of the payment, for a redirect instead"
    url: String!
    amount: Money!
    currencyCode: CurrencyCode!
    orderCode: String!
    "open, settled (its money counts for the order), ended, or spare (paid, but the order was paid or cancelled before)"
    status: String!
    orderState: String!
  }
  extend type Mutation {
    "The payment of the active order: the one that it has, or that its payer has moved on to; a new one if its price has changed or its time was up"
    createCryptoPayment(methodCode: String): CryptoPayment!
    "Has the shop ask about a payment now, without waiting for its webhook. Name the one of the event: the payer may have used another coin"
    checkCryptoPayment(paymentId: String!): CryptoPayment!
  }
`;

export const adminSchema = gql`
  type CryptoRefund {
    id: String!
    amount: String!
    currency: String!
    "Send it to the customer's own address only. Empty if the crypto-checkout server sends it"
    claimUrl: String
  }
  type CryptoPaymentRequest {
    paymentId: String!
    "The hosted page: send it to the customer"
    url: String!
    amount: Money!
    currencyCode: CurrencyCode!
  }
  type CryptoOrderPayment {
    paymentId: String!
    "Its state in words"
    payment: String!
    "Its refunds in words; empty without any"
    refunds: String!
    "Its page in the console"
    console: String!
  }
  extend type Query {
    "The crypto payments of an order, newest first, as the crypto-checkout server knows them now"
    cryptoPayments(orderId: ID!): [CryptoOrderPayment!]!
  }
  extend type Mutation {
    "A payment of what is due, such as after a paid order was made dearer"
    requestCryptoPayment(orderId: ID!, methodCode: String): CryptoPaymentRequest!
    "Refunds what arrived above the price of a payment. Its link is in the order's history too"
    refundCryptoExcess(paymentId: ID!): CryptoRefund!
  }
`;

@Resolver()
export class ShopResolver {
  constructor(
    private readonly activeOrders: ActiveOrderService,
    private readonly orders: OrderService,
    private readonly accounts: Accounts,
    private readonly payments: CryptoPayments,
  ) {}

  @Mutation()
  @Allow(Permission.Owner)
  async createCryptoPayment(@Ctx() ctx: RequestContext, @Args() args: { methodCode?: string | null }) {
    const order = await this.activeOrders.getActiveOrder(ctx, undefined);
    if (!order) throw new UserInputError('There is no active order');
    return this.view(ctx, await this.payments.start(ctx, order.id, args.methodCode ?? undefined));
  }

  /** Anyone who knows the id, as its payer does, may have it checked. */
  @Mutation()
  @Allow(Permission.Public)
  async checkCryptoPayment(@Ctx() ctx: RequestContext, @Args() args: { paymentId: string }) {
    const payment = await this.payments.check(ctx, args.paymentId);
    if (!payment) throw new UserInputError('This channel has no such payment');
    return this.view(ctx, payment);
  }

  private async view(ctx: RequestContext, payment: CryptoPayment) {
    const [order, account] = await Promise.all([
      this.orders.findOne(ctx, payment.orderId),
      this.accounts.byId(payment.methodId),
    ]);
    if (!order || !account) throw new UserInputError('This channel has no such payment');
    const { checkoutId, amount, currencyCode, status } = payment;
    return {
      paymentId: checkoutId,
      amount,
      currencyCode,
      status,
      apiUrl: account.apiUrl,
      publicKey: account.publicKey,
      url: payPage(account, checkoutId),
      orderCode: order.code,
      orderState: order.state,
    };
  }
}

@Resolver()
export class AdminResolver {
  constructor(
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly accounts: Accounts,
    private readonly payments: CryptoPayments,
    private readonly refunds: CryptoRefunds,
  ) {}

  @Query()
  @Allow(Permission.ReadOrder)
  async cryptoPayments(@Ctx() ctx: RequestContext, @Args() args: { orderId: ID }) {
    // Null for an order of another channel.
    const order = await this.orders.findOne(ctx, args.orderId);
    return order ? this.payments.describe(order.id) : [];
  }

  @Mutation()
  @Allow(Permission.UpdateOrder)
  async requestCryptoPayment(
    @Ctx() ctx: RequestContext,
    @Args() args: { orderId: ID; methodCode?: string | null },
  ) {
    const payment = await this.payments.start(ctx, args.orderId, args.methodCode ?? undefined);
    const account = await this.accounts.byId(payment.methodId);
    if (!account) throw new UserInputError('This channel has no such payment method');
    const { checkoutId, amount, currencyCode } = payment;
    return { paymentId: checkoutId, url: payPage(account, checkoutId), amount, currencyCode };
  }

  @Mutation()
  @Allow(Permission.UpdateOrder)
  async refundCryptoExcess(@Ctx() ctx: RequestContext, @Args() args: { paymentId: ID }) {
    const payment = await this.connection
      .getRepository(ctx, Payment)
      .findOne({ where: { id: args.paymentId }, relations: ['order'] });
    // A payment belongs to no channel. Its order does.
    const order = payment && (await this.orders.findOne(ctx, payment.order.id));
    const [known] = payment ? await this.payments.find({ checkoutId: payment.transactionId }) : [];
    const account = known && (await this.accounts.byId(known.methodId));
    if (!order || !account) throw new UserInputError('This channel has no such crypto payment');
    const { id, amount, currency, claimUrl } = await this.refunds.refundExcess(ctx, account, payment);
    return { id, amount: String(amount), currency, claimUrl };
  }
}
