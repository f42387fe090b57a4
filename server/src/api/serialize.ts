/** Writes a handler's reply as the endpoint's contract says it. */
import type { Data, Endpoint } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { Reply } from './handler.js';

/** A handler answered what its contract does not allow: a bug of ours. Names the fields, never their values. */
export class WrongReply extends Error {
  override readonly name = 'WrongReply';
}

/**
 * The envelope as JSON, without what the contract does not name.
 * @throws WrongReply
 */
export type Serialize<E extends Endpoint> = (reply: Reply<Data<E>>) => string;

export function createSerialize<E extends Endpoint>(endpoint: E): Serialize<E> {
  const schema = endpoint.data && z.compile(endpoint.data);
  const wrong = (what: string) => new WrongReply(`The reply of ${endpoint.method} ${endpoint.path} ${what}`);
  return ({ message, data, pagination }) => {
    if (endpoint.paginated && !pagination) throw wrong('lacks its pagination');
    const meta = pagination && { pagination };
    if (!schema) return JSON.stringify({ status: 'success', message, meta });
    const result = schema.safeParse(data);
    if (!result.success) {
      throw wrong(
        `is wrong in ${result.error.issues.map((issue) => ['data', ...issue.path].join('.')).join(', ')}`,
      );
    }
    return JSON.stringify({ status: 'success', message, data: result.data, meta });
  };
}
