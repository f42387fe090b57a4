/** Connections that proxies keep: each second from 1 to 80 of idleness, and no request may be lost. */
import { expect, it, onTestFinished } from 'vitest';
import { sqlite } from '../support/engines.js';
import { openKept } from '../support/kept-connection.js';
import { startServer } from '../support/server.js';

/** As PHP, Java and Go clients, and proxies, keep connections: none of them asks the server whether it still has them. */
const eachSecond = Array.from({ length: 80 }, (_, index) => index + 1);
const limit = 75;

// nodejs/node#20256, opengovsg/postmangovsg#1231
it(
  'a create after any time of idleness is answered, or the connection was closed in good time',
  { timeout: 150_000 },
  async () => {
    const server = await startServer({ engine: sqlite });
    onTestFinished(() => server.stop());
    const outcomes = await Promise.all(
      eachSecond.map(async (seconds) => {
        const kept = await openKept(server);
        expect(await kept.create()).toMatchObject({ status: 200 });
        await kept.idle(seconds);
        if (!kept.isOpen()) return 'closed';
        const answer = await kept.create();
        kept.close();
        return answer?.status ?? 'no answer';
      }),
    );
    const byTime = (from: number, to: number) => [...new Set(outcomes.slice(from - 1, to))];
    expect(byTime(1, limit - 1)).toEqual([200]);
    expect(byTime(limit + 2, 80)).toEqual(['closed']);
  },
);
