/** Writes what happens to a payment into its order's history, each thing once. Customers do not see it. */
import { Injectable } from '@nestjs/common';
import {
  ChannelService,
  OrderService,
  RequestContextService,
  TransactionalConnection,
  type RequestContext,
} from '@vendure/core';
import { CryptoPayment } from './crypto-payment.entity.js';
import type { Note } from './notes.js';

@Injectable()
export class OrderNotes {
  constructor(
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly contexts: RequestContextService,
    private readonly channels: ChannelService,
  ) {}

  /** For work that no request asked for, such as a webhook's: the channel in which the payment was made. */
  async contextOf(payment: CryptoPayment): Promise<RequestContext> {
    const empty = await this.contexts.create({ apiType: 'admin' });
    const channel = await this.channels.findOne(empty, payment.channelId);
    if (!channel) throw new Error(`The channel of the payment ${payment.checkoutId} does not exist any more`);
    return this.contexts.create({ apiType: 'admin', channelOrToken: channel });
  }

  async add(ctx: RequestContext, paymentId: CryptoPayment['id'], notes: readonly Note[]): Promise<void> {
    if (notes.length === 0) return;
    await this.connection.withTransaction(ctx, async (within) => {
      const repository = this.connection.getRepository(within, CryptoPayment);
      const payment = await repository.findOneByOrFail({ id: paymentId });
      const fresh = notes.filter(({ key }) => !payment.noted.includes(key));
      if (fresh.length === 0) return;
      for (const { text } of fresh) {
        await this.orders.addNoteToOrder(within, { id: payment.orderId, note: text, isPublic: false });
      }
      const noted = [...payment.noted, ...fresh.map(({ key }) => key)];
      await repository.update({ id: paymentId }, { noted });
    });
  }
}
