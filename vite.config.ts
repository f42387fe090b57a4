/**
 * Builds the widget's script, `dist/script/crypto-checkout-VERSION.js`, for pages without a build step. With `--mode demo` it
 * builds the demo shop's pages into `server/dist/demo`. `vite` alone serves the demo shop, with the widget from its sources.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type Plugin, type Rolldown, type UserConfig } from 'vite';

/** The URL path of the widget's script, the same as on a merchant's page. */
const scriptPath = '/crypto-checkout.js';

const demoPages = () =>
  readdirSync('demo')
    .filter((name) => name.endsWith('.html'))
    .map((name) => `demo/${name}`);

/** In development, serves the widget from its sources; a change reloads the page. */
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

/** Removes whitespace between tags and in style sheets. JavaScript minifiers keep it, since it is inside strings. */
const shortTemplates: Plugin = {
  name: 'short-templates',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('.styles.ts')) {
      const rules = code.replace(/\/\*[^*]*\*\//g, '').replace(/\s*\n\s*/g, ' ');
      return { code: rules.replace(/\s*([{};,])\s*|(?<=:)\s+/g, '$1').replaceAll(';}', '}'), map: null };
    }
    if (!/\/src\/(crypto-checkout|modal|(views|wallets)\/[\w-]+)\.ts$/.test(id)) return undefined;
    // After a tag, before a tag, before an attribute. In code formatted by Prettier, only attributes look like `name="`
    // or `name=${`.
    return { code: code.replace(/(?<=>)\s*\n\s*|\s*\n\s*(?=<|\/?>|[@.]?[\w-]+=["$])/g, ' '), map: null };
  },
};

/**
 * QR codes hold addresses and payment URIs, as bytes: never digits alone or Japanese, and nothing to divide among modes by a shortest
 * path. A bundler cannot know that.
 */
const bytesOnly: Plugin = {
  name: 'bytes-only',
  apply: 'build',
  load(id) {
    if (/\/(qrcode\/lib\/core\/(numeric|alphanumeric|kanji)-data|dijkstrajs\/dijkstra)\.js$/.test(id))
      return 'module.exports = {}';
    if (!id.endsWith('/qrcode/lib/core/regex.js')) return undefined;
    return 'exports.testNumeric = exports.testAlphanumeric = exports.testKanji = () => false';
  },
};

/** The bundler's helpers, as far as these chunks need them. */
const helpers: Readonly<Record<string, string>> = {
  __exportAll:
    '(all) => Object.defineProperties({}, Object.fromEntries(Object.entries(all).map(([name, get]) => [name, { get }])))',
  __commonJSMin:
    '(run, module) => () => (module || run((module = { exports: {} }).exports, module), module.exports)',
  // What is imported from CommonJS is read by its names.
  __toESM: '(exports) => exports',
};

/**
 * The bundler keeps its helpers in a chunk of their own, which a page requests only once the chunk that needs them has arrived:
 * one more round trip on the way to the payment. Few helpers are needed, so each chunk gets its own.
 */
const helpersInPlace: Plugin = {
  name: 'helpers-in-place',
  apply: 'build',
  renderChunk(code, { name }) {
    const [statement, names] = /^import \{(.*)\} from "[^"]*rolldown-runtime[^"]*";$/m.exec(code) ?? [];
    if (statement === undefined || names === undefined) return null;
    const definitions = names.split(',').map((one) => {
      const helper = one.trim().replace(/^\w+ as /, '');
      const definition = helpers[helper];
      if (definition === undefined)
        this.error(`${name} needs the helper ${helper}, which is not defined here`);
      return `const ${helper} = ${definition};`;
    });
    return { code: code.replace(statement, definitions.join(' ')), map: null };
  },
  generateBundle(_options, bundle) {
    const unused = Object.keys(bundle).filter((file) => file.includes('rolldown-runtime'));
    unused.forEach((file) => Reflect.deleteProperty(bundle, file));
  },
};

const entry = /\/src\/index\.ts$/;
const flow = /\/src\/flow\.ts$/;

/**
 * True for modules that are loaded with `root`, by static imports. Those of the entry go into a chunk of their own: a page can
 * load the entry under any URL, and if another chunk imported it under its file name, it would run twice.
 */
function isLoadedWith(
  root: RegExp,
  id: string,
  modules: Rolldown.ChunkingContext,
  seen = new Set<string>(),
): boolean {
  const module = modules.getModuleInfo(id);
  if (module === null || seen.has(id)) return false;
  seen.add(id);
  return root.test(id) || module.importers.some((importer) => isLoadedWith(root, importer, modules, seen));
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const library: UserConfig = {
  build: {
    outDir: 'dist/script',
    sourcemap: true,
    target: 'es2022',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => `crypto-checkout-${version}.js` },
    rolldownOptions: {
      output: {
        minify: true,
        // No bundler processes this script, so it does not need annotations for tree shaking.
        comments: { annotation: false },
        chunkFileNames: 'chunks/[name]-[hash].js',
        codeSplitting: {
          groups: [
            // The languages' plural rules too: a request of its own would come after the language.
            {
              debugName: 'widget',
              name: (id, modules) =>
                id.endsWith('/src/messages/plural.ts') || isLoadedWith(entry, id, modules) ? 'widget' : null,
            },
            // What the flow shares with later chunks is there with the flow.
            { debugName: 'flow', name: (id, modules) => (isLoadedWith(flow, id, modules) ? 'flow' : null) },
          ],
        },
      },
    },
  },
};

const demo: UserConfig = {
  build: {
    outDir: 'server/dist/demo',
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
    plugins: [widgetFromSources, shortTemplates, bytesOnly, helpersInPlace],
    server: {
      host: '127.0.0.1',
      strictPort: true,
      proxy: Object.fromEntries(['/v1', '/pay', '/demo-api'].map((path) => [path, server])),
    },
    ...(command === 'build' && mode === 'demo' ? demo : library),
  };
});
