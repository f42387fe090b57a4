/** Builds the console's pages: `server/dist/console/console.js`, its style sheet, and a chunk for each page. */
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  // Chunks import each other by relative address, no matter what path the server has in front.
  base: './',
  resolve: { conditions: ['@crypto-checkout/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'server/dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // A preload would need another inline script or style; the chunks are small.
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rolldownOptions: {
      input: 'console/console.ts',
      output: {
        entryFileNames: 'console.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        assetFileNames: 'console.[ext]',
      },
    },
  },
});
