/**
 * Writes what follows from the lists: from `server/data/currencies.json`, the widget's drawings and URI schemes of
 * coins, each loaded on its own, the fixed rates and the guide to currencies; from the folders of `src/messages/`, what loads and names the languages. With
 * `--check`, it only says if they differ.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { format } from 'prettier';

const path = (/** @type {string} */ name) => resolve(import.meta.dirname, '..', name);
const source = 'server/data/currencies.json';
const style = JSON.parse(await readFile(path('.prettierrc.json'), 'utf8'));

/** @typedef {{ colour: string, line?: string, solid?: string, tilt?: number }} Icon */
/** @typedef {{ name: string, payableDecimals: number, exampleDollars: string, uriScheme?: string, icon?: Icon }} Coin */
/** @typedef {{ name: string, mode: string, assets: Record<string, { minAmount: string, contract?: string }> }} Network */

/** @type {{ coins: Record<string, Coin>, fiat: Record<string, { name: string, exampleUnitsPerDollar: string }> }} */
const { coins, fiat } = JSON.parse(await readFile(path(source), 'utf8'));
/** @type {{ networks: Record<string, Network> }} */
const { networks } = JSON.parse(await readFile(path('server/data/networks.json'), 'utf8'));

/**
 * @template Row, Value
 * @param {Record<string, Row>} rows
 * @param {(row: Row) => Value} valueOf undefined leaves the row out
 */
const each = (rows, valueOf) =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([code, row]) => {
      const value = valueOf(row);
      return value === undefined ? [] : [[code, value]];
    }),
  );

const icons = each(coins, ({ icon }) => icon);
const schemes = each(coins, ({ uriScheme }) => uriScheme);
const rates = {
  source: 'fixed example rates',
  unitsPerDollar: each(fiat, ({ exampleUnitsPerDollar }) => exampleUnitsPerDollar),
  dollarsPerUnit: each(coins, ({ exampleDollars }) => exampleDollars),
};

/** @param {string} purpose @param {string} from @param {string} code */
const written = (purpose, from, code) =>
  `/** ${purpose} \`npm run lists\` writes this file from \`${from}\`. */\n${code}\n`;

/** @param {string} purpose @param {string} declaration @param {object} value */
const typed = (purpose, declaration, value) =>
  written(purpose, source, `${declaration} = ${JSON.stringify(value)};`);

const messages = 'src/messages/';

/** @typedef {{ english: string, name: string, isRtl?: true, locale?: string }} Language */

/** English is the language that the others have the keys of. Its texts in the widget are loaded in ways of their own. */
const codes = (await readdir(path(messages), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const translations = codes.filter((code) => code !== 'en');

/** @type {Record<string, { language: Language }>} */
const pages = {};
for (const code of codes)
  pages[code] = JSON.parse(await readFile(path(`${messages}${code}/pages.json`), 'utf8'));
/** @type {Record<string, object>} */
const mails = {};
for (const code of codes)
  mails[code] = JSON.parse(await readFile(path(`${messages}${code}/mail.json`), 'utf8'));
const named = Object.entries(pages).map(([code, { language }]) => ({ code, ...language }));
const sorted = named.sort((a, b) => (a.english < b.english ? -1 : 1));

/** @param {(code: string) => string} value */
const eachTranslation = (value) => translations.map((code) => `${code}: ${value(code)},`).join('\n');

/** @param {string} code @param {string} name */
const loader = (code, name) => `() => import('./${code}/${name}.js')`;

/** @param {string} code the first and the second part of a language's texts, and what is special about it */
const sourceOf = (code) => {
  const { isRtl, locale } = pages[code]?.language ?? {};
  const special = `${isRtl ? ', isRtl: true' : ''}${locale ? `, locale: '${locale}'` : ''}`;
  return `{ first: ${loader(code, code)}, afterQr: ${loader(code, `${code}-after-qr`)}${special} }`;
};

const familyFolder = 'server/src/core/families/';
const families = (await readdir(path(familyFolder), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const familyNames = families.join(', ');

/** @param {string} name of an export of every folder @param {string} folder of the families, from the file */
const importsOf = (name, folder) =>
  families
    .map((family) => `import { ${name} as ${family} } from '${folder}${family}/${name}.js';`)
    .join('\n');

const pageFolder = 'console/pages/';

/**
 * A page says in its first comment where it is: its place in the order, its label in the menu or the page that it belongs to (with both,
 * it is an entry of that page's own menu), and the call that the role must be allowed.
 *
 * @typedef {{ order: number, label?: string, parent?: string, permission: string }} Place
 */

/** @type {[name: string, place: Place][]} */
const places = [];
for (const file of await readdir(path(pageFolder))) {
  const [, place] = /^ \* @place (.*)$/m.exec(await readFile(path(`${pageFolder}${file}`), 'utf8')) ?? [];
  if (place !== undefined) places.push([file.replace(/\.ts$/, ''), JSON.parse(place)]);
}
places.sort(([, one], [, other]) => one.order - other.order);
const labels = Object.fromEntries(
  places.flatMap(([name, { label }]) => (label === undefined ? [] : [[name, label]])),
);

/** @param {[name: string, place: Place]} place */
const placeText = ([name, { label, parent, permission }]) =>
  `{ name: '${name}', ${label ? `label: labels.${name}, ` : ''}${parent ? `parent: '${parent}', ` : ''}permission: '${permission}', load: () => import('./pages/${name}.js') },`;

/** @param {string} mode @param {string} coin */
const networksOf = (mode, coin) =>
  Object.entries(networks)
    .filter(([, network]) => network.mode === mode && coin in network.assets)
    .map(([code, { assets }]) => `\`${code}\` (${assets[coin]?.minAmount})`)
    .join(', ');
const currencyGuide = `# Supported currencies

<!-- Written by npm run lists from server/data/currencies.json and networks.json. -->

A price is in any of these; a payer pays in a coin. The list of one server and mode is \`GET /v1/currencies\`; what a payment can be paid in is its \`currencyOptions\`.

## Coins

With the networks that have them, and the smallest payment there. The [simulated networks](sandbox.md) have the same coins.

| Coin | Decimals to pay | Main networks | Test networks |
| --- | --- | --- | --- |
${Object.entries(coins)
  .map(
    ([code, { name, payableDecimals }]) =>
      `| \`${code}\` ${name} | ${payableDecimals} | ${networksOf('live', code)} | ${networksOf('test', code)} |`,
  )
  .join('\n')}

The operator names the networks in the [networks file](networks-file.md), can leave coins out, and add any of these coins on another network by its contract.

## Fiat

${Object.entries(fiat)
  .map(([code, { name }]) => `\`${code}\` ${name}`)
  .join(
    ', ',
  )}. Another one is refused at creation with \`unsupported_currency\`. To add one that two sources of [exchange rates](networks-file.md#exchange-rates) quote, add its row to \`server/data/currencies.json\`.
`;

const list = sorted.map(({ english }) => english);
const sentence = `The checkout supports ${list.slice(0, -1).join(', ')} and ${list.at(-1)}.`;
const guide = await readFile(path('docs/widget.md'), 'utf8');

/** @type {Record<string, string>} */
const files = {
  'src/coins/icons.ts': typed(
    'The drawings of coins, white on a colour in a square of 32.',
    `export interface Glyph {
  readonly colour: string;
  readonly line?: string;
  readonly solid?: string;
  /** Degrees clockwise. */
  readonly tilt?: number;
}

export const coins: Readonly<Record<string, Glyph>>`,
    icons,
  ),
  'src/coins/uri-schemes.ts': typed(
    'The URI schemes of coins that have one in BIP-21.',
    'export const uriSchemes: Readonly<Record<string, string>>',
    schemes,
  ),
  'server/data/rates.json': JSON.stringify(rates),
  [`${messages}codes.ts`]: written(
    'The codes of the languages that the widget has texts in, in addition to English.',
    messages,
    `export const codes = ${JSON.stringify(translations)} as const;`,
  ),
  [`${messages}sources.ts`]: written(
    'The texts of each language up to the QR code, and after it.',
    messages,
    `import type { Source } from './source.js';

export const translations: Readonly<Record<string, Source>> = {${eachTranslation(sourceOf)}};`,
  ),
  [`${messages}transfer-sources.ts`]: written(
    'The texts of the check of a transfer in each language.',
    messages,
    `import type { TransferSource } from './source.js';

export const translations: Readonly<Record<string, TransferSource>> = {
${eachTranslation((code) => loader(code, `${code}-transfer`))}
};`,
  ),
  'demo/languages.ts': written(
    'The languages of the checkout, each named in itself.',
    messages,
    `export const languages: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(sorted.map(({ code, name }) => [code, name])))};`,
  ),
  'server/src/core/site/page-texts.json': JSON.stringify(
    each(pages, ({ language, ...texts }) => ({ isRtl: language.isRtl === true, texts })),
  ),
  'server/src/modules/mail/texts.json': JSON.stringify(mails),
  'src/contract/families.ts': written(
    'Families of networks: those of one family share the form of their addresses, and their deposit keys.',
    familyFolder,
    `export const families = ${JSON.stringify(families)} as const;
export type Family = (typeof families)[number];`,
  ),
  [`${familyFolder}addresses.ts`]: written(
    'The addresses of each family.',
    familyFolder,
    `import type { Family } from '../chains/networks.js';
import type { FamilyAddresses } from './family.js';
${importsOf('addresses', './')}

export const addressFamilies: Readonly<Record<Family, FamilyAddresses>> = { ${familyNames} };`,
  ),
  'console/pages.ts': written(
    'The pages, in the order of the menu. Each loads when it is opened.',
    pageFolder,
    `import { pick } from './messages/pick.js';
import type { Page } from './page.js';

export interface Place {
  readonly name: string;
  /** Its entry in the menu, or in the menu of its parent; pages of one record have none. */
  readonly label?: string;
  /** The entry of the menu that it belongs to. */
  readonly parent?: string;
  /** The call that the role must be allowed for the page to be in the menu. */
  readonly permission: string;
  readonly load: () => Promise<{ readonly default: Page }>;
}

const labels = pick({ en: ${JSON.stringify(labels)} });

export const places: readonly Place[] = [${places.map(placeText).join('')}];

export const placeOf = (name: string) => places.find((one) => one.name === name);

/** The pages in the menu of a page. */
export const partsOf = (name: string) => places.filter(({ label, parent }) => label && parent === name);`,
  ),
  'docs/currencies.md': currencyGuide,
  'docs/widget.md': guide.replace(/^The checkout supports [^.]*\.$/m, sentence),
};

for (const [file, text] of Object.entries(files)) {
  const formatted = await format(text, { ...style, filepath: file });
  if (!argv.includes('--check')) await writeFile(path(file), formatted);
  else if ((await readFile(path(file), 'utf8').catch(() => '')) !== formatted) {
    console.error(`${file} is not what its list says. Run: npm run lists`);
    process.exitCode = 1;
  }
}
