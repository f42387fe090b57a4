/** Medusa's payment provider: the session is a payment of the API, and is paid once `verifyPayment` says so. */
import {
  AbstractPaymentProvider,
  MathBN,
  MedusaError,
  PaymentActions,
  PaymentSessionStatus,
} from '@medusajs/framework/utils';
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  Logger,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';
import { ApiError } from 'crypto-checkout/client';
import { receive } from '../../event.js';
import { parseOptions, type ShopOptions } from '../../options.js';
import { refund } from '../../refund.js';
import { parseSession, priceOf, sessionIdOf, type Session } from '../../session.js';
import type { Answer } from '../../answer.js';
import { Shop } from '../../shop.js';

const givenData = z.object({
  session_id: z.string(),
  /** A guest's email: Medusa passes on only those of customers. */
  email: z.string().max(254).optional().catch(undefined),
});

export class CryptoCheckoutProvider extends AbstractPaymentProvider<ShopOptions> {
  static override identifier = 'crypto-checkout';

  readonly #shop: Shop;
  readonly #logger: Logger | undefined;

  static override validateOptions(options: Record<string, unknown>): void {
    parseOptions(options);
  }

  constructor(container: { logger?: Logger }, options: ShopOptions) {
    super(container, options);
    this.#shop = new Shop(parseOptions(options));
    this.#logger = container.logger;
  }

  override async initiatePayment({
    amount,
    currency_code,
    data,
    context,
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const { session_id: tx_ref, email } = givenData.parse(data);
    const currency = currency_code.toUpperCase();
    const price = priceOf(amount, currency);
    const { customer } = context ?? {};
    const name = [customer?.first_name, customer?.last_name].filter(Boolean).join(' ');
    const payer = { email: customer?.email ?? email, name: name === '' ? undefined : name };
    const session = await refusing(() => this.#shop.create({ tx_ref, price, currency }, payer));
    return { id: session.payment_id, status: PaymentSessionStatus.PENDING, data: session };
  }

  /** A payment's price is fixed, so another price is another payment of the same session. */
  override async updatePayment({
    amount,
    currency_code,
    data,
  }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const session = sessionOf(data);
    const currency = currency_code.toUpperCase();
    const price = priceOf(amount, currency);
    if (currency === session.currency && MathBN.eq(price, session.price)) return { data: session };
    await this.#drop(session);
    const changed = { tx_ref: session.tx_ref, price, currency };
    const next = await refusing(() => this.#shop.create(changed, {}, true));
    return { data: { ...session, ...next }, status: PaymentSessionStatus.PENDING };
  }

  override async deletePayment({ data }: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const session = parseSession(data);
    // Without one, the payment could not be made in the first place.
    if (session !== undefined) await this.#drop(session);
    return data === undefined ? {} : { data };
  }

  override async authorizePayment({ data }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const session = sessionOf(data);
    const answer = await this.#shop.ask(session);
    const status = statusOf(answer, this.#shop.options.orderBeforePayment);
    return { status, data: { ...session, payment_id: answer.transaction.id } };
  }

  override async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const session = sessionOf(data);
    return { status: statusOf(await this.#shop.ask(session), true), data: session };
  }

  /** The coins are with the shop already. This only refuses to call a payment captured that is not paid. */
  override async capturePayment({ data }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const session = sessionOf(data);
    const { verification } = await this.#shop.ask(session);
    if (!verification.verified) {
      throw new MedusaError(
        MedusaError.Types.NOT_ALLOWED,
        `The payment is not complete. ${verification.failed.map(({ message }) => message).join(' ')}`,
      );
    }
    return { data: session };
  }

  override async refundPayment({ data, amount, context }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const key = context?.idempotency_key;
    if (key === undefined) throw new MedusaError(MedusaError.Types.INVALID_DATA, 'A refund needs an id');
    return { data: await refund(this.#shop, sessionOf(data), amount, key) };
  }

  /** A payment that was paid stays: its money goes back by a refund. */
  override async cancelPayment({ data }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const session = parseSession(data);
    if (session !== undefined) await this.#shop.cancel(session);
    return data === undefined ? {} : { data };
  }

  override async retrievePayment({ data }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: { ...(await this.#shop.fetch(sessionOf(data).payment_id)) } };
  }

  /**
   * Medusa settles what this calls captured, after `authorizePayment` has verified it. Every other event is for our own
   * subscriber: Medusa's route does nothing about a payment that failed, was cancelled, or got too much.
   */
  override async getWebhookActionAndData({
    rawData,
    headers,
  }: ProviderWebhookPayload['payload']): Promise<WebhookActionResult> {
    const event = receive(this.#shop, rawData, headers);
    if ('refused' in event) {
      this.#logger?.warn(`crypto-checkout: webhook refused. ${event.refused}`);
      return { action: PaymentActions.NOT_SUPPORTED };
    }
    if (event.type !== 'payment.success') return { action: PaymentActions.NOT_SUPPORTED };
    const transaction = await this.#shop.fetch(event.paymentId);
    const { txRef, status, baseAmount } = transaction;
    const session_id = sessionIdOf(txRef);
    // A further attempt could have another price than the session.
    if (session_id === undefined || session_id !== txRef || status !== 'success') {
      return { action: PaymentActions.NOT_SUPPORTED };
    }
    return { action: PaymentActions.SUCCESSFUL, data: { session_id, amount: MathBN.convert(baseAmount) } };
  }

  /** Ends the payments of a session that goes away, unless there is money in one of them. */
  async #drop(session: Session): Promise<void> {
    if (await this.#shop.cancel(session)) return;
    throw new MedusaError(
      MedusaError.Types.NOT_ALLOWED,
      'Money has come for this cart. Complete it, or ask the shop for a refund',
    );
  }
}

function statusOf({ transaction, verification }: Answer, mayOrderFirst: boolean): PaymentSessionStatus {
  if (verification.verified) return PaymentSessionStatus.CAPTURED;
  switch (transaction.status) {
    case 'in progress':
      return mayOrderFirst ? PaymentSessionStatus.PENDING_AUTHORIZATION : PaymentSessionStatus.REQUIRES_MORE;
    case 'cancelled':
      return PaymentSessionStatus.CANCELED;
    case 'error':
    case 'success':
      return PaymentSessionStatus.ERROR;
    default:
      return transaction.status satisfies never;
  }
}

function sessionOf(data: Record<string, unknown> | undefined): Session {
  const session = parseSession(data);
  if (session !== undefined) return session;
  throw new MedusaError(MedusaError.Types.INVALID_DATA, 'The session has no payment of crypto-checkout');
}

/** Says in the API's words why there can be no payment, such as a currency that it does not know. */
async function refusing<T>(create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    throw new MedusaError(MedusaError.Types.INVALID_DATA, error.shortMessage, error.code);
  }
}
