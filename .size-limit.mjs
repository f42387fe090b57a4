/** Size budgets for the built widget: brotli, each file on its own, as a server sends them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const entry = 'dist/crypto-checkout.min.js';

/**
 * A file and everything that it imports.
 * @param {string} file
 * @param {RegExp} imports
 * @param {Set<string>} [files]
 */
function reachable(file, imports, files = new Set()) {
  if (files.has(file) || isLater(file)) return files;
  files.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
    reachable(join(dirname(file), path), imports, files);
  }
  return files;
}

/** Languages, wallets, the modal and forms load on demand, so they do not count. @param {string} file */
function isLater(file) {
  // An entry with nothing but imports has no source map.
  if (!existsSync(`${file}.map`)) return false;
  /** @type {{ sources: string[] }} */
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  return (
    sources.length > 0 &&
    sources.every((source) => /\/src\/((messages|wallets)\/|modal|form-value)/.test(source))
  );
}

/** The chunks that have the code of a room, and nothing else. @param {string} room */
const chunksOf = (room) =>
  readdirSync('dist/chunks')
    .filter((name) => name.endsWith('.js'))
    .map((name) => `dist/chunks/${name}`)
    .filter((file) => {
      /** @type {{ sources: string[] }} */
      const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
      return sources.length > 0 && sources.every((source) => source.includes(`/src/${room}/`));
    });

export default [
  {
    name: 'first paint: the script and its static imports',
    path: [...reachable(entry, /(?:from|import)\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '16 kB',
  },
  {
    name: 'up to the QR code: with its dynamic imports, except languages and wallets',
    path: [...reachable(entry, /(?:from|import)\s*\(?\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '30 kB',
  },
  { name: 'paying from a wallet', path: chunksOf('wallets'), limit: '6 kB' },
];
