/** One shop at the payment API: what the provider, the subscriber and the job ask it. */
import { randomInt } from 'node:crypto';
import {
  ApiError,
  createMerchantClient,
  verifyPayment,
  type MerchantClient,
  type Verification,
} from 'crypto-checkout/client';
import type { Answer, Transaction } from './answer.js';
import { modeOf, type Options } from './options.js';
import type { Session } from './session.js';

export class Shop {
  readonly client: MerchantClient;
  readonly options: Options;

  constructor(options: Options) {
    this.options = options;
    this.client = createMerchantClient({ apiUrl: options.apiUrl, secretKey: options.secretKey });
  }

  /** The page of a payment in the server's console. It is no secret: the console asks who is there. */
  consoleUrl(paymentId: string): string {
    const { apiUrl, secretKey } = this.options;
    return `${apiUrl.replace(/\/$/, '')}/console/${modeOf(secretKey)}/payments/${paymentId}`;
  }

  async fetch(paymentId: string): Promise<Transaction> {
    return (await this.client.transactions.verify({ params: { transaction_id: paymentId } })).data;
  }

  verify(transaction: Transaction, { tx_ref, price, currency }: Session): Verification {
    const mode = modeOf(this.options.secretKey);
    return verifyPayment(transaction, { txRef: tx_ref, baseAmount: price, baseCurrency: currency, mode });
  }

  /** Asks for the session's payment and, once that has ended, for the further attempts of its payer. */
  async ask(session: Session): Promise<Answer> {
    const own = await this.fetch(session.payment_id);
    const all = [own];
    if (own.status !== 'in progress') {
      const attempts = this.client.transactions.iterate({ query: { search: session.tx_ref } });
      for await (const { id } of attempts) if (id !== own.id) all.push(await this.fetch(id));
    }
    const answers = all.map((transaction) => ({
      transaction,
      verification: this.verify(transaction, session),
    }));
    const paid = answers.filter(({ verification }) => verification.verified);
    const isOpen = (answer: (typeof answers)[number]) =>
      answer.transaction.status === 'in progress' &&
      answer.verification.failed.every(({ rule }) => rule === 'status' || rule === 'amount');
    // The first that pays is the one that Medusa captured: the later ones were paid for nothing.
    const [first = answers.find(isOpen) ?? { transaction: own, verification: this.verify(own, session) }] =
      paid.toSorted((one, other) => one.transaction.createdAt.localeCompare(other.transaction.createdAt));
    return {
      ...first,
      paidAgain: paid.map(({ transaction }) => transaction).filter(({ id }) => id !== first.transaction.id),
    };
  }

  /** @param again the session had a payment before, with another price */
  async create(
    session: Pick<Session, 'tx_ref' | 'price' | 'currency'>,
    customer: { email?: string | undefined; name?: string | undefined },
    again = false,
  ): Promise<Session> {
    const { price: amount, currency: baseCurrency, tx_ref } = session;
    const txRef = again ? `${tx_ref}:${randomInt(1_000_000, 1_000_000_000)}` : tx_ref;
    const { data } = await this.client.payments.create({
      body: { amount, baseCurrency, txRef, customer, metadata: { medusaSession: tx_ref } },
      idempotencyKey: `medusa-${txRef}`,
    });
    const { apiUrl: api_url, publicKey: public_key } = this.options;
    return { ...session, payment_id: data.payment.id, payment_url: data.url, api_url, public_key };
  }

  /** @returns false if there is money that it would leave behind, so that it continues */
  async cancel(paymentId: string): Promise<boolean> {
    const transaction = await this.fetch(paymentId);
    if (transaction.status === 'success') return false;
    if (transaction.status !== 'in progress') return true;
    if ((transaction.amountSeen ?? 0) > 0) return false;
    try {
      await this.client.payments.cancel({ params: { payment_id: paymentId } });
      return true;
    } catch (error) {
      // It ended in between: say so only if that was a success.
      if (!(error instanceof ApiError) || error.code !== 'invalid_state') throw error;
      return (await this.fetch(paymentId)).status !== 'success';
    }
  }
}
