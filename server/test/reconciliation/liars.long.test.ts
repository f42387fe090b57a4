/** Random histories among nodes that send wrong data. `SOAK_SEED` replays only one of them, and prints it. */
import { stderr } from 'node:process';
import { describe, expect, it } from 'vitest';
import { enginesOfSoak } from '../support/engines.js';
import { roundsOf, seedsOf, startRound } from '../support/rounds.js';
import { liveAmongLiars, openWorld, type Figures } from './liars.js';

const batchSize = 25;

describe.each(enginesOfSoak)('histories among nodes that send wrong data, on $name', (engine) => {
  const isSqlite = engine.name === 'SQLite';
  const seeds = seedsOf(roundsOf(isSqlite ? { usual: 4, soak: 400 } : { usual: 1, soak: 60 }));
  const batches = Math.ceil(seeds.length / batchSize);
  it.each(Array.from({ length: batches }, (_, index) => index))(
    `each history ends with the chain in the books, and each transfer paid once (batch %i of ${batches})`,
    { timeout: 600_000 },
    async (batch) => {
      startRound(`liars on ${engine.name}`, batch, batches);
      const world = await openWorld(engine);
      const sums = new Map<string, number>();
      const failures: string[] = [];
      try {
        for (const seed of seeds.slice(batch * batchSize, (batch + 1) * batchSize)) {
          const figures = await liveAmongLiars(world, seed).catch((error: unknown): Figures => {
            const { message, cause } = error as Error;
            failures.push(`Seed ${seed}: ${message}\n${cause instanceof Error ? cause.stack : ''}`);
            stderr.write(`liars on ${engine.name}: ${failures.at(-1)}\n`);
            return {};
          });
          if ('command: chains rescan' in figures)
            stderr.write(`liars on ${engine.name}: seed ${seed} needed a rescan\n`);
          for (const [name, count] of Object.entries(figures)) {
            sums.set(name, (sums.get(name) ?? 0) + count);
          }
        }
      } finally {
        await world.close();
      }
      stderr.write(`liars on ${engine.name}: ${JSON.stringify(Object.fromEntries([...sums].sort()))}\n`);
      expect(failures.join('\n\n')).toBe('');
    },
  );
});
