/** The listening socket: opens before the server is ready, and closes gracefully. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';

export interface Listener {
  /** `http://HOST:PORT` with the actual port. */
  readonly url: string;
  /** Starts to handle requests. Until then every request gets 503 with `Retry-After`. */
  serve(handler: RequestListener): void;
  /**
   * Closes in two steps. For `lingerMs` it still accepts requests, and each reply has `Connection: close`, so that
   * clients with open connections are served and then leave. After that it accepts no more connections and waits for the
   * requests in flight.
   * @param onLate called if requests are still running `drainMs` later, before their connections are cut
   */
  close(lingerMs: number, drainMs: number, onLate: () => void): Promise<void>;
}

/** Longer than a phone that changes its network needs, and less than a stranger needs to hold many connections. */
const longestStopMs = 8000;

export interface ListenerOptions {
  /** The time for which a connection stays open without a request, 75 s by default. */
  readonly keepAliveSeconds?: number;
  /** The longest pause in a request before it is complete. */
  readonly stopMs?: number;
}

/** @throws if the address is in use or not available */
export async function listen(
  host: string,
  port: number,
  { keepAliveSeconds = 75, stopMs = longestStopMs }: ListenerOptions = {},
): Promise<Listener> {
  let handle: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': '1' });
    response.end(
      JSON.stringify({
        status: 'error',
        message: 'The server is starting. Try again in a second',
        data: { code: 'service_unavailable' },
      }),
    );
  };
  const inFlight = new Set<ServerResponse>();
  let isClosing = false;
  const server = createServer((request, response) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
    if (isClosing) response.shouldKeepAlive = false;
    // Destroys a request that is not complete. A reply may take longer: without a listener, Node.js would destroy it too.
    request.setTimeout(stopMs, () => request.destroy());
    response.on('timeout', () => undefined);
    request.url = originForm(request.url ?? '/');
    handle(request, response);
  });
  // Longer than proxies keep idle connections: a request that arrives while this side closes gets no reply.
  server.keepAliveTimeout = keepAliveSeconds * 1000;
  // Clients that take longer than this to send a request are disconnected. A shorter limit would end idle connections too.
  server.headersTimeout = server.keepAliveTimeout + 5000;
  server.requestTimeout = server.headersTimeout;
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${actualPort}`,
    serve(handler) {
      handle = handler;
    },
    async close(lingerMs, drainMs, onLate) {
      isClosing = true;
      for (const response of inFlight) response.shouldKeepAlive = false;
      if (lingerMs > 0) {
        await delay(lingerMs);
        // A process that was too busy sees that the time is up first. Connections that came until now are accepted
        // and read before an immediate runs; closed earlier, the system would reset them.
        await immediate();
      }
      const closed = once(server, 'close');
      server.close();
      // Without this, a keep-alive connection that becomes idle after `close` would stay open until its timeout.
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const late = setTimeout(() => {
        onLate();
        server.closeAllConnections();
      }, drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}

/** Some clients send the whole URL as if to a proxy; a server must accept it (RFC 9112, section 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
