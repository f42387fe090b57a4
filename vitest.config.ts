/** Tests that run in Node: contract, client and server from the TypeScript sources, and, as a project of its own, the main job end to end on the build. */
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        ssr: { resolve: { conditions: ['@crypto-checkout/source', ...defaultServerConditions] } },
        test: {
          name: 'node',
          include: ['test/**/*.test.ts', 'server/test/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts', 'test/e2e/**', '**/node_modules/**'],
          globalSetup: ['test/postgres.setup.ts', 'test/litecoind.setup.ts'],
          // Long enough for a machine on which other work is running.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Most files wait for disks, timers and processes, so that four at once keep two cores busy.
          maxWorkers: 4,
          // Importing the sources anew for each file took a quarter of all processor time.
          isolate: false,
          // A test that returns early would pass without having tested anything.
          // Polls wait for what other processes do, which takes long on a busy machine.
          expect: { requireAssertions: true, poll: { timeout: 5000 } },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/litecoind.setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Each file drives a browser and a server, and mostly waits for pages, blocks and timers.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    pool: 'forks',
  },
});
