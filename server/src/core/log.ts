/** The server's log: JSON lines on stderr, without keys and without payers' personal data. */
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './config.js';

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
export function createLog(level: LogLevel, stream: DestinationStream = stderr()): Logger {
  return pino(
    {
      level,
      redact: {
        paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[redacted]',
      },
      serializers: { err: describeError },
      hooks: { streamWrite: mask },
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

/**
 * The parts of an error that are logged: type, message, code, stack, cause, and the names of the database objects that
 * it is about. Other properties are never logged, because drivers put rows and parameters there.
 */
export function describeError(error: unknown, depth = 0): unknown {
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
