/**
 * Payers' data as rows keep it: encrypted if there is a data key, and bound to its row and column, so that a value that is moved
 * to another row cannot be read there. What it is searched by stands beside it as an index value: see `DataKeys.index`.
 */
import type { DataKeys } from '../shared/data-keys.js';
import type { CustomerTable, OutboxTable, PaymentTable, Schema } from './schema.js';

/** Who pays, and what is told of them. */
export interface Payer {
  readonly description: string;
  readonly email?: string | undefined;
  readonly fullName?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

/** A customer's own data. */
export interface Person {
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

type Owned = Pick<PaymentTable, 'id' | 'merchant_id'>;

type ReplyKey = Pick<Schema['idempotency_replies'], 'merchant_id' | 'mode' | 'hash'>;

export type PersonalData = ReturnType<typeof createPersonalData>;

export function createPersonalData(dataKeys: DataKeys) {
  const payerIndex = (merchantId: string) => `payments.payer_index of ${merchantId}`;
  const emailIndex = (merchantId: string) => `customers.email_index of ${merchantId}`;
  const phoneIndex = (merchantId: string) => `customers.phone_index of ${merchantId}`;
  const payerPlace = (id: string) => `payments.payer of ${id}`;
  const personPlace = (id: string) => `customers.person of ${id}`;
  const eventPlace = (id: string) => `outbox.data of ${id}`;
  const responsePlace = (eventId: string) => `webhook_tries.response_excerpt of ${eventId}`;
  const replyPlace = ({ merchant_id: merchantId, mode, hash }: ReplyKey) =>
    `idempotency_replies.reply of ${merchantId}/${mode}/${hash}`;
  const digestPlace = 'a digest of a request or a reply';

  return {
    isCurrent: dataKeys.isCurrent,
    /** Servers may encrypt with different keys now, and so write different index values. */
    isRotating: dataKeys.ids.length > 1,

    payerColumns: (
      { id, merchant_id: merchantId }: Owned,
      payer: Payer,
    ): Pick<PaymentTable, 'payer' | 'payer_index'> => ({
      payer: dataKeys.seal(JSON.stringify(payer), payerPlace(id)),
      payer_index:
        payer.email === undefined ? null : dataKeys.index(payer.email.toLowerCase(), payerIndex(merchantId)),
    }),
    payer: ({ id, payer }: Pick<PaymentTable, 'id' | 'payer'>) =>
      JSON.parse(dataKeys.open(payer, payerPlace(id))) as Payer,
    /** What the payments of a payer may have as `payer_index`. */
    payerIndexes: (merchantId: string, email: string) =>
      dataKeys.indexes(email.toLowerCase(), payerIndex(merchantId)),

    personColumns: (
      { id, merchant_id: merchantId }: Owned,
      { email, fullName, phoneNumber }: Person,
    ): Pick<CustomerTable, 'person' | 'email_index' | 'phone_index'> => ({
      person: dataKeys.seal(JSON.stringify({ email, fullName, phoneNumber }), personPlace(id)),
      email_index: dataKeys.index(email.toLowerCase(), emailIndex(merchantId)),
      phone_index: phoneNumber === undefined ? null : dataKeys.index(phoneNumber, phoneIndex(merchantId)),
    }),
    person: ({ id, person }: Pick<CustomerTable, 'id' | 'person'>) =>
      JSON.parse(dataKeys.open(person, personPlace(id))) as Person,
    emailIndexes: (merchantId: string, email: string) =>
      dataKeys.indexes(email.toLowerCase(), emailIndex(merchantId)),
    phoneIndexes: (merchantId: string, phoneNumber: string) =>
      dataKeys.indexes(phoneNumber, phoneIndex(merchantId)),

    sealEvent: (id: string, json: string) => dataKeys.seal(json, eventPlace(id)),
    openEvent: ({ id, data }: Pick<OutboxTable, 'id' | 'data'>) => dataKeys.open(data, eventPlace(id)),

    /** A receiver may echo what it was sent. */
    sealResponse: (eventId: string, excerpt: string) =>
      dataKeys.seal(JSON.stringify(excerpt), responsePlace(eventId)),
    openResponse: (eventId: string, excerpt: string) =>
      JSON.parse(dataKeys.open(excerpt, responsePlace(eventId))) as string,

    sealReply: (key: ReplyKey, json: string) => dataKeys.seal(json, replyPlace(key)),
    openReply: (key: ReplyKey, reply: string) => dataKeys.open(reply, replyPlace(key)),

    /** A plain digest would show whose email a request has to whoever tries them all. */
    digest: (digest: string) => dataKeys.index(digest, digestPlace),
    digests: (digest: string) => dataKeys.indexes(digest, digestPlace),
  };
}
