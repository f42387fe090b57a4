/** A mail server that keeps what it gets. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Letter extends Email {
  readonly recipients: readonly string[];
  /** The lines as they came. */
  readonly raw: string;
}

export interface Sink {
  readonly url: string;
  readonly letters: Letter[];
  /** Ends a connection without a word. */
  hangUp(sessionId: string): void;
  stop(): Promise<void>;
}

/**
 * @param options its rules, such as a refusal of recipients
 * @param port to listen on again after a stop
 * @param onLetter called with a stored message, and awaited, before the reply that confirms it
 */
export async function openSink(
  options: SMTPServerOptions = {},
  port = 0,
  onLetter: (letter: Letter, sessionId: string) => Promise<void> | void = () => undefined,
): Promise<Sink> {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    ...options,
    onData(stream, { envelope, id }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        const recipients = envelope.rcptTo.map(({ address }) => address);
        void PostalMime.parse(raw)
          .then((email) => {
            const letter = { ...email, recipients, raw: raw.toString('latin1') };
            letters.push(letter);
            return onLetter(letter, id);
          })
          .then(() => done(), done);
      });
    },
  });
  server.on('error', () => undefined);
  const listening: Server = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    letters,
    hangUp(sessionId) {
      for (const connection of server.connections)
        if (connection.id === sessionId) connection._socket.destroy();
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
