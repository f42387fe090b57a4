/** Size budgets for the built widget, and the console: brotli, each file on its own, as a server sends them. `npm run size` shows them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const entry = `dist/script/crypto-checkout-${version}.js`;
const folder = 'dist/script/chunks';
const chunks = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.js')) : [];

/**
 * Files and everything that they import, other than on demand.
 * @param {string[]} files
 * @param {Set<string>} [seen]
 */
function withImports(files, seen = new Set()) {
  for (const file of files.filter((one) => !seen.has(one))) {
    seen.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*["'`](\.[^"'`]+)["'`]/g);
    withImports(
      [...imports].map(([, path = '']) => join(dirname(file), path)),
      seen,
    );
  }
  return [...seen];
}

/** @param {RegExp} name of a chunk, without the hash and the ending */
const chunksNamed = (name) =>
  chunks.filter((file) => name.test(file.slice(0, -'-123456.js'.length))).map((file) => join(folder, file));

// A payer waits for the first part of a language only. The second loads in parallel with the QR code, and the texts of the check of a
// transfer when it is opened.
const firstTexts = chunksNamed(/^[a-z]{2}$/);
const laterTexts = chunksNamed(/^[a-z]{2}-(after-qr|transfer)$/);

const consoleFolder = 'server/dist/console';
const firstPage = existsSync(join(consoleFolder, 'chunks'))
  ? readdirSync(join(consoleFolder, 'chunks')).filter((name) => name.startsWith('home-'))
  : [];
const consoleFiles = [
  join(consoleFolder, 'console.js'),
  ...firstPage.map((name) => join(consoleFolder, 'chunks', name)),
];

export default [
  { name: 'first paint: the script, and what it imports', path: withImports([entry]), limit: '14 kB' },
  {
    // test/e2e/sizes.test.ts compares the files with those that a browser loads.
    name: 'up to the QR code: with the offer, a running payment, the QR code, the loader of languages and the English texts',
    path: withImports([entry, ...chunksNamed(/^(offer|flow|qr-code|load|en)$/)]),
    limit: '40 kB',
  },
  ...firstTexts.map((path) => ({ name: `language: ${path}`, path, limit: '2 kB' })),
  ...laterTexts.map((path) => ({ name: `language: ${path}`, path, limit: '2.95 kB' })),
  { name: 'the page for refunds', path: 'server/dist/claim/claim.js', limit: '25.1 kB' },
  { name: 'wallets in the browser', path: chunksNamed(/^wallet-payments$/), limit: '6 kB' },
  {
    name: 'the console’s first view: its script and styles, and the first page with what it imports',
    path: [...withImports(consoleFiles), join(consoleFolder, 'console.css')],
    limit: '45 kB',
  },
];
