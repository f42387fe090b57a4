/** An address in front of PostgreSQL, which can be cut as if the database had stopped, and leads to another server after a failover. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface Address {
  /** In the format of `DATABASE_URL`. */
  readonly url: string;
  /** Ends all connections, and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again. */
  mend(): Promise<void>;
  /** Leads new connections to another server. Those that are open stay where they are. */
  move(target: string): void;
  /** Keeps all connections, and passes nothing on, as a network that drops packets. New ones get no answer. */
  freeze(): void;
  stop(): Promise<void>;
}

/**
 * @param target URL of a PostgreSQL
 * @param change changes the bytes on their way to it
 */
export async function openAddress(
  target: string,
  change: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<Address> {
  let upstreamOf = new URL(target);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const accept = (client: Socket) => {
    if (isFrozen) {
      sockets.add(client.on('error', () => undefined));
      return;
    }
    const upstream = connect(Number(upstreamOf.port || 5432), upstreamOf.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client
      .pipe(new Transform({ transform: (bytes: Buffer, _encoding, done) => done(undefined, change(bytes)) }))
      .pipe(upstream)
      .pipe(client);
  };
  let listening: Server | undefined;
  let at = 0;
  const mend = async () => {
    listening = createServer(accept).listen(at, '127.0.0.1');
    await once(listening, 'listening');
    at = (listening.address() as AddressInfo).port;
  };
  const cut = async () => {
    const closed = listening && once(listening, 'close');
    listening?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    listening = undefined;
  };
  await mend();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(at);
  return {
    url: url.href,
    cut,
    mend,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    move(next) {
      isFrozen = false;
      upstreamOf = new URL(next);
    },
    stop: cut,
  };
}
