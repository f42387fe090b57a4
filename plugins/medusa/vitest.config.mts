import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 180_000,
    // Medusa migrates its database first, which takes 15 seconds, and minutes on a busy machine.
    hookTimeout: 300_000,
  },
});
