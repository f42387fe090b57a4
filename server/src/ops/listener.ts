/** The listening socket: open before the server is ready, and closed without cutting off anybody. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Listener {
  /** `http://HOST:PORT` with the port that was taken. */
  readonly url: string;
  /** Who answers from now on; until then every request is told to come back. */
  serve(handler: RequestListener): void;
  /**
   * Goes on for a moment, telling every client with its answer that the connection ends, so that whoever has connected
   * already is served; then takes no more connections and waits for the requests under way.
   * @param onLate called `drainMs` after that, before the connections that are left are cut
   */
  close(lingerMs: number, drainMs: number, onLate: () => void): Promise<void>;
}

/** @throws when the address cannot be listened on */
export async function listen(host: string, port: number): Promise<Listener> {
  let answer: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': '1' });
    response.end(
      JSON.stringify({ status: 'error', message: 'Starting', data: { code: 'service_unavailable' } }),
    );
  };
  const underWay = new Set<ServerResponse>();
  let isClosing = false;
  const server = createServer((request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (isClosing) response.shouldKeepAlive = false;
    answer(request, response);
  });
  // Whoever sends a request slower than this is cut off.
  server.requestTimeout = 60_000;
  server.listen(port, host);
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${taken}`,
    serve(handler) {
      answer = handler;
    },
    async close(lingerMs, drainMs, onLate) {
      isClosing = true;
      for (const response of underWay) response.shouldKeepAlive = false;
      if (lingerMs > 0) await delay(lingerMs);
      const closed = once(server, 'close');
      server.close();
      // A kept-alive connection that becomes idle after `close` would stay for its whole timeout.
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
