/** Brings Medusa up to date about one payment session: settles it, ends it, and notifies the merchant of open tasks. */
import { processPaymentWorkflow } from '@medusajs/medusa/core-flows';
import {
  ContainerRegistrationKeys,
  MathBN,
  Modules,
  PaymentActions,
  PaymentCollectionStatus,
} from '@medusajs/framework/utils';
import type { MedusaContainer, PaymentSessionDTO } from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';
import { parseSession, sessionIdOf } from './session.js';
import type { Answer, Transaction } from './answer.js';
import { hasEnded } from './refund.js';
import type { Shop } from './shop.js';
import { creditedWords, paymentWords, refundWords } from './words.js';

/**
 * Asks the API about a session, and acts on the answer. Safe to call at any time, any number of times.
 *
 * @param settles false while Medusa's own route settles it: two at once could undo each other
 */
export async function update(
  container: MedusaContainer,
  shop: Shop,
  sessionId: string,
  settles: boolean,
): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT);
  const [row] = await payments.listPaymentSessions({ id: [sessionId] }, { relations: ['payment'] });
  const session = parseSession(row?.data);
  if (row === undefined || session === undefined) return;
  // Each region has its own keys: those of another one know nothing of this payment.
  if (session.public_key !== shop.options.publicKey) return;
  const isSettled = Boolean(row.payment);
  const answer = await shop.ask(session, isSettled);
  if (settles && answer.verification.verified && !isSettled) {
    await processPaymentWorkflow(container).run({
      input: { action: PaymentActions.SUCCESSFUL, data: { session_id: row.id, amount: row.amount } },
    });
  }
  const ended = endOf(answer);
  if (!isSettled && ended !== undefined && ended !== row.status) {
    const { id, amount, currency_code, data } = row;
    await payments.updatePaymentSession({ id, amount, currency_code, data, status: ended });
  }
  await tell(container, shop, row, answer);
}

/** Acts on an event about a payment. */
export async function updatePayment(
  container: MedusaContainer,
  shop: Shop,
  paymentId: string,
): Promise<void> {
  const transaction = await shop.fetch(paymentId);
  const sessionId = sessionIdOf(transaction.txRef);
  if (sessionId === undefined) return;
  const payments = container.resolve(Modules.PAYMENT);
  const [row] = await payments.listPaymentSessions({ id: [sessionId] }, { select: ['id'] });
  if (row === undefined) await tellAboutLost(container, shop, transaction);
  // Medusa settles a session's own payment itself. It knows nothing of further attempts.
  else await update(container, shop, sessionId, transaction.txRef !== sessionId);
}

function endOf({ transaction: { status }, verification }: Answer): 'canceled' | 'error' | undefined {
  if (verification.verified || status === 'in progress') return undefined;
  return status === 'cancelled' ? 'canceled' : 'error';
}

/** Medusa answers some amounts as numbers, and some as objects. */
const decimal = z.coerce.number();
const linksSchema = z.array(
  z.object({
    order: z
      .object({
        id: z.string(),
        display_id: z.number(),
        total: decimal,
        metadata: z.record(z.string(), z.unknown()).nullable(),
      })
      .nullish(),
    payment_collection: z.object({
      id: z.string(),
      amount: decimal,
      captured_amount: decimal.nullish(),
    }),
  }),
);
type Link = z.output<typeof linksSchema>[number];

/** Writes on the order, and notifies the admin once of each thing to do. */
async function tell(
  container: MedusaContainer,
  shop: Shop,
  session: PaymentSessionDTO,
  answer: Answer,
): Promise<void> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: 'order_payment_collection',
    fields: [
      ...['order.id', 'order.display_id', 'order.total', 'order.metadata'],
      ...['payment_collection.id', 'payment_collection.amount', 'payment_collection.captured_amount'],
    ],
    filters: { payment_collection_id: session.payment_collection_id },
  });
  const [link] = linksSchema.parse(data);
  const order = link?.order;
  const words = {
    crypto_payment: paymentWords(answer),
    crypto_refund: refundWords(answer.transaction),
    crypto_console: shop.consoleUrl(answer.transaction.id),
  };
  if (link && order) {
    const before = order.metadata ?? {};
    const isNew = Object.entries(words).some(([key, text]) => (before[key] ?? '') !== text);
    if (isNew) {
      await container.resolve(Modules.ORDER).updateOrders(order.id, { metadata: { ...before, ...words } });
    }
    await correctCollection(container, session, link, order.total);
  }
  if (!needsAttention(answer)) return;
  const { id } = answer.transaction;
  const where = order ? `Order #${order.display_id}` : `A cart without an order (${session.id})`;
  await notify(
    container,
    id,
    `${where}: look at its payment`,
    `${words.crypto_payment} ${words.crypto_console}`,
  );
}

/**
 * When the provider refuses that a cart with money in it is changed, Medusa puts the cart back, but not the amount of its payment
 * collection. An order that is paid in full would look paid in part.
 */
async function correctCollection(
  container: MedusaContainer,
  { amount }: PaymentSessionDTO,
  { payment_collection: collection }: Link,
  total: number,
): Promise<void> {
  if (MathBN.eq(collection.amount, amount) || !MathBN.eq(amount, total)) return;
  const isPaid = MathBN.gte(collection.captured_amount ?? 0, amount);
  await container.resolve(Modules.PAYMENT).updatePaymentCollections(collection.id, {
    amount,
    ...(isPaid ? { status: PaymentCollectionStatus.COMPLETED } : {}),
  });
}

/** Money for a session that its customer has replaced, by another way to pay or another price. */
async function tellAboutLost(
  container: MedusaContainer,
  shop: Shop,
  transaction: Transaction,
): Promise<void> {
  const came = creditedWords(transaction);
  if (came === '') return;
  const { id } = transaction;
  await notify(
    container,
    id,
    'Money came for a cart that has changed since',
    `${came}. Refund it: ${shop.consoleUrl(id)}`,
  );
}

/** In the admin's feed and in the log, once for each text. */
async function notify(
  container: MedusaContainer,
  resource_id: string,
  title: string,
  description: string,
): Promise<void> {
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  const feed = container.resolve(Modules.NOTIFICATION);
  const known = await feed.listNotifications({ resource_id, channel: 'feed' });
  if (known.some(({ data }) => data?.['description'] === description)) return;
  logger.warn(`crypto-checkout: ${title}. ${description}`);
  try {
    await feed.createNotifications({
      to: '',
      channel: 'feed',
      template: 'admin-ui',
      resource_id,
      resource_type: 'payment',
      data: { title, description },
      idempotency_key: `crypto-checkout: ${title} ${description}`,
    });
  } catch (error) {
    // A shop may have no provider for the feed, and two events may come at once. The log has it.
    logger.debug(`crypto-checkout: the feed took no notification. ${String(error)}`);
  }
}

/** True if somebody has to do something about it: the admin gets a notification. */
function needsAttention({ transaction, verification, paidAgain }: Answer): boolean {
  if (transaction.state === 'reversed') return true;
  const isUnpaid = !verification.verified && transaction.status !== 'in progress';
  // A refund of the first payment returns nothing of the second.
  if (paidAgain.length > 0) return true;
  const isRefunded = (transaction.refunds ?? []).some((refund) => !hasEnded(refund));
  if (isRefunded) return false;
  return verification.isOverpaid || (isUnpaid && creditedWords(transaction) !== '');
}
