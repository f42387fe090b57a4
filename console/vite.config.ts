/** Builds the console's pages: `server/dist/console/console.js`, its style sheet, and a chunk for each page; and the counter. */
import { defineConfig } from 'vite';

const groups = [
  {
    name: 'base',
    test: /console\/(attention|page|format|period|zone|messages\/(pick|common)|ui\/(button|details|copy|empty|filter-bar|list|more|period|table|teach-tag))\.ts$|contract\/(fields|decimal|endpoint|home|console-(cases|go-live))\.ts$/,
  },
];

/** @param mode `counter`: the page for a shop's counter, and its worker, which share no file with the console's pages */
export default defineConfig(({ mode }) => ({
  publicDir: false,
  // Chunks import each other by relative address, no matter what path the server has in front.
  base: './',
  resolve: { conditions: ['@crypto-checkout/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'server/dist/console',
    emptyOutDir: mode !== 'counter',
    target: 'es2022',
    // The server names a page's files in its document, which it knows from the manifest. Vite's own preloads would come later, by a script.
    modulePreload: false,
    ...(mode !== 'counter' && { manifest: 'manifest.json' }),
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rolldownOptions: {
      input: mode === 'counter' ? ['console/counter.ts', 'console/counter-worker.ts'] : 'console/console.ts',
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        assetFileNames: `${mode === 'counter' ? mode : 'console'}.[ext]`,
        // Each file costs a turn on a slow network: what nearly all pages need comes with the first script.
        ...(mode !== 'counter' && { codeSplitting: { groups } }),
      },
    },
  },
}));
