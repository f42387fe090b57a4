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
import { sessionIdOf, type Session } from './session.js';

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
    // A session with a second price has a counter in its own reference already, and a further attempt appends another one.
    const isOfSession = sessionIdOf(transaction.txRef) === tx_ref;
    const txRef = isOfSession ? (transaction.txRef ?? tx_ref) : tx_ref;
    return verifyPayment(transaction, { txRef, baseAmount: price, baseCurrency: currency, mode });
  }

  /**
   * Asks for the session's payment and, once that has ended, for the further attempts of its payer.
   *
   * @param isCaptured Medusa has captured the session's payment: it stays the first one, even if a refund took a part of it
   */
  async ask(session: Session, isCaptured = false): Promise<Answer> {
    const answers = await this.#answers(session);
    const [own] = answers;
    const paid = answers.filter(({ verification }) => verification.verified);
    // The first that pays is the one that Medusa captures: the later ones were paid for nothing.
    const [earliest = answers.find(isOpen) ?? own] = paid.toSorted((one, other) =>
      one.transaction.createdAt.localeCompare(other.transaction.createdAt),
    );
    const first = isCaptured && own.transaction.status === 'success' ? own : earliest;
    return {
      ...first,
      paidAgain: paid.map(({ transaction }) => transaction).filter(({ id }) => id !== first.transaction.id),
    };
  }

  /** The session's payment first. Anybody with the public key can make the others: `verification` says if they are for this session. */
  async #answers(session: Session): Promise<[Verified, ...Verified[]]> {
    const verified = (transaction: Transaction): Verified => ({
      transaction,
      verification: this.verify(transaction, session),
    });
    const own = await this.fetch(session.payment_id);
    const others: Verified[] = [];
    if (own.status !== 'in progress') {
      const attempts = this.client.transactions.iterate({ query: { search: session.tx_ref } });
      for await (const { id } of attempts) if (id !== own.id) others.push(verified(await this.fetch(id)));
    }
    return [verified(own), ...others];
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

  /**
   * Ends the session's payment, and what its payer has moved on to.
   * @returns false if there is money that it would leave behind, so that all of them continue
   */
  async cancel(session: Session): Promise<boolean> {
    const [own, ...others] = await this.#answers(session);
    const isPaid =
      own.transaction.status === 'success' || others.some(({ verification: { verified } }) => verified);
    if (isPaid) return false;
    const open = [own, ...others.filter(isOpen)]
      .map(({ transaction }) => transaction)
      .filter(({ status }) => status === 'in progress');
    if (open.some(({ amountSeen = 0 }) => amountSeen > 0)) return false;
    let isLeft = false;
    for (const { id } of open) isLeft ||= !(await this.#cancelOne(id));
    return !isLeft;
  }

  async #cancelOne(paymentId: string): Promise<boolean> {
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

type Verified = Pick<Answer, 'transaction' | 'verification'>;

/** It has the session's reference and price, and may still be paid. */
const isOpen = ({ transaction, verification }: Verified) =>
  transaction.status === 'in progress' &&
  verification.failed.every(({ rule }) => rule === 'status' || rule === 'amount');
