/** Tests that run in Node: contract, client and server from the TypeScript sources, and, as a project of its own, the main job end to end on the build. */
import { tmpdir } from 'node:os';
import { env } from 'node:process';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';
import { memoryFolder } from './scripts/memory-folder.mjs';
import SlowestFirst from './scripts/slowest-first.mjs';

const disk = tmpdir();
// A stalled machine must not cost a whole run of the gate. Tests that passed only on the second run are listed at its
// end.
const retry = env['CI'] === 'true' ? 1 : 0;
// A soak runs long tests too.
const isLong = env['TEST_TURN'] === 'long' || env['SOAK'] !== undefined;
const limitMs = isLong ? 180_000 : 60_000;
// For the servers that the global setups start, and for the workers. The e2e project keeps to the disk: it installs packages.
// So does traffic for some minutes, whose waits are published.
const memory = env['SOAK_MINUTES'] ? undefined : memoryFolder();
if (memory !== undefined) env['TMPDIR'] = memory;

export default defineConfig({
  test: {
    projects: [
      {
        ssr: { resolve: { conditions: ['@crypto-checkout/source', ...defaultServerConditions] } },
        test: {
          name: 'node',
          retry,
          include: ['test/**/*.test.ts', 'server/test/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts', '**/*.e2e*.test.ts', 'test/e2e/**', '**/node_modules/**'],
          globalSetup: ['test/postgres.setup.ts', 'test/litecoind.setup.ts'],
          setupFiles: ['server/test/guard.setup.ts'],
          // Long enough for a machine on which other work is running, as the long run itself has much of.
          testTimeout: limitMs,
          hookTimeout: limitMs,
          // Many files wait for timers and processes, so that four at once keep two cores busy. Each imports the sources once. The
          // long ones start more processes, and have pages next to them: with four, PostgreSQL answered too late.
          maxWorkers: isLong ? 3 : 4,
          // Those of one file that run at the same time build servers, and more of them would keep the other workers waiting.
          maxConcurrency: 3,
          // Importing the sources again for each file took a quarter of all processor time.
          isolate: false,
          // A test that returns early would pass without having tested anything.
          // Polls wait for other processes, which take long on a busy machine.
          expect: { requireAssertions: true, poll: { timeout: 5000 } },
        },
      },
      {
        test: {
          name: 'e2e',
          retry,
          env: { TMPDIR: disk },
          include: ['test/e2e/**/*.test.ts', 'test/field/**/*.e2e*.test.ts'],
          globalSetup: ['test/litecoind.setup.ts', 'test/engines.setup.ts', 'test/browser.setup.ts'],
          // Each step has a limit of its own, whose error names what is missing. This one is for many slow steps together.
          testTimeout: 180_000,
          hookTimeout: 120_000,
          // Each file drives a browser and a server, and mostly waits for pages, blocks and timers.
          maxWorkers: 2,
          isolate: false,
          sequence: { groupOrder: 1 },
          // Pages and blocks take long on a busy machine.
          expect: { poll: { timeout: 10_000 } },
        },
      },
    ],
    pool: 'forks',
    sequence: { sequencer: SlowestFirst },
  },
});
