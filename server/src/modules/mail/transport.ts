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

/** A server that says nothing for so long is not waited for. */
const silenceMs = 10_000;
/** A server that keeps talking is not listened to for longer. */
const messageMs = 30_000;
/** Enough of a server's words to search for. */
const shownReason = 200;

/** Undefined if no mail server is configured. @throws StartError */
export function createTransports(config: Config): { open(): Promise<Transport> } | undefined {
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

  async function open(): Promise<Transport> {
    // Loaded when there is something to send: a command rarely has.
    const { default: nodemailer } = await import('nodemailer');
    const transport = nodemailer.createTransport({
      url,
      pool: true,
      maxConnections: 2,
      requireTLS: !isHere,
      connectionTimeout: silenceMs,
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      ...(dkim && { dkim }),
    });
    return { send: (envelope) => deliver(envelope), close: () => transport.close() };

    async function deliver({ id, to, fromName, replyTo, offUrl, ...message }: Envelope) {
      const sent = transport.sendMail({
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
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          transport.close();
          reject(new Error(`The mail server took longer than ${messageMs / 1000} s`));
        }, messageMs);
      });
      try {
        await Promise.race([sent, late]);
        return undefined;
      } catch (error) {
        sent.catch(() => undefined);
        return failureOf(error, to);
      } finally {
        clearTimeout(timer);
      }
    }
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

function failureOf(error: unknown, to: string): Failure {
  const { code, responseCode } = Object(error) as { code?: unknown; responseCode?: unknown };
  const said = errorMessage(error).slice(0, 2000).replace(/\p{C}/gu, ' ').replaceAll(to, '(the payer)');
  const reason = said.slice(0, shownReason);
  // Of the sign-in, not of the message.
  if (code === 'EAUTH' || typeof responseCode !== 'number') return { kind: 'unreachable', reason };
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return { kind: 'unreachable', reason };
  return { kind: responseCode >= 500 ? 'refused' : 'deferred', reason };
}
