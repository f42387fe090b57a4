/** Validates and parses a request, and serializes a reply, by the endpoint's schemas. */
import type { Data, Endpoint, Input } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import { compiled } from '../db/compiled.js';
import { Problem, type FieldError } from '../shared/problem.js';
import type { Reply } from './handler.js';

// zod/mini's default message is just "Invalid input". Only the server needs better ones, so the widget stays small.
z.config(z.locales.en());

interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** @returns throws a Problem `validation_error` that lists the first invalid fields of params, query and body */
export function createValidate<E extends Endpoint>(endpoint: E) {
  const params = parserOf(endpoint.params);
  const query = parserOf(endpoint.query);
  const body = parserOf(endpoint.body);
  const parameters = Object.keys(endpoint.query?.def.shape ?? {});
  return (raw: RawInput): Input<E> => {
    const errors: FieldError[] = [];
    refuseUnknown(raw.query, parameters, errors);
    // The cast is safe: Input<E> is derived from the same three schemas.
    const input = {
      params: params?.(raw.params, errors),
      query: query?.(raw.query, errors),
      body: body ? body(raw.body, errors) : requireObject(raw.body, errors),
    } as Input<E>;
    if (errors.length > 0) throw validationError(errors);
    return input;
  };
}

/** A reply must not be much larger than its request, or a stranger could use up the server's line with a few small ones. */
const mostErrors = 20;
/** The longest text of an error, in characters. A caller chooses the names of its fields. */
const longestText = 300;

function shorten(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}

type Parser = (value: unknown, errors: FieldError[]) => unknown;

function parserOf(schema: z.ZodMiniType | undefined): Parser | undefined {
  if (!schema) return undefined;
  return (value, errors) => {
    const result = compiled(schema).safeParse(value);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues.slice(0, mostErrors)) {
      errors.push({
        path: path.map(String).join('.') || 'body',
        message: isMissing(value, path) ? 'Is required' : message,
      });
    }
    return undefined;
  };
}

/** Schemas have their own messages about the type of a value, which do not say that it is missing. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return false;
    found = Reflect.get(found, name);
  }
  return found === undefined;
}

/** A filter that is ignored would return records that nobody asked for. */
function refuseUnknown(query: RawInput['query'], parameters: readonly string[], errors: FieldError[]): void {
  for (const name of Object.keys(query)) {
    if (parameters.includes(name)) continue;
    if (errors.length === mostErrors) return;
    const known = parameters.length === 0 ? 'no query parameters' : `only ${parameters.join(', ')}`;
    errors.push({ path: name, message: `Unknown query parameter. This endpoint takes ${known}` });
  }
}

/** An endpoint without a body schema accepts any object, but nothing else. */
function requireObject(body: unknown, errors: FieldError[]): undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    errors.push({ path: 'body', message: 'Must be a JSON object' });
  }
  return undefined;
}

function validationError(found: readonly FieldError[]): Problem {
  const errors = found
    .slice(0, mostErrors)
    .map(({ path, message }) => ({ path: shorten(path), message: shorten(message) }));
  const [first] = errors;
  const message = first ? `${first.path}: ${first.message}` : 'The request is not valid';
  return new Problem('validation_error', message, { ...(first && { param: first.path }), errors });
}

/** A handler's reply breaks its contract: a bug in the server. The message names the fields, never their values. */
export class WrongReply extends Error {
  override readonly name = 'WrongReply';
}

/** @returns makes the envelope as JSON, whose message ends with the note, or throws WrongReply. Fields that are not in the contract are dropped */
export function createSerialize<E extends Endpoint>(endpoint: E) {
  const schema = endpoint.data;
  const wrong = (what: string) => new WrongReply(`The reply of ${endpoint.method} ${endpoint.path} ${what}`);
  const kept = new WeakMap<object, string>();
  const serialize = (
    { message: done = endpoint.sample.message, data, pagination }: Reply<Data<E>>,
    note = '',
  ): string => {
    const message = note ? `${done}. ${note}` : done;
    if (endpoint.paginated && !pagination) throw wrong('has no pagination');
    const meta = pagination && { pagination };
    if (!schema) return JSON.stringify({ status: 'success', message, meta });
    const result = compiled(schema).safeParse(data);
    if (!result.success) {
      const fields = result.error.issues.map((issue) => ['data', ...issue.path].join('.'));
      throw wrong(`has invalid fields: ${fields.join(', ')}`);
    }
    return JSON.stringify({ status: 'success', message, data: result.data, meta });
  };
  return (reply: Reply<Data<E>>, note?: string): string => {
    const { data, isKept } = reply;
    if (note || !isKept || typeof data !== 'object' || data === null) return serialize(reply, note);
    const json = kept.get(data) ?? serialize(reply);
    kept.set(data, json);
    return json;
  };
}
