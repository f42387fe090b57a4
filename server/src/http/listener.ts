/** The listening socket: open before the server is ready, and closed without cutting off anybody. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';

export interface Listener {
  /** `http://HOST:PORT` with the port that was taken. */
  readonly url: string;
  /** Who answers from now on; until then every request is told to come back. */
  serve(handler: RequestListener): void;
  /**
   * Takes no more connections and waits for the requests under way.
   * @param onLate called after `drainMilliseconds`, before the connections that are left are cut
   */
  close(drainMilliseconds: number, onLate: () => void): Promise<void>;
}

/** @throws when the address cannot be listened on */
export async function listen(host: string, port: number): Promise<Listener> {
  let answer: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': '1' });
    response.end(
      JSON.stringify({ status: 'error', message: 'Starting', data: { code: 'service_unavailable' } }),
    );
  };
  const server = createServer((request, response) => answer(request, response));
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
    async close(drainMilliseconds, onLate) {
      const closed = once(server, 'close');
      server.close();
      // A kept-alive connection that becomes idle after `close` would stay for its whole timeout.
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const late = setTimeout(() => {
        onLate();
        server.closeAllConnections();
      }, drainMilliseconds);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}
