/** The server's log: lines on stderr, JSON or for people, without keys and without payers' personal data. */
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import * as z from 'zod/mini';
import type { LogFormat, LogLevel } from './config.js';

const secretFields = [
  'authorization',
  'key',
  'secretKey',
  'email',
  'fullName',
  'phoneNumber',
  'customer',
  'customerDetails',
];

/** Patterns of text that must never be logged, anywhere in a line, and their replacements. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b([sp]k_(?:live|test)_)[\w-]+/g, '$1[redacted]'],
  [/\bwhsec_[\w+/=-]+/g, 'whsec_[redacted]'],
  [/\b(bearer)\s+[^\s"\\]+/gi, '$1 [redacted]'],
  // The credentials and the query of a URL: redirect URLs carry tokens.
  [/:\/\/[^\s/"@\\]+@/g, '://[redacted]@'],
  [/\?(?<=:\/\/[^\s"?\\]*\?)[^\s"\\]*/g, '?[redacted]'],
  // Matches only from the start of a word: from each of its letters, a long word would take the square of its length.
  [/(?<![^\s"'<>()=\\])[^\s"'<>()=\\]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
];

/** @param stream written to instead of stderr */
export function createLog(
  level: LogLevel,
  stream: DestinationStream = stderr(),
  format: LogFormat = 'json',
): Logger {
  return pino(
    {
      level,
      redact: {
        paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[redacted]',
      },
      serializers: { err: describeError },
      hooks: { streamWrite: format === 'text' ? (line) => readable(mask(line)) : mask },
    },
    stream,
  );
}

function stderr(): DestinationStream {
  return destination({ fd: 2, sync: true });
}

function mask(line: string): string {
  return masks.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}

/** The fields that a person needs of a line; `err` has more. */
const lineShape = z.catchall(
  z.object({
    level: z.number(),
    time: z.number(),
    msg: z._default(z.string(), ''),
    err: z.optional(z.object({ message: z.optional(z.string()), stack: z.optional(z.array(z.string())) })),
  }),
  z.unknown(),
);

/** Rewrites a JSON line for a person: time, level unless it is information, message, and the other fields. */
function readable(line: string): string {
  const {
    level,
    time,
    msg,
    err,
    pid: _pid,
    hostname: _hostname,
    ...rest
  } = lineShape.parse(JSON.parse(line));
  const name =
    level === pino.levels.values.info ? [] : [(pino.levels.labels[level] ?? `${level}`).toUpperCase()];
  const fields = Object.entries(rest).map(([field, value]) => {
    return `${field}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`;
  });
  const words = [new Date(time).toTimeString().slice(0, 8), ...name, msg, ...fields];
  return `${[words.join(' '), ...(err ? [`  ${err.message ?? ''}`, ...(err.stack ?? [])] : [])].join('\n')}\n`;
}

/**
 * The parts of an error that are logged: type, message, code, stack, cause, and the names of the database objects that
 * it is about. Other properties are never logged, because drivers put rows and parameters there.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, stack, cause } = error;
  const message = messageOf(error);
  return {
    type: name,
    message,
    ...Object.fromEntries(
      ['code', 'syscall', 'constraint', 'table', 'column', 'routine'].flatMap((field) => {
        const value: unknown = Reflect.get(error, field);
        return typeof value === 'string' ? [[field, value]] : [];
      }),
    ),
    // Without the first lines, which repeat the message.
    stack: stack?.split('\n').filter((line) => /^\s+at /.test(line)),
    ...(error instanceof AggregateError &&
      depth < 5 && { errors: error.errors.map((part: unknown) => describeError(part, depth + 1)) }),
    ...(cause !== undefined && depth < 5 && { cause: describeError(cause, depth + 1) }),
  };
}

/** Hides messages that quote data: PostgreSQL quotes values that it cannot parse (class 22), JSON.parse its input. */
function messageOf(error: Error): string {
  const code: unknown = Reflect.get(error, 'code');
  const isQuoting =
    error instanceof SyntaxError || (typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code));
  return isQuoting ? 'A value could not be parsed' : error.message;
}
