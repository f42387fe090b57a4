/** Serializes a handler's reply by the endpoint's contract. */
import type { Data, Endpoint } from 'crypto-checkout/contract';
import { safeParse } from './compile.js';
import type { Reply } from './handler.js';

/** A handler's reply breaks its contract: a bug in the server. The message names the fields, never their values. */
export class WrongReply extends Error {
  override readonly name = 'WrongReply';
}

/**
 * Returns the envelope as JSON. Fields that are not in the contract are dropped.
 * @throws WrongReply
 */
export type Serialize<E extends Endpoint> = (reply: Reply<Data<E>>) => string;

export function createSerialize<E extends Endpoint>(endpoint: E): Serialize<E> {
  const schema = endpoint.data;
  const wrong = (what: string) => new WrongReply(`The reply of ${endpoint.method} ${endpoint.path} ${what}`);
  return ({ message = endpoint.sample.message, data, pagination }) => {
    if (endpoint.paginated && !pagination) throw wrong('has no pagination');
    const meta = pagination && { pagination };
    if (!schema) return JSON.stringify({ status: 'success', message, meta });
    const result = safeParse(schema, data);
    if (!result.success) {
      const fields = result.error.issues.map((issue) => ['data', ...issue.path].join('.'));
      throw wrong(`has invalid fields: ${fields.join(', ')}`);
    }
    return JSON.stringify({ status: 'success', message, data: result.data, meta });
  };
}
