/** Sends messages over SMTP. */
import { readFileSync } from 'node:fs';
import type { Config } from '../../core/config.js';
import { settingsOf } from '../../core/config.js';
import { refuseExposedFile } from '../../core/private-file.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { StartError } from '../../core/shared/start-error.js';
import type { Message } from './compose.js';
import { mailSettings, senderPattern } from './settings.js';

export interface Envelope extends Message {
  /** Identifies the message, so that a receiver recognises a repetition. */
  readonly id: string;
  readonly to: string;
  readonly fromName: string;
  readonly replyTo: string | undefined;
  readonly offUrl: string;
}

/**
 * `refused`: this message, for good. `deferred`: this message, for now. `unreachable`: the server takes none now.
 */
export interface Failure {
  readonly kind: 'refused' | 'deferred' | 'unreachable';
  readonly reason: string;
}

export interface Transport {
  /** @returns why it was not sent; undefined if the server has taken it */
  send(envelope: Envelope): Promise<Failure | undefined>;
  close(): void;
}

/** Milliseconds. */
export interface MailLimits {
  /** For a connection, a greeting, or a sign-in. */
  readonly greetingMs: number;
  /** For a reply. A server may scan a message before it confirms it: who hangs up then sends it again, and it comes twice. */
  readonly replyMs: number;
  /** For one message in all, of a server that keeps talking. */
  readonly messageMs: number;
}

export const mailLimits: MailLimits = { greetingMs: 10_000, replyMs: 120_000, messageMs: 180_000 };
/** A message that is being sent when the server stops has this long to be confirmed: it would otherwise come twice. */
const stopMs = 5000;
/** Enough of a server's words to search for. */
const shownReason = 200;

/** Undefined if no mail server is configured. @throws StartError */
export function createTransports(
  config: Config,
  { greetingMs, replyMs, messageMs } = mailLimits,
): { open(signal?: AbortSignal): Promise<Transport> } | undefined {
  const settings = settingsOf(config, mailSettings);
  const {
    SMTP_URL: url,
    MAIL_FROM: sender,
    MAIL_DKIM_KEY_FILE: file,
    MAIL_DKIM_SELECTOR: selector,
  } = settings;
  if (url === undefined) return undefined;
  if (sender === undefined) throw new StartError('MAIL_FROM: needed with SMTP_URL');
  const [, from = sender] = senderPattern.exec(sender) ?? [];
  const [, domain = ''] = from.split('@');
  if ((file === undefined) !== (selector === undefined))
    throw new StartError('MAIL_DKIM_KEY_FILE, MAIL_DKIM_SELECTOR: set both or none');
  const dkim =
    file === undefined || selector === undefined
      ? undefined
      : { domainName: domain, keySelector: selector, privateKey: readKey(file) };
  const { hostname } = new URL(url);
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return { open };

  async function open(signal?: AbortSignal): Promise<Transport> {
    // Loaded when there is something to send: a command rarely has.
    const { default: nodemailer } = await import('nodemailer');
    const options = {
      url,
      requireTLS: !isHere,
      connectionTimeout: greetingMs,
      greetingTimeout: greetingMs,
      socketTimeout: replyMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    const openPool = () =>
      nodemailer.createTransport({ ...options, pool: true, maxConnections: 1, ...(dkim && { dkim }) });
    let pool = openPool();
    return { send, close: () => pool.close({ force: true }) };

    async function send({ id, to, fromName, replyTo, offUrl, ...message }: Envelope) {
      const sent = pool.sendMail({
        ...message,
        from: { name: fromName, address: from },
        to: { name: '', address: to },
        ...(replyTo !== undefined && { replyTo: { name: fromName, address: replyTo } }),
        messageId: `<${id}@${domain}>`,
        headers: {
          'Auto-Submitted': 'auto-generated',
          'List-Unsubscribe': `<${offUrl}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        },
      });
      try {
        await within(messageMs, sent, signal);
        return undefined;
      } catch (error) {
        const failure = failureOf(error);
        if (failure.kind !== 'unreachable') return failure;
        pool.close({ force: true });
        pool = openPool();
        // A server that takes a new connection has failed at this message only, which may even have arrived.
        if (signal?.aborted === true || !(await isReachable())) return failure;
        return { ...failure, kind: 'deferred' as const };
      }
    }

    async function isReachable(): Promise<boolean> {
      const probe = nodemailer.createTransport({ ...options, socketTimeout: greetingMs });
      try {
        await within(2 * greetingMs, probe.verify(), signal);
        return true;
      } catch {
        return false;
      } finally {
        probe.close();
      }
    }
  }
}

/** Rejects after a time, and soon after the signal aborts. */
async function within<T>(ms: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  let fail: (error: Error) => void;
  const late = new Promise<never>((_resolve, reject) => (fail = reject));
  const failAfter = (limitMs: number, reason: string) =>
    setTimeout(
      () => fail(new Error(`The mail server took longer than ${limitMs / 1000} s${reason}`)),
      limitMs,
    );
  const timers = [failAfter(ms, '')];
  const stop = () => timers.push(failAfter(stopMs, ' while the checkout server was stopping'));
  if (signal?.aborted) stop();
  // Not AbortSignal.any, which leaves a reference in the signal of the job: that lives as long as the server.
  signal?.addEventListener('abort', stop);
  try {
    return await Promise.race([promise, late]);
  } catch (error) {
    promise.catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    for (const timer of timers) clearTimeout(timer);
  }
}

function readKey(file: string): string {
  try {
    refuseExposedFile(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`MAIL_DKIM_KEY_FILE: ${errorMessage(error)}`, { cause: error });
  }
}

/** The server's words, without addresses: `mail list` and the log show them. */
function failureOf(error: unknown): Failure {
  const { code, responseCode } = Object(error) as { code?: unknown; responseCode?: unknown };
  const reason = errorMessage(error)
    .slice(0, 2000)
    .replace(/\p{C}/gu, ' ')
    .replace(/[^\s<>@]{1,64}@[^\s<>@]{1,190}/g, '(an address)')
    .slice(0, shownReason);
  // The others are of the connection or the sign-in, not of the message.
  if (typeof responseCode !== 'number' || (code !== 'EENVELOPE' && code !== 'EMESSAGE'))
    return { kind: 'unreachable', reason };
  return { kind: responseCode >= 500 ? 'refused' : 'deferred', reason };
}
