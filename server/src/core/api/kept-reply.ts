/**
 * The form in which a reply is kept for its Idempotency-Key. A payment's lists only grow, so with a copy in every reply
 * the database would grow with the square of the changes. Only their length is kept, and they are read again.
 */
import { paymentRecord } from 'crypto-checkout/contract';
import { sealedJson } from '../db/personal-data.js';
import * as z from 'zod/mini';

/** New entries come last, so a list's first entries are those that it had before. */
const growingLists = ['transactionTimeLog', 'receipts', 'addressSentFrom'] as const;

type Fields = Record<string, unknown>;

/** @param json a reply of the API */
export function shortenReply(json: string): string {
  if (!/"claimUrl":|"transactionTimeLog":\[/.test(json)) return json;
  const reply = sealedJson.reply.read(json);
  // Anyone with the link of a refund's claim can redirect its money, so the database must never hold one.
  if (isObject(reply['data'])) delete reply['data']['claimUrl'];
  const payment = paymentIn(reply);
  for (const name of growingLists) {
    const list = payment?.[name];
    if (payment && Array.isArray(list)) payment[name] = list.length;
  }
  return JSON.stringify(reply);
}

/** @param readPayment reads a payment as the caller sees it */
export async function restoreReply(
  json: string,
  readPayment: (id: string) => Promise<unknown>,
): Promise<string> {
  if (!/"transactionTimeLog":\d/.test(json)) return json;
  const reply = sealedJson.reply.read(json);
  const payment = paymentIn(reply);
  if (!payment) return json;
  const current: Fields = z.parse(paymentRecord, await readPayment(String(payment['id'])));
  for (const name of growingLists) {
    const length = payment[name];
    const list = current[name];
    if (typeof length !== 'number' || !Array.isArray(list)) continue;
    // A long log has lost its first entries since.
    const lost = name === 'transactionTimeLog' ? unlistedIn(current) - unlistedIn(payment) : 0;
    payment[name] = list.slice(0, Math.max(0, length - lost));
  }
  return JSON.stringify(reply);
}

function unlistedIn(payment: Fields): number {
  return Number(payment['unlistedLogEntries'] ?? 0);
}

/** The payment in a reply's `data`, or in the `payment` there. */
function paymentIn(reply: unknown): Fields | undefined {
  if (!isObject(reply) || !isObject(reply['data'])) return undefined;
  const { data } = reply;
  const payment = 'payment' in data ? data['payment'] : data;
  return isObject(payment) && 'transactionTimeLog' in payment ? payment : undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
