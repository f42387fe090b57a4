/**
 * Bundles the server and the command line, with the modules that they load, as compiled, into `server/dist/bundle`. The start
 * of either is loading: of few files it takes a third to half of the time.
 */
import { readdir, readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { build } from 'vite';

const dist = resolve(import.meta.dirname, '../server/dist');
const output = resolve(dist, 'bundle');

/**
 * Modules find their files by their own place, which is another one in the bundle.
 * @type {import('vite').Plugin}
 */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(`${dist}/`) || !code.includes('import.meta.url')) return undefined;
    const place = `new URL(${JSON.stringify(relative(output, id))}, import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', place), map: null };
  },
};

/** The packages of many files. The others have native parts, or are written for `require`. */
const included = [
  'crypto-checkout',
  'ipaddr.js',
  'kysely',
  'marked',
  'micro-eth-signer',
  'micro-packed',
  'temporal-polyfill',
  'temporal-utils',
  'zod',
  /^@noble\//,
  /^@scure\//,
];

await build({
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  plugins: [ownPlaces],
  ssr: { noExternal: included },
  build: {
    ssr: true,
    target: 'node20',
    outDir: output,
    license: { fileName: 'licenses.md' },
    minify: false,
    rolldownOptions: {
      input: {
        commands: resolve(dist, 'command-line/main.js'),
        server: resolve(dist, 'run-server.js'),
      },
      output: { chunkFileNames: '[name]-[hash].js', comments: false },
    },
  },
});

await checkImports();

/** The bundle may import only dependencies of the server: npm can put their own dependencies anywhere. */
async function checkImports() {
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(await readFile(resolve(dist, '../package.json'), 'utf8'));
  for (const name of (await readdir(output)).filter((file) => file.endsWith('.js'))) {
    const code = await readFile(resolve(output, name), 'utf8');
    for (const [, from = ''] of code.matchAll(/^import .*?["']([^"'.][^"']*)["'];?$/gm)) {
      const [, wanted = ''] = /^((?:@[^/]+\/)?[^/]+)/.exec(from) ?? [];
      if (from.startsWith('node:') || wanted in dependencies) continue;
      throw new Error(
        `${name} imports ${from}, which is no dependency of the server: add it to \`included\``,
      );
    }
  }
}
