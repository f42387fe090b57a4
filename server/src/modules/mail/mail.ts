/** Messages: stored with the change that they are about, and sent later. */
import type { PaymentRecord } from 'crypto-checkout/contract';
import { timingSafeEqual } from 'node:crypto';
import type { Core } from '../../core/core.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { lockName } from '../../core/db/locks.js';
import type { OpenInvoice, RefundLink } from '../../core/hooks.js';
import { errorMessage } from '../../core/shared/error-message.js';
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { money } from '../../core/money/shown.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import { invalidField, invalidState, notFound, Problem } from '../../core/shared/problem.js';
import { retention } from '../../core/shared/retention.js';
import { scopeOf, type Scope } from '../../core/shared/scope.js';
import type { NewEvent } from '../../core/webhooks/outbox.js';
import { compose, type Letter } from './compose.js';
import { isCurrent, isPayerKind, type Kind } from './kinds.js';
import { createInvoiceMail, type InvoiceMailDeps } from './invoices.js';
import { createStaffMail, type StaffMailDeps } from './staff.js';
import { createMailStore } from './store.js';
import { subjectOf, type Subject } from './subjects.js';
import type { MailRow, MailTable } from './tables.js';
import { mailLanguages } from './texts.js';
import { createTransports, mailLimits, type Failure, type Transport } from './transport.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<'mail.chosen', true> {}
}

const minuteMs = 60_000;
/** Greylisting asks for a second try after some minutes. The last one is given up after three days. */
const retryMs = [1, 5, 15, 60, 180, 360, 720, 1440, 1440].map((minutes) => minutes * minuteMs);
const giveUpMs = 3 * 1440 * minuteMs;
/** Longer than one message can take, so that no other server sends it meanwhile. */
const claimMs = mailLimits.messageMs + minuteMs;
/** Between the tries while the mail server takes nothing at all. */
const leastPauseMs = 2000;
const mostPauseMs = 5 * minuteMs;
const pruned = 500;
/** One address, in the form that every mail server takes. */
const addressPattern = /^[^\s<>()[\],;:\\"@]{1,64}@[^\s<>()[\],;:\\"@]{1,190}$/;

/** An erased payer has an address that no server takes. */
const isAddress = (email: string | undefined): email is string =>
  email !== undefined && addressPattern.test(email) && !email.endsWith('.invalid');

/** Parts of the link that ends messages: bounded before anything is looked up. */
const isUrlSafe = (text: string): boolean => /^[A-Za-z0-9_-]{1,100}$/.test(text);

export type Mail = ReturnType<typeof createMail>;

/** Somebody who gets messages about a shop. */
export interface Receiver {
  readonly shop: string;
  readonly isStaff: boolean;
}

export interface NewChoices {
  readonly kinds: readonly Kind[];
  readonly language: string;
  readonly replyTo: string | undefined;
}

/** The message with the receipt of a payment. */
export interface ReceiptMessage {
  readonly paymentId: string;
  /** Null if the payment is not paid. */
  readonly kind: 'receipt' | 'over' | null;
  readonly to: string | null;
  readonly blockedBy: 'off' | 'unpaid' | 'no_address' | 'unwanted' | null;
}

const receiptKinds = ['receipt', 'over'] as const;

const blockers: Readonly<Record<NonNullable<ReceiptMessage['blockedBy']>, string>> = {
  off: 'no mail server is configured, set SMTP_URL and MAIL_FROM',
  unpaid: 'the payment is not paid',
  no_address: 'the payment has no e-mail address',
  unwanted: 'the payer wants no messages',
};

export type MailDeps = StaffMailDeps &
  InvoiceMailDeps &
  Pick<Core, 'newId' | 'personalData' | 'payments' | 'log' | 'publicUrl' | 'config'>;

export function createMail(core: MailDeps) {
  const { database, clock, newId, personalData, payments, merchants, customers, auditLog, log, publicUrl } =
    core;
  const store = createMailStore(personalData);
  const transports = createTransports(core.config);
  const staff = createStaffMail(core, store, rowOf);
  const invoices = createInvoiceMail(core, store, rowOf);
  /** Why the mail server took nothing at the last try; undefined if it did. */
  let trouble: string | undefined;
  /** The real time before which nothing is tried: an outage must not use up the tries of each message. */
  let pausedUntil = 0;
  let pauseMs = leastPauseMs;

  /** The messages that a merchant's payers get. */
  async function chosen(reader: Parameters<typeof store.choicesOf>[0], scope: Scope) {
    const choices = await store.choicesOf(reader, scope);
    const { kinds = [], language = 'en', reply_to: replyTo } = choices ?? {};
    return { kinds: [...kinds], language, replyTo: replyTo ?? '' };
  }

  async function wants(reader: Parameters<typeof store.choicesOf>[0], scope: Scope, kind: Kind) {
    if (!transports) return false;
    return (await store.choicesOf(reader, scope))?.kinds.includes(kind) === true;
  }

  function rowOf({ merchantId, mode }: Scope): MailRow {
    const now = clock.real();
    return {
      id: newId(),
      merchant_id: merchantId,
      mode,
      kind: 'receipt',
      payment_id: null,
      customer_id: null,
      person_id: null,
      once: null,
      about: null,
      amount: null,
      tx_hash: null,
      link: '',
      link_until: null,
      token: newToken(),
      status: 'pending',
      tries: 0,
      due_at: now,
      claim: null,
      claimed_until: null,
      problem: null,
      created_at: now,
      sent_at: null,
    };
  }

  async function refusesMail(reader: Reader, scope: Scope, email: string): Promise<boolean> {
    const customer = await customers.findByAnyEmail(reader, scope, email);
    return customer !== undefined && store.isRefused(reader, customer.id);
  }

  async function add(transaction: Transaction, scope: Scope, mail: Subject): Promise<boolean> {
    if (!(await wants(transaction, scope, mail.kind))) return false;
    const email = await store.emailOf(transaction, mail.payment_id);
    if (!isAddress(email)) return false;
    // Its caller would wait for a claim that nobody has the link for.
    if (mail.kind === 'refundLink' && (await refusesMail(transaction, scope, email))) return false;
    await store.insert(transaction, { ...rowOf(scope), ...mail });
    return true;
  }

  async function onEvent(transaction: Transaction, event: NewEvent): Promise<void> {
    if (!transports) return;
    const about = subjectOf(event);
    if (about) await add(transaction, event, about);
    await staff.onEvent(transaction, event);
  }

  /** Tries one message, and says what to store about it. */
  async function attempt(row: MailTable, transport: Transport): Promise<Outcome> {
    const sender = (shop: string) => shop.replace(/\p{C}/gu, ' ').slice(0, 80);
    const scope = scopeOf(row);
    const { kind } = row;
    const offUrl = offUrlOf(row);
    const payment = row.payment_id === null ? undefined : await findPayment(scope, row.payment_id);
    if (!isPayerKind(kind)) {
      const letter = await staff.letter({ ...row, kind }, payment, { offUrl, publicUrl });
      if ('dropped' in letter) return letter;
      const { to, shop: name, ...message } = letter;
      if (!isAddress(to)) return { dropped: 'The person has no address' };
      const envelope = { ...message, id: row.id, to, offUrl, fromName: sender(name), replyTo: undefined };
      return (await transport.send(envelope)) ?? 'sent';
    }
    if (kind === 'reminder' || kind === 'overdue') {
      const { language, replyTo } = await chosen(database.reader, scope);
      const { business_name: shop } = await merchants.settings(database.reader, row.merchant_id);
      const letter = await invoices.letter(row, { shop, offUrl, publicUrl, language });
      if ('dropped' in letter) return letter;
      if (!isAddress(letter.to)) return { dropped: 'The customer has no address' };
      const envelope = { ...letter, id: row.id, offUrl, fromName: sender(shop) };
      return (await transport.send({ ...envelope, replyTo: replyTo === '' ? undefined : replyTo })) ?? 'sent';
    }
    const email = payment?.customerDetails?.email;
    if (!payment || !isAddress(email)) return { dropped: 'The payment has no address of a payer' };
    if (await refusesMail(database.reader, scope, email)) return { dropped: 'The payer wants no messages' };
    if (!isCurrent(kind, payment)) return { dropped: 'It was out of date' };
    if (row.link_until !== null && row.link_until <= clock.now(scope))
      return { dropped: 'Its link has expired' };
    // It is not kept once a message was given up.
    if (kind === 'refundLink' && row.link === '')
      return { dropped: 'Its link is gone: make a new one with "refunds link"' };
    const choices = await store.choicesOf(database.reader, scope);
    const { business_name: shop } = await merchants.settings(database.reader, row.merchant_id);
    const letter: Letter = {
      id: row.id,
      kind,
      payment,
      shop,
      offUrl,
      publicUrl,
      amount: row.amount ?? undefined,
      txHash: row.tx_hash ?? undefined,
      link: row.link === '' ? undefined : row.link,
      linkUntil: row.link_until ?? undefined,
      language: choices?.language ?? 'en',
    };
    const failure = await transport.send({
      ...compose(letter),
      id: row.id,
      to: email,
      offUrl,
      fromName: sender(shop),
      replyTo: choices?.reply_to ?? undefined,
    });
    return failure ?? 'sent';
  }

  async function findPayment(scope: Scope, id: string): Promise<PaymentRecord | undefined> {
    try {
      return await payments.verify({ ...scope, kind: 'secret' }, id);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  const offUrlOf = ({ id, token }: Pick<MailTable, 'id' | 'token'>) => `${publicUrl}/mail/off/${id}/${token}`;

  const release = (row: MailTable) => database.write((transaction) => store.update(transaction, row, {}));

  async function record(row: MailTable, outcome: Outcome): Promise<void> {
    const changes = changesOf(row, outcome, clock.real());
    await database.write((transaction) => store.update(transaction, row, changes));
    const { status, problem } = changes;
    if (status === 'failed') log.warn({ mailId: row.id, kind: row.kind, problem }, 'A message was given up');
  }

  return {
    isOn: transports !== undefined,
    staff,

    hears: async (reader: Parameters<typeof store.choicesOf>[0], scope: Scope) =>
      transports !== undefined &&
      (((await store.choicesOf(reader, scope))?.kinds.length ?? 0) > 0 || (await staff.hears(reader, scope))),
    onEvent,
    async onInvoiceDue(transaction: Transaction, invoice: OpenInvoice): Promise<void> {
      const kind = invoice.isOverdue ? 'overdue' : 'reminder';
      if (await wants(transaction, invoice, kind)) await invoices.add(transaction, invoice);
    },
    onRefundLink: (transaction: Transaction, link: RefundLink) =>
      add(transaction, link, {
        kind: 'refundLink',
        payment_id: link.paymentId,
        amount: money(link.amount, link.currency),
        link: link.url,
        link_until: link.expiresAt,
      }),

    /** Sends the messages that are due, until none is left, or the mail server takes none. */
    async send(signal: AbortSignal): Promise<void> {
      if (!transports || clock.real() < pausedUntil) return;
      let transport: Transport | undefined;
      try {
        while (!signal.aborted) {
          const now = clock.real();
          const row = await database.write((transaction) =>
            store.claim(transaction, { now, until: now + claimMs, claim: newId() }),
          );
          if (!row) return;
          transport ??= await transports.open(signal);
          const problem = await sendOne(row, transport, signal);
          if (problem !== undefined) return pause(problem);
          trouble = undefined;
          pauseMs = leastPauseMs;
        }
      } finally {
        transport?.close();
      }
    },

    /** Deletes what has been kept long enough. */
    async prune(signal: AbortSignal): Promise<void> {
      const before = clock.real() - retention.mailMs;
      while (!signal.aborted) {
        const count = await database.write((transaction) => store.prune(transaction, before, pruned));
        if (count < pruned) return;
      }
    },

    /** Sends one message to an address, now. @returns why it was not sent */
    async test(to: string): Promise<Failure | undefined> {
      if (!transports) throw invalidState('No mail server is configured: set SMTP_URL and MAIL_FROM');
      if (!addressPattern.test(to)) throw invalidField('to', 'This is not an e-mail address');
      const transport = await transports.open();
      try {
        const text = `This server can send messages.\n${publicUrl}\n`;
        const html = `<p>This server can send messages.</p>`;
        const offUrl = `${publicUrl}/mail/off`;
        const message = { subject: 'A test of your checkout’s messages', text, html };
        return await transport.send({
          ...message,
          id: newId(),
          to,
          fromName: 'Checkout',
          replyTo: undefined,
          offUrl,
        });
      } finally {
        transport.close();
      }
    },

    chosen,

    /** The message with the receipt of a payment, and what is in its way. Problem: `not_found`. */
    async receiptOf(scope: Scope, paymentId: string): Promise<ReceiptMessage> {
      const payment = await findPayment(scope, paymentId);
      if (!payment) throw notFound('payment');
      const email = payment.customerDetails?.email;
      const to = isAddress(email) ? email : null;
      const kind = receiptKinds.find((one) => isCurrent(one, payment)) ?? null;
      const isRefused = to !== null && (await refusesMail(database.reader, scope, to));
      const inTheWay = [
        !transports && ('off' as const),
        kind === null && ('unpaid' as const),
        to === null && ('no_address' as const),
        isRefused && ('unwanted' as const),
      ];
      return { paymentId, kind, to, blockedBy: inTheWay.find((reason) => reason !== false) ?? null };
    },

    lastReceipt,

    /**
     * Sends it soon, also where the shop sends none automatically. Problem: `invalid_state`.
     * @param after the last message that the person has seen: of two presses, only one finds it unchanged
     * @returns false if there is a newer one
     */
    async sendReceipt(
      transaction: Transaction,
      scope: Scope,
      { paymentId, kind, blockedBy }: ReceiptMessage,
      after: string | null,
    ): Promise<boolean> {
      if (kind === null || blockedBy !== null)
        throw invalidState(`The receipt cannot be sent: ${blockers[blockedBy ?? 'unpaid']}`);
      await lockName(transaction, `receipt of ${paymentId}`);
      const last = await store.lastOf(transaction, paymentId, receiptKinds);
      if (last && last.id !== after) return false;
      await store.insert(transaction, { ...rowOf(scope), kind, payment_id: paymentId });
      return true;
    },

    /** Problem: `validation_error`. */
    async choose(
      transaction: Transaction,
      scope: Scope,
      chosen: NewChoices,
      actor: AuditActor,
    ): Promise<void> {
      if (!mailLanguages.includes(chosen.language))
        throw invalidField('language', `Use one of ${mailLanguages.join(', ')}`);
      if (chosen.replyTo !== undefined && !addressPattern.test(chosen.replyTo))
        throw invalidField('replyTo', 'This is not an e-mail address');
      const before = await store.choicesOf(transaction, scope);
      await store.putChoices(transaction, {
        merchant_id: scope.merchantId,
        mode: scope.mode,
        kinds: [...new Set(chosen.kinds)],
        language: chosen.language,
        reply_to: chosen.replyTo ?? null,
        updated_at: clock.real(),
      });
      await auditLog.record(transaction, {
        ...scope,
        actor,
        action: 'mail.chosen',
        subjectId: scope.merchantId,
        before: auditedChoices(before ?? { kinds: [], language: '', reply_to: null }),
        after: {
          ...auditedChoices({ ...chosen, reply_to: chosen.replyTo ?? null }),
          // Another address of the same domain shows too.
          ...((before?.reply_to ?? null) !== (chosen.replyTo ?? null) && { isReplyToNew: true }),
        },
      });
    },

    list: (scope: Scope, status?: MailRow['status']) => store.list(database.reader, scope, status),
    countDue: () => store.countDue(database.reader),

    /** Problem: `not_found`. */
    async retry(transaction: Transaction, id: string): Promise<void> {
      if (!(await store.retry(transaction, id, clock.real()))) throw notFound('failed message');
    },

    /** The receiver of a message, by the link that ends them; undefined if it is no such link. */
    async receiverOf(id: string, token: string): Promise<Receiver | undefined> {
      const row = await findByToken(id, token);
      return row && receiver(row);
    },

    /** The receiver wants no more messages of this shop. @returns undefined if it is no such link */
    async refuse(id: string, token: string): Promise<Receiver | undefined> {
      const row = await findByToken(id, token);
      if (!row) return undefined;
      const scope = scopeOf(row);
      const { person_id: personId, payment_id: paymentId } = row;
      if (personId !== null)
        await database.write((transaction) => store.deleteStaffChoices(transaction, personId, row.mode));
      const { customer_id: customerId } = row;
      if (customerId !== null)
        await database.write((transaction) => store.refuse(transaction, customerId, clock.real()));
      if (paymentId === null) return receiver(row);
      const email = (await findPayment(scope, paymentId))?.customerDetails?.email;
      const customer =
        email === undefined ? undefined : await customers.findByAnyEmail(database.reader, scope, email);
      if (customer)
        await database.write((transaction) => store.refuse(transaction, customer.id, clock.real()));
      return receiver(row);
    },

    trouble: () => trouble,
  };

  async function lastReceipt(reader: Reader, paymentId: string) {
    const last = await store.lastOf(reader, paymentId, receiptKinds);
    if (!last) return null;
    const secondsAgo = Math.max(0, Math.floor((clock.real() - last.created_at) / 1000));
    return { id: last.id, secondsAgo, isSent: last.status === 'sent' };
  }

  async function receiver(row: MailTable): Promise<Receiver> {
    const { business_name: shop } = await merchants.settings(database.reader, row.merchant_id);
    return { shop, isStaff: row.person_id !== null };
  }

  async function findByToken(id: string, token: string): Promise<MailTable | undefined> {
    if (!isUrlSafe(id) || !isUrlSafe(token)) return undefined;
    const row = await store.find(database.reader, id);
    const digest = (text: string) => Buffer.from(tokenDigest(text));
    return row && timingSafeEqual(digest(row.token), digest(token)) ? row : undefined;
  }

  async function tryOne(row: MailTable, transport: Transport): Promise<Outcome> {
    try {
      return await attempt(row, transport);
    } catch (error) {
      log.error({ mailId: row.id, err: error }, 'A message could not be written');
      return { kind: 'deferred', reason: errorMessage(error).slice(0, 200) };
    }
  }

  /** Tries a message, and stores the outcome. @returns why the mail server takes no messages now; undefined if it may take others */
  async function sendOne(
    row: MailTable,
    transport: Transport,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const outcome = await tryOne(row, transport);
    const isUnreachable = outcome !== 'sent' && 'kind' in outcome && outcome.kind === 'unreachable';
    if (isUnreachable && signal.aborted) {
      await release(row);
      return undefined;
    }
    await record(row, outcome);
    return isUnreachable ? outcome.reason : undefined;
  }

  function pause(reason: string): void {
    trouble = reason;
    pausedUntil = clock.real() + pauseMs;
    pauseMs = Math.min(pauseMs * 2, mostPauseMs);
    log.warn({ reason }, 'The mail server takes no messages');
  }
}

/** The log must not say who somebody is: of the address for answers, it has the domain. */
const auditedChoices = ({ kinds, language, reply_to: replyTo }: Audited) => ({
  kinds: [...new Set(kinds)].join(', '),
  language,
  replyTo: replyTo?.replace(/^[^@]*@/, '') ?? '',
});

interface Audited {
  readonly kinds: readonly Kind[];
  readonly language: string;
  readonly reply_to: string | null;
}

type Outcome = 'sent' | Failure | { readonly dropped: string };

const ended = { due_at: null, link: '' } as const;

function changesOf(row: MailTable, outcome: Outcome, now: number): Partial<MailTable> {
  if (outcome === 'sent')
    return { ...ended, status: 'sent', sent_at: now, tries: row.tries + 1, problem: null };
  if ('dropped' in outcome) return { ...ended, status: 'dropped', problem: outcome.dropped };
  const tries = row.tries + 1;
  const wait = retryMs[tries - 1] ?? giveUpMs;
  // The first in line stays the first. An outage counts as one try at most: after it, the message has all its own.
  if (outcome.kind === 'unreachable' && now <= row.created_at + giveUpMs)
    return { tries: Math.max(row.tries, 1), problem: outcome.reason };
  const isOver = outcome.kind !== 'deferred' || now + wait > row.created_at + giveUpMs;
  if (isOver) return { ...ended, status: 'failed', tries, problem: outcome.reason };
  return { tries, due_at: now + wait, problem: outcome.reason };
}
