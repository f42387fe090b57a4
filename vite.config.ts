/**
 * The widget's script for pages without a build, `dist/crypto-checkout.min.js` with everything in it, and with
 * `--mode demo` the demo shop's pages in `dist/demo`. `vite` alone serves the demo shop, the widget from its sources.
 */
import { readdirSync, rmSync } from 'node:fs';
import { defineConfig, type Plugin, type Rolldown, type UserConfig } from 'vite';

/** Where the pages ask for the widget's script, as a merchant's pages do. */
const scriptPath = '/crypto-checkout.js';

const demoPages = () =>
  readdirSync('demo')
    .filter((name) => name.endsWith('.html'))
    .map((name) => `demo/${name}`);

/** In development the widget comes from its sources; a change reloads the page. */
const widgetFromSources: Plugin = {
  name: 'widget-from-sources',
  apply: 'serve',
  configureServer(server) {
    server.middlewares.use((request, _response, next) => {
      if (request.url?.split('?')[0] === scriptPath) request.url = '/src/index.ts';
      next();
    });
  },
};

/** Line breaks and indentation between tags and in style sheets, which a minifier of scripts leaves alone. */
const shortTemplates: Plugin = {
  name: 'short-templates',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('.styles.ts')) {
      const rules = code.replace(/\/\*[^*]*\*\//g, '').replace(/\s*\n\s*/g, ' ');
      return { code: rules.replace(/\s*([{};,])\s*/g, '$1'), map: null };
    }
    if (!/\/src\/(crypto-checkout|views\/[\w-]+)\.ts$/.test(id)) return undefined;
    // A tag's end, its beginning, or an attribute: Prettier writes no other code like `name="` or `name=${`.
    return { code: code.replace(/(?<=>)\s*\n\s*|\s*\n\s*(?=<|\/?>|[@.]?[\w-]+=["$])/g, ' '), map: null };
  },
};

/**
 * True for what the entry needs before anything is started. It goes into one chunk, away from the entry: a page
 * loads the entry by a name of its own, and a chunk that asked for it by another would run it twice.
 */
function isLoadedAtOnce(id: string, modules: Rolldown.ChunkingContext, seen = new Set<string>()): boolean {
  const module = modules.getModuleInfo(id);
  if (module === null || seen.has(id)) return false;
  seen.add(id);
  return module.isEntry || module.importers.some((importer) => isLoadedAtOnce(importer, modules, seen));
}

// tsc has put the npm package's modules into dist/ already: add to them, and take away only one's own of another build.
const freshChunks: Plugin = {
  name: 'fresh-chunks',
  buildStart: () => rmSync('dist/chunks', { recursive: true, force: true }),
};

const library: UserConfig = {
  build: {
    emptyOutDir: false,
    sourcemap: true,
    target: 'es2022',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => 'crypto-checkout.min.js' },
    rolldownOptions: {
      output: {
        minify: true,
        // Marks for other bundlers' tree shaking weigh in a script that no bundler sees.
        comments: { annotation: false },
        chunkFileNames: 'chunks/[name]-[hash].js',
        codeSplitting: {
          groups: [
            { debugName: 'widget', name: (id, modules) => (isLoadedAtOnce(id, modules) ? 'widget' : null) },
          ],
        },
      },
    },
  },
};

const demo: UserConfig = {
  build: {
    outDir: 'dist/demo',
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ['index.html', ...demoPages()] },
  },
};

export default defineConfig(({ command, mode }) => {
  const server = process.env['API_URL'] ?? 'http://127.0.0.1:8080';
  return {
    resolve: { conditions: ['@crypto-checkout/source', 'module', 'browser', 'development|production'] },
    publicDir: false,
    plugins: [widgetFromSources, shortTemplates, command === 'build' && mode !== 'demo' && freshChunks],
    server: {
      host: '127.0.0.1',
      strictPort: true,
      proxy: Object.fromEntries(['/v1', '/sandbox', '/pay', '/demo-api'].map((path) => [path, server])),
    },
    ...(command === 'build' && mode === 'demo' ? demo : library),
  };
});
