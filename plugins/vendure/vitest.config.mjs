/** Tests of the plug-in: a real shop and a real crypto-checkout server, each a process of its own. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file has two servers.
    fileParallelism: false,
    isolate: false,
    pool: 'forks',
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 100 } },
    retry: process.env['CI'] === 'true' ? 1 : 0,
  },
});
