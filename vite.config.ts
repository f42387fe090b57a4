/**
 * Builds the widget's script, `dist/script/crypto-checkout-VERSION.js`, for pages without a build step. With `--mode demo` it
 * builds the demo shop's pages into `server/dist/demo`. Plain `vite` serves the demo shop, with the widget from its sources.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { isQrcode, toModule } from './scripts/qrcode-modules.mjs';

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

/** Style sheets are sent without the space that only people read, as code is, and templates without their indentation. */
const withoutSpace: Plugin = {
  name: 'without-space',
  apply: 'build',
  transform(code, id) {
    if (!id.includes('/src/')) return undefined;
    if (!id.endsWith('.styles.ts')) return { code: code.replace(/\n +/g, '\n'), map: null };
    const css = code.replace(/css`[^`]*`/g, (sheet) =>
      sheet
        .replace(/\n\s*/g, ' ')
        .replace(/\/\*.*?\*\//g, '')
        .replace(/ ?([{};]) ?/g, '$1')
        .replace(/([(,]) | (?=\))/g, '$1')
        // Not a pseudo-class after a space: a declaration has its space after the colon.
        .replace(/: /g, ':')
        .replaceAll('$ {', '${')
        .replaceAll(';}', '}'),
    );
    return { code: css, map: null };
  },
};

/** The QR code's encoder without the functions that the widget does not call. */
const qrcode: Plugin = {
  name: 'qrcode',
  apply: 'build',
  transform: (code, id) =>
    isQrcode(id) ? { code: toModule(code), map: null, moduleSideEffects: false } : undefined,
};

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const library: UserConfig = {
  plugins: [withoutSpace, qrcode],
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
        // Loaded code keeps its URL when code in the folder is asked for at another one: src/fetch-code.ts.
        chunkFileNames: ({ name }) => `${name === 'widget' ? '' : 'chunks/'}[name]-[hash:6].js`,
        // Has V8 compile the first chunk's functions while it loads, away from the main thread, and not one by one as they are called.
        postBanner: ({ name }) => (name === 'widget' ? '//# allFunctionsCalledOnLoad' : ''),
        codeSplitting: {
          groups: [
            // All that the entry imports. A page can load the entry under any URL, and if another chunk imported it
            // under its file name, it would run twice. The languages' plural rules too: a request of its own would come
            // after the language. The same for modules that add styles, for the coins below the pay button.
            { name: 'widget', test: /\/src\/(index|messages\/plural|views\/add-styles)\.ts$/ },
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
    plugins: [widgetFromSources],
    server: {
      host: '127.0.0.1',
      strictPort: true,
      proxy: Object.fromEntries(
        ['/v1', '/pay', '/demo-api', '/checkout-offer'].map((path) => [path, server]),
      ),
    },
    ...(command === 'build' && mode === 'demo' ? demo : library),
  };
});
