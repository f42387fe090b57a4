/** Kills the built server at random moments under load. Everything that it confirmed must still be there afterwards. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'vitest';
import {
  bootstrapKeys,
  expectAllThere,
  expectBooksInOrder,
  keepPaying,
  type Answered,
} from './support/confirmed-work.js';
import { engines } from './support/engines.js';
import { startProcess, type ServerProcess } from './support/process.js';
import { roundsOf, startRound } from './support/rounds.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const streams = 6;

/** SQLite has one server. On PostgreSQL, one of two is killed while the other one keeps running. */
const serversOn = { SQLite: 1, PostgreSQL: 2 } as const;

describe.concurrent.each(engines)('a server killed at any moment, on $name', (engine) => {
  it(
    `A server killed at any moment keeps all that it confirmed and posts nothing twice, over ${rounds} rounds`,
    { timeout: 60_000 + rounds * 15_000 },
    // Concurrent tests have an `expect` each.
    async ({ expect }) => {
      const { url: databaseUrl, dispose } = await engine.create();
      const env = { DATABASE_URL: databaseUrl, BLOCK_INTERVAL_MS: '100', ...bootstrapKeys };
      const answered = new Map<string, Answered>();
      const servers: ServerProcess[] = [];
      const startMissing = async () => {
        while (servers.length < serversOn[engine.name]) servers.push(await startProcess(env));
      };
      try {
        for (let round = 0; round < rounds; round += 1) {
          startRound(`payments on ${engine.name}`, round, rounds);
          await startMissing();
          const stopped = new AbortController();
          const previous = answered.size;
          const running = Array.from({ length: streams }, (_, stream) =>
            keepPaying(servers[stream % servers.length]?.url ?? '', answered, stopped.signal),
          );
          await delay(randomInt(150, 900));
          // On a busy machine, nothing may have been answered by then.
          await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(previous);
          const [victim] = servers.splice(randomInt(servers.length), 1);
          await victim?.kill();
          stopped.abort();
          await Promise.all(running);
        }
        await startMissing();
        for (const { url } of servers) await expectAllThere(url, answered);
        const exits = await Promise.all(servers.splice(0).map((server) => server.stop()));
        expect(exits).toEqual(exits.map(() => 0));
        await expectBooksInOrder(databaseUrl, answered);
        if (rounds > 1) {
          const sent = [...answered.values()].reduce((sum, one) => sum + one.sent.length, 0);
          console.log(
            `kill -9 on ${engine.name}, ${exits.length} servers: rounds ${rounds}, payments ${answered.size}, transfers ${sent}; lost 0, doubled 0, ledger in order`,
          );
        }
      } finally {
        for (const server of servers) await server.kill();
        await dispose();
      }
    },
  );
});
