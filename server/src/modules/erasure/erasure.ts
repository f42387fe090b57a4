/**
 * Erases a customer's personal data wherever it is kept, and leaves the books as they are. Each table says in its declaration where
 * personal data is. Only this room writes to other rooms' tables.
 */
import type { ConsoleApi, Data } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import { chunksOf } from '../../core/db/chunks.js';
import { jsonCodec, placed } from '../../core/db/codecs.js';
import { sealed, type PersonalData } from '../../core/db/personal-data.js';
import { refuseLeftTables } from '../../core/db/removed-modules.js';
import type { AuditActor, AuditLog } from '../../core/merchants/audit-log.js';
import type { NewId } from '../../core/shared/ids.js';
import { invalidState, notFound } from '../../core/shared/problem.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { Mode } from '../../core/shared/scope.js';
import type { Hooks } from '../../core/hooks.js';
import type { Database } from '../../core/db/database.js';
import * as store from './erasure-store.js';
import { personalTables } from './sealed.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<'customer.erased', true> {}
}

type ErasurePreview = Omit<Data<ConsoleApi['erasure']['preview']>, 'email'>;

export type Erasure = ReturnType<typeof createErasure>;

export interface ErasureDeps {
  readonly database: Pick<Database, 'tables' | 'reader'>;
  readonly auditLog: AuditLog;
  readonly newId: NewId;
  readonly personalData: PersonalData;
  readonly hooks: Pick<Hooks, 'onErased' | 'isUnfinished'>;
}

export function createErasure({ database, auditLog, newId, personalData, hooks }: ErasureDeps) {
  const tables = personalTables(database.tables);

  /** Those with one of these emails now, in both modes. */
  const findCustomers = (reader: Reader, merchantId: string, emails: readonly string[]) =>
    store.findCustomers(
      reader,
      merchantId,
      emails.flatMap((email) => personalData.emailIndexes(merchantId, email)),
    );

  /** Those with this email, in both modes; if nobody has it now, the last one who had it, in each mode. */
  async function findOwners(reader: Reader, merchantId: string, email: string): Promise<string[]> {
    const now = await findCustomers(reader, merchantId, [email]);
    if (now.length > 0) return now.map(({ id }) => id);
    const owners = new Map<Mode, string>();
    const indexes = personalData.emailIndexes(merchantId, email);
    const before = await store.findEarlierOwners(reader, merchantId, indexes);
    for (const { id, mode } of before) if (!owners.has(mode)) owners.set(mode, id);
    return [...owners.values()];
  }

  /** The emails among these that another customer has now. */
  async function findTaken(
    reader: Reader,
    merchantId: string,
    emails: readonly string[],
    customerIds: readonly string[],
  ): Promise<string[]> {
    const taken = [];
    for (const email of emails) {
      const now = await findCustomers(reader, merchantId, [email]);
      if (now.some(({ id }) => !customerIds.includes(id))) taken.push(email);
    }
    return taken;
  }

  /** The records of the person who has this email or had it before, in both modes, and all the person's emails. */
  async function find(reader: Reader, merchantId: string, email: string) {
    const owners = await store.readPersons(reader, await findOwners(reader, merchantId, email));
    const current = new Set([email, ...owners.map((row) => personalData.person(row).email.toLowerCase())]);
    const others = await findCustomers(reader, merchantId, [...current]);
    const customerIds = [...new Set([...owners, ...others].map(({ id }) => id))];
    const earlier = (await store.readEarlierEmails(reader, customerIds)).map((row) =>
      personalData.openRow(sealed.earlierEmails, row),
    );
    const paymentIds = new Set<string>();
    const add = async (of: string, until?: { mode: Mode; at: number }) => {
      const indexes = personalData.payerIndexes(merchantId, of);
      const found = await store.findPayments(reader, merchantId, indexes, until);
      for (const { id } of found) paymentIds.add(id);
    };
    for (const one of current) await add(one);
    // Somebody else may have it since.
    for (const { email: one, mode, left_at: at } of earlier) await add(one, { mode, at });
    const emails = [...new Set([...current, ...earlier.map((row) => row.email.toLowerCase())])];
    return { customerIds, paymentIds: [...paymentIds], emails };
  }

  return {
    /** Counts what would be erased of the person with this email, and finds what is in the way. */
    async preview(merchantId: string, givenEmail: string): Promise<ErasurePreview> {
      const { reader } = database;
      const email = givenEmail.trim().toLowerCase();
      const { customerIds, paymentIds } = await find(reader, merchantId, email);
      const isSubscribed = await store.hasActiveSubscription(reader, customerIds);
      const isOpen = !isSubscribed && (await hooks.isUnfinished(reader, paymentIds));
      return {
        customers: customerIds.length,
        payments: paymentIds.length,
        blockedBy: isSubscribed ? 'subscription' : isOpen ? 'refund' : null,
        isErased: email.endsWith(erasedDomain),
      };
    },

    /**
     * Replaces the emails, names and phone numbers of the person who has this email or had it before, in both modes, in customers,
     * payments, descriptions, webhook payloads and stored replies, and the email in redirect URLs, metadata and
     * reasons of refunds. Amounts, transactions and references stay. Problems: `not_found`, `invalid_state` if a
     * subscription is active, a refund is open, or a removed module has left records of the payments.
     * @returns the number of changed records, and the text that replaces the email now
     */
    async erase(transaction: Transaction, merchantId: string, givenEmail: string, actor: AuditActor) {
      const email = givenEmail.trim().toLowerCase();
      const { customerIds, paymentIds, emails } = await find(transaction, merchantId, email);
      if (customerIds.length === 0 && paymentIds.length === 0) throw notFound('customer');
      if (await store.hasActiveSubscription(transaction, customerIds)) {
        throw invalidState(
          'The customer has an active subscription. End it first: DELETE /v1/payment-plan-subscribers/{id}',
        );
      }
      // Only the module knows the person's data in its tables.
      for (const chunk of chunksOf(paymentIds)) await refuseLeftTables(transaction, { payment_id: chunk });
      const addresses = await hooks.onErased(transaction, paymentIds);
      const replacedBy = `erased-${newId().toLowerCase()}${erasedDomain}`;
      const redact = createRedact(emails, replacedBy, new Set(addresses));
      for (const id of customerIds) {
        const columns = personalData.personColumns({ id, merchant_id: merchantId }, { email: replacedBy });
        await store.eraseCustomer(transaction, id, columns);
      }
      const indexes = personalData.emailIndexes(merchantId, email);
      await store.deleteEarlierEmails(transaction, merchantId, customerIds, indexes);
      const payer = { description: erasedDescription, email: replacedBy };
      for (const id of paymentIds) {
        const columns = personalData.payerColumns({ id, merchant_id: merchantId }, payer);
        await store.erasePayment(transaction, id, columns);
      }
      await store.rewriteTexts(transaction, tables, paymentIds, personalData, {
        json: redact,
        text: (text) => text.replaceAll(emailIn(emails), replacedBy),
      });
      const taken = await findTaken(transaction, merchantId, emails, customerIds);
      const own = new Set([...customerIds, ...paymentIds]);
      const redactUntaken = createRedact(
        emails.filter((one) => !taken.includes(one)),
        replacedBy,
        new Set(addresses),
      );
      // A text with a taken email belongs to this person only if it names one of the records.
      const isOwn = (text: string) => taken.length === 0 || (text.match(ids) ?? []).some((id) => own.has(id));
      const found = await store.rewriteFound(transaction, tables, merchantId, personalData, (text) =>
        isOwn(text) ? redact(text) : redactUntaken(text),
      );
      const { outbox: webhooks = 0, idempotency_replies: storedReplies = 0 } = found;
      const counts = { customers: customerIds.length, payments: paymentIds.length, webhooks, storedReplies };
      await auditLog.record(transaction, {
        merchantId,
        actor,
        action: 'customer.erased',
        subjectId: customerIds[0] ?? replacedBy,
        after: counts,
      });
      return { ...counts, replacedBy };
    },
  };
}

/** Metadata, webhook payloads and replies, whatever they hold. */
const stored = placed('what is searched for an email', jsonCodec(z.unknown()));

/** Ids of records, in JSON. */
const ids = /[0-9A-HJKMNP-TV-Z]{26}/g;

/** .invalid never receives mail: https://www.rfc-editor.org/rfc/rfc6761 */
const erasedDomain = '@erased.invalid';

const erasedDescription = 'Payment from an erased customer';

/** Replaces the emails in any case, everywhere, and the details about their owner that come with them. */
function createRedact(emails: readonly string[], replacedBy: string, addresses: ReadonlySet<string>) {
  const emailPattern = emailIn(emails);
  const text = (value: string): string =>
    value.startsWith('Payment from ') ? erasedDescription : value.replaceAll(emailPattern, replacedBy);
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return addresses.has(value) ? '' : text(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(([name]) => name !== 'fullName' && name !== 'phoneNumber');
    return Object.fromEntries(kept.map(([name, one]) => [name, walk(one)]));
  };
  /** @returns undefined if the JSON contains neither an email nor an address */
  return (json: string): string | undefined => {
    const isConcerned =
      json.search(emailPattern) >= 0 || [...addresses].some((address) => json.includes(address));
    return isConcerned ? stored.write(walk(stored.read(json))) : undefined;
  };
}

/** The emails in any case, and as they are written in addresses of pages. */
function emailIn(emails: readonly string[]): RegExp {
  const forms = emails.flatMap((email) => [email, encodeURIComponent(email)]);
  return new RegExp(forms.map(escapePattern).join('|'), 'giu');
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
