/**
 * Writes what follows from `server/data/currencies.json`: the widget's drawings and URI schemes of coins, each loaded on its own, and
 * the fixed rates. With `--check`, it only says if they differ.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { format } from 'prettier';

const path = (/** @type {string} */ name) => resolve(import.meta.dirname, '..', name);
const source = 'server/data/currencies.json';
const style = JSON.parse(await readFile(path('.prettierrc.json'), 'utf8'));

/** @typedef {{ colour: string, line?: string, solid?: string, tilt?: number, mark?: string }} Icon */
/** @typedef {{ exampleDollars: string, uriScheme?: string, icon?: Icon }} Coin */

/** @type {{ coins: Record<string, Coin>, fiat: Record<string, { exampleUnitsPerDollar: string }> }} */
const { coins, fiat } = JSON.parse(await readFile(path(source), 'utf8'));

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

const icons = each(coins, ({ icon }) => icon && { ...icon, mark: undefined });
const marks = each(coins, ({ icon }) => icon && (icon.mark ? [icon.colour, icon.mark] : [icon.colour]));
const schemes = each(coins, ({ uriScheme }) => uriScheme);
const rates = {
  source: 'fixed example rates',
  unitsPerDollar: each(fiat, ({ exampleUnitsPerDollar }) => exampleUnitsPerDollar),
  dollarsPerUnit: each(coins, ({ exampleDollars }) => exampleDollars),
};

/** @param {string} purpose @param {string} declaration @param {object} value */
const typed = (purpose, declaration, value) =>
  `/** ${purpose} \`npm run currencies\` writes this file from \`${source}\`. */\n${declaration} = ${JSON.stringify(value)};\n`;

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
  'src/coins/marks.ts': typed(
    'Simple drawings of coins, white lines on a colour in a square of 24, for the card of the pay button.',
    'export const marks: Readonly<Record<string, readonly [colour: string, line?: string]>>',
    marks,
  ),
  'src/coins/uri-schemes.ts': typed(
    'The URI schemes of coins that have one in BIP-21.',
    'export const uriSchemes: Readonly<Record<string, string>>',
    schemes,
  ),
  'server/data/rates.json': JSON.stringify(rates),
};

for (const [file, text] of Object.entries(files)) {
  const formatted = await format(text, { ...style, filepath: file });
  if (!argv.includes('--check')) await writeFile(path(file), formatted);
  else if ((await readFile(path(file), 'utf8').catch(() => '')) !== formatted) {
    console.error(`${file} is not what ${source} says. Run: npm run currencies`);
    process.exitCode = 1;
  }
}
