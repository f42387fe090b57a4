/** The server's log: JSON lines on stderr, without keys and without what payers told about themselves. */
import { destination, pino, type Logger } from 'pino';
import type { LogLevel } from './config.js';

const secret = [
  'authorization',
  'key',
  'secretKey',
  'email',
  'fullName',
  'phoneNumber',
  'customer',
  'customerDetails',
];

export function createLog(level: LogLevel): Logger {
  const options = {
    level,
    redact: { paths: secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  return pino(options, destination({ fd: 2, sync: true }));
}
