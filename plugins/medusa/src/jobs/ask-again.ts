/**
 * Asks the API again about every session that is not settled: a webhook can be lost, since Medusa answers it before it is
 * processed.
 */
import { ContainerRegistrationKeys, Modules, PaymentSessionStatus } from '@medusajs/framework/utils';
import type { MedusaContainer } from '@medusajs/framework/types';
import { CheckoutError } from 'crypto-checkout/client';
import { update, updatePayment } from '../settle.js';
import type { Shop } from '../shop.js';
import { shopsOf } from '../shops.js';

const hours = 3_600_000;
/** A payer has a day to choose and half an hour to pay; then money can be late. */
const youngHours = 2;
const oldHours = 7 * 24;
/** A refund waits up to 30 days for its payer. */
const refundHours = 40 * 24;
const pageSize = 100;

const open: PaymentSessionStatus[] = [
  PaymentSessionStatus.PENDING,
  PaymentSessionStatus.PENDING_AUTHORIZATION,
  PaymentSessionStatus.REQUIRES_MORE,
];
const ended: PaymentSessionStatus[] = [PaymentSessionStatus.ERROR, PaymentSessionStatus.CANCELED];

let lastWholeRun = 0;

export default async function askAgain(container: MedusaContainer): Promise<void> {
  const isWhole = Date.now() - lastWholeRun >= hours;
  if (isWhole) lastWholeRun = Date.now();
  for (const [providerId, shop] of shopsOf(container)) {
    await trying(container, () => askAboutSessions(container, shop, providerId, isWhole));
    if (isWhole) await trying(container, () => askAboutRefunds(container, shop));
  }
}

export const config = {
  name: 'crypto-checkout-ask-again',
  schedule: process.env['CRYPTO_CHECKOUT_SCHEDULE'] ?? '* * * * *',
};

/** Those of the last two hours each time, and those of the last week once an hour, with the ones that have ended. */
async function askAboutSessions(
  container: MedusaContainer,
  shop: Shop,
  provider_id: string,
  isWhole: boolean,
): Promise<void> {
  const since = new Date(Date.now() - (isWhole ? oldHours : youngHours) * hours);
  const payments = container.resolve(Modules.PAYMENT);
  const filters = {
    provider_id,
    status: isWhole ? [...open, ...ended] : open,
    created_at: { $gte: since.toISOString() },
  };
  const ids: string[] = [];
  for (;;) {
    const rows = await payments.listPaymentSessions(filters, {
      select: ['id'],
      order: { id: 'ASC' },
      take: pageSize,
      skip: ids.length,
    });
    ids.push(...rows.map(({ id }) => id));
    if (rows.length < pageSize) break;
  }
  // Only then: an update changes what the filters find.
  for (const id of ids) await trying(container, () => update(container, shop, id, true));
}

async function askAboutRefunds(container: MedusaContainer, shop: Shop): Promise<void> {
  const from = new Date(Date.now() - refundHours * hours).toISOString();
  const ids = new Set<string>();
  for await (const { paymentId } of shop.client.refunds.iterate({ query: { from } })) ids.add(paymentId);
  for (const id of ids) await trying(container, () => updatePayment(container, shop, id));
}

/** One failure must not stop the others. The next run asks again. */
async function trying(container: MedusaContainer, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    const why = error instanceof CheckoutError ? error.shortMessage : String(error);
    container.resolve(ContainerRegistrationKeys.LOGGER).error(`crypto-checkout: asking again failed. ${why}`);
  }
}
