/** The countries of ISO 3166-1, with their English names and flags. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { coreApi, Data } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

export type Country = Data<typeof coreApi.countries.list>[number];

export type Countries = ReturnType<typeof createCountries>;

/** SVG files; the flag of NG is `ng.svg`. */
export const flagsDirectory = join(
  dirname(fileURLToPath(import.meta.resolve('flag-icons/package.json'))),
  'flags',
  '4x3',
);

/** If a country has several names, the official one comes first. */
const namesFile = z.object({ countries: z.record(z.string(), z.union([z.string(), z.array(z.string())])) });

/** @param publicUrl the server's public URL, under which it serves the flags */
export function createCountries(publicUrl: string) {
  // Reads the English names only: the package's entry point loads all languages.
  const namesPath = fileURLToPath(import.meta.resolve('i18n-iso-countries/langs/en.json'));
  const content: unknown = JSON.parse(readFileSync(namesPath, 'utf8'));
  const byName = new Intl.Collator('en');
  const known = new Map<string, Country>();
  for (const [code, given] of Object.entries(namesFile.parse(content).countries)) {
    const names = typeof given === 'string' ? [given] : given;
    const file = `${code.toLowerCase()}.svg`;
    const [name] = names;
    if (name === undefined || !existsSync(join(flagsDirectory, file))) continue;
    const country = { name, code, flag: `${publicUrl}/flags/${file}` };
    for (const key of [code, ...names]) known.set(key.toLowerCase(), country);
  }
  const list = [...new Set(known.values())].sort((a, b) => byName.compare(a.name, b.name));
  return {
    /** Sorted by name. */
    list: (): readonly Country[] => list,
    /** Finds a country by its two-letter code or any English name, ignoring case. */
    find: (codeOrName: string) => known.get(codeOrName.toLowerCase()),
  };
}
