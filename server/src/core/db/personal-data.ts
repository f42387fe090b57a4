/**
 * Payers' and people's data as rows keep it: encrypted if there is a data key, and bound to its row and column, so
 * that a value that is moved to another row cannot be read there. Searches use an index value next to it: see
 * `DataKeys.index`.
 */
import * as z from 'zod/mini';
import type { DataKeys } from '../shared/data-keys.js';
import type { PersonalIndex } from './data-policy.js';
import { fields, jsonCodec, placed, stringRecord, type Codec } from './codecs.js';
import type { CustomerTable, OutboxTable, PaymentRow, Schema } from './schema.js';

const named = { fullName: z.optional(z.string()), phoneNumber: z.optional(z.string()) };

/** The JSON inside encrypted columns. */
export const sealedJson = {
  /** The payer, and the details about them. */
  payer: codecOf(
    'payments.payer',
    z.object({ description: z.string(), email: z.optional(z.string()), ...named }),
  ),
  /** A customer's own data. */
  person: codecOf('customers.person', z.object({ email: z.string(), ...named })),
  /** The merchant's own keys and values. */
  paymentMetadata: codecOf('payments.metadata', stringRecord),
  event: codecOf('outbox.data', fields),
  responseExcerpt: codecOf('webhook_tries.response_excerpt', z.string()),
  reply: codecOf('idempotency_replies.reply', fields),
  /** Replaced secrets of webhooks, newest first. Each also signs until then (real time, epoch milliseconds). */
  previousSecrets: codecOf(
    'webhook_endpoints.former_secrets',
    z.readonly(z.array(z.object({ secret: z.string(), until: z.number() }))),
  ),
};

/** @param place the column, which errors name */
export function codecOf<T, Stored>(place: string, shape: z.ZodMiniType<T, Stored>): Codec<T, string> {
  return placed(place, jsonCodec(shape));
}

export type Payer = ReturnType<typeof sealedJson.payer.read>;
export type Person = ReturnType<typeof sealedJson.person.read>;

/**
 * Columns that are each sealed on their own, of a table whose rows have an id: texts that people and shops wrote.
 * Empty texts and nulls stay as they are.
 */
export interface Sealed<Column extends string = string> {
  readonly table: string;
  readonly columns: readonly Column[];
}

export const sealedColumns = <const Column extends string>(
  table: string,
  ...columns: Column[]
): Sealed<Column> => ({ table, columns });

/** The core's encrypted columns. */
export const sealed = {
  payments: sealedColumns('payments', 'redirect_url', 'metadata'),
  earlierEmails: sealedColumns('customer_earlier_emails', 'email'),
  bankAccounts: sealedColumns('bank_accounts', 'account_number', 'account_name'),
  auditIdentities: sealedColumns('audit_identities', 'value'),
};

type SealedRow<Column extends string> = { readonly id: string } & Readonly<
  Partial<Record<Column, string | null>>
>;

/** In front of a text that is stored as it is, and could be taken for an encrypted one. */
const escape = '\\';

type Cells = Readonly<Record<string, unknown>>;
const textOf = (row: Cells, column: string): string => {
  const value = row[column];
  return typeof value === 'string' ? value : '';
};

type Owned = Pick<PaymentRow, 'id' | 'merchant_id'>;

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
  const accountIndex = (merchantId: string) => `bank_accounts.number_index of ${merchantId}`;
  // Stored indexes of a module's table are made with it too, so it keeps this name.
  const personIndex = (merchantId: string) => `people.email_index of ${merchantId}`;

  function sealText(text: string, place: string): string {
    if (text === '') return text;
    if (dataKeys.current !== undefined) return dataKeys.seal(text, place);
    return /^(sealed:|\\)/.test(text) ? escape + text : text;
  }
  const openText = (stored: string, place: string): string =>
    stored.startsWith(escape) ? stored.slice(escape.length) : dataKeys.open(stored, place);

  function changeTexts<Column extends string, Row extends SealedRow<Column>>(
    { table, columns }: Sealed<Column>,
    row: Row,
    change: (text: string, place: string) => string,
  ): Row {
    const changed: Record<string, unknown> = { ...row };
    for (const column of columns) {
      const value = changed[column];
      if (typeof value === 'string') changed[column] = change(value, `${table}.${column} of ${row.id}`);
    }
    // The cast is safe: texts became texts.
    return changed as Row;
  }

  const payerIndexOf = (merchantId: string, { email }: Payer) =>
    email === undefined ? null : dataKeys.index(email.toLowerCase(), payerIndex(merchantId));
  const emailIndexOf = (merchantId: string, email: string) =>
    dataKeys.index(email.toLowerCase(), emailIndex(merchantId));
  const personIndexesOf = (merchantId: string, { email, phoneNumber }: Person) => ({
    email_index: emailIndexOf(merchantId, email),
    phone_index: phoneNumber === undefined ? null : dataKeys.index(phoneNumber, phoneIndex(merchantId)),
  });
  const colleagueIndex = (merchantId: string, email: string) =>
    dataKeys.index(email, personIndex(merchantId));

  const indexes: Readonly<Record<PersonalIndex, (row: Cells, merchantId: string) => Cells>> = {
    payer: (row, merchantId) => ({
      payer_index: payerIndexOf(merchantId, sealedJson.payer.read(textOf(row, 'payer'))),
    }),
    person: (row, merchantId) => personIndexesOf(merchantId, sealedJson.person.read(textOf(row, 'person'))),
    earlierEmail: (row, merchantId) => ({ email_index: emailIndexOf(merchantId, textOf(row, 'email')) }),
    account: (row, merchantId) => ({
      number_index: dataKeys.index(textOf(row, 'account_number'), accountIndex(merchantId)),
    }),
    colleague: (row, merchantId) => ({ email_index: colleagueIndex(merchantId, textOf(row, 'email')) }),
    identity: (row, merchantId) => ({
      email_index: row['email_index'] === null ? null : colleagueIndex(merchantId, textOf(row, 'value')),
    }),
  };

  return {
    isCurrent: dataKeys.isCurrent,
    /** Servers may encrypt with different keys now, and so write different index values. */
    isRotating: dataKeys.ids.length > 1,

    /** A row as it is stored. */
    sealRow: <Column extends string, Row extends SealedRow<Column>>(of: Sealed<Column>, row: Row): Row =>
      changeTexts(of, row, sealText),
    /** A row that was read, with its texts. */
    openRow: <Column extends string, Row extends SealedRow<Column>>(of: Sealed<Column>, row: Row): Row =>
      changeTexts(of, row, openText),

    sealText,
    openText,

    /** The index values of a row whose personal data is open, under the current key. */
    indexColumns: (index: PersonalIndex, row: Cells): Cells =>
      indexes[index](row, textOf(row, 'merchant_id')),

    /** The index that finds a bank account's number. */
    accountIndex: (merchantId: string, number: string) => dataKeys.index(number, accountIndex(merchantId)),
    accountIndexes: (merchantId: string, number: string) =>
      dataKeys.indexes(number, accountIndex(merchantId)),
    /** The index that finds a colleague's email, in lower case. */
    colleagueIndex,
    colleagueIndexes: (merchantId: string, email: string) => dataKeys.indexes(email, personIndex(merchantId)),

    payerColumns: (
      { id, merchant_id: merchantId }: Owned,
      payer: Payer,
    ): Pick<PaymentRow, 'payer' | 'payer_index'> => ({
      payer: dataKeys.seal(sealedJson.payer.write(payer), payerPlace(id)),
      payer_index: payerIndexOf(merchantId, payer),
    }),
    payer: ({ id, payer }: Pick<PaymentRow, 'id' | 'payer'>) =>
      sealedJson.payer.read(dataKeys.open(payer, payerPlace(id))),
    /** The values that a payer's payments may have as `payer_index`. */
    payerIndexes: (merchantId: string, email: string) =>
      dataKeys.indexes(email.toLowerCase(), payerIndex(merchantId)),

    personColumns: (
      { id, merchant_id: merchantId }: Owned,
      { email, fullName, phoneNumber }: Person,
    ): Pick<CustomerTable, 'person' | 'email_index' | 'phone_index'> => ({
      person: dataKeys.seal(sealedJson.person.write({ email, fullName, phoneNumber }), personPlace(id)),
      ...personIndexesOf(merchantId, { email, phoneNumber }),
    }),
    person: ({ id, person }: Pick<CustomerTable, 'id' | 'person'>) =>
      sealedJson.person.read(dataKeys.open(person, personPlace(id))),
    emailIndex: emailIndexOf,
    emailIndexes: (merchantId: string, email: string) =>
      dataKeys.indexes(email.toLowerCase(), emailIndex(merchantId)),
    phoneIndexes: (merchantId: string, phoneNumber: string) =>
      dataKeys.indexes(phoneNumber, phoneIndex(merchantId)),

    sealEvent: (id: string, json: string) => dataKeys.seal(json, eventPlace(id)),
    openEvent: ({ id, data }: Pick<OutboxTable, 'id' | 'data'>) => dataKeys.open(data, eventPlace(id)),

    /** Encrypted like the event, since a receiver may echo it. */
    sealResponse: (eventId: string, excerpt: string) =>
      dataKeys.seal(sealedJson.responseExcerpt.write(excerpt), responsePlace(eventId)),
    openResponse: (eventId: string, excerpt: string) =>
      sealedJson.responseExcerpt.read(dataKeys.open(excerpt, responsePlace(eventId))),

    sealReply: (key: ReplyKey, json: string) => dataKeys.seal(json, replyPlace(key)),
    openReply: (key: ReplyKey, reply: string) => dataKeys.open(reply, replyPlace(key)),

    /** A plain digest would reveal a request's email to anyone who tries them all. */
    digest: (digest: string) => dataKeys.index(digest, digestPlace),
    digests: (digest: string) => dataKeys.indexes(digest, digestPlace),
  };
}
