/** The widget's size budgets, on the built script: brotli, each file by itself, as a server sends them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const entry = 'dist/crypto-checkout.min.js';

/**
 * The files that come with one, by its imports.
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

/** Languages and wallets come when they are asked for, beside the way to the QR code. @param {string} file */
function isLater(file) {
  // An entry that only imports has no map.
  if (!existsSync(`${file}.map`)) return false;
  /** @type {{ sources: string[] }} */
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  return sources.length > 0 && sources.every((source) => /\/src\/(messages|wallets)\//.test(source));
}

export default [
  {
    name: 'before the first paint: the script and what it imports at once',
    path: [...reachable(entry, /(?:from|import)\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '16 kB',
  },
  {
    name: 'all the way to the QR code: and what it imports later, but for languages and wallets',
    path: [...reachable(entry, /(?:from|import)\s*\(?\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '30 kB',
  },
];
