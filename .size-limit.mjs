/** Size budgets for the built widget: brotli, each file on its own, as a server sends them. `npm run size` shows them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const entry = `dist/script/crypto-checkout-${version}.js`;
const folder = 'dist/script/chunks';
const chunks = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.js')) : [];

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

/** The sources of a chunk. @param {string} file @returns {string[]} */
function sourcesOf(file) {
  // An entry with nothing but imports has no source map.
  if (!existsSync(`${file}.map`)) return [];
  /** @type {{ sources: string[] }} */
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  return sources;
}

/** What loads after the QR code, or only for some: languages, wallets, the modal, endings, help for developers. @param {string} file */
function isLater(file) {
  const sources = sourcesOf(file);
  return (
    sources.some((source) =>
      /\/src\/(views\/ended|checkout\/order-problems|modal|form-value)\.ts$/.test(source),
    ) ||
    (sources.length > 0 && sources.every((source) => /\/src\/(messages|wallets)\//.test(source)))
  );
}

/** @param {string} room */
const chunksOf = (room) =>
  chunks.filter((name) => sourcesOf(`${folder}/${name}`).some((source) => source.includes(`/src/${room}/`)));

const languages = chunks.filter((name) =>
  sourcesOf(`${folder}/${name}`).some((source) => /\/src\/messages\/[a-z]{2}(-later)?\.ts$/.test(source)),
);
const wallets = chunksOf('wallets');

export default [
  {
    name: 'first paint: the script and its static imports',
    path: [...reachable(entry, /(?:from|import)\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '14 kB',
  },
  {
    name: 'up to the QR code: with its dynamic imports, except languages, wallets and what comes later',
    path: [...reachable(entry, /(?:from|import)\s*\(?\s*["'`](\.[^"'`]+)["'`]/g)],
    limit: '34 kB',
  },
  // A language loads in two parts. Payers wait for the first one only; both together are 3 to 4 kB.
  ...languages.map((name) => ({
    name: `language, ${name.includes('-later-') ? 'after the QR code' : 'up to the QR code'}: ${name}`,
    path: `${folder}/${name}`,
    limit: '2.5 kB',
  })),
  ...(wallets.length === 0
    ? []
    : [{ name: 'wallets', path: wallets.map((name) => `${folder}/${name}`), limit: '6 kB' }]),
];
