/** Builds the script of the page for refunds, `server/dist/claim/claim.js`. */
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  resolve: { conditions: ['@crypto-checkout/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'server/dist/claim',
    target: 'es2022',
    lib: { entry: 'claim/refund-claim.ts', formats: ['es'], fileName: () => 'claim.js' },
    rolldownOptions: { output: { minify: true } },
  },
});
