/** Kills the built server at random moments under load. Everything that it confirmed must still be there afterwards. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  bootstrapKeys,
  expectAllThere,
  expectBooksInOrder,
  pay,
  type Answered,
} from './support/confirmed-work.js';
import { engines } from './support/engines.js';
import { startProcess, type ServerProcess } from './support/process.js';
import { roundsOf, startRound } from './support/rounds.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const streams = 6;

describe.concurrent.each(engines)('a server killed at any moment, on $name', (engine) => {
  it(
    `keeps everything that it confirmed and posts nothing twice, over ${rounds} rounds`,
    { timeout: 60_000 + rounds * 15_000 },
    async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      const env = { DATABASE_URL: databaseUrl, BLOCK_INTERVAL_MS: '100', ...bootstrapKeys };
      const answered = new Map<string, Answered>();
      let server: ServerProcess | undefined;
      try {
        for (let round = 0; round < rounds; round += 1) {
          startRound(`payments on ${engine.name}`, round, rounds);
          server = await startProcess(env);
          const { url } = server;
          const stopped = new AbortController();
          const former = answered.size;
          const running = Array.from({ length: streams }, () => pay(url, answered, stopped.signal));
          await delay(randomInt(150, 900));
          // On a busy machine, nothing may have been answered by then.
          await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(former);
          await server.kill();
          stopped.abort();
          await Promise.all(running);
        }
        server = await startProcess(env);
        await expectAllThere(server.url, answered);
        expect(await server.stop()).toBe(0);
        await expectBooksInOrder(databaseUrl, answered);
      } finally {
        await server?.kill();
        await dispose();
      }
    },
  );
});
