/** The banks of the countries whose banks are listed, from the files in `data/banks`, which name their sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';

export interface Bank {
  /** What the bank goes by among the country's banks; in Nigeria the code of the Central Bank where it has one. */
  readonly code: string;
  readonly name: string;
  /** Two-letter code. */
  readonly country: string;
  /** The country's own. */
  readonly currency: string;
  /** Nigeria: the institution code that account numbers are checked with; absent where they cannot be. */
  readonly nubanCode?: string | undefined;
  /** What the provider of account names calls it, where that is not `code`. */
  readonly providerCode?: string | undefined;
}

export interface Banks {
  /** By name; empty where a country's banks are not listed. */
  list(country: string): readonly Bank[];
  /** A bank of a country by its code or its name, without case. */
  find(country: string, codeOrName: string): Bank | undefined;
  /** A bank of any country by its code, or by a name that no other bank has. */
  findAnywhere(codeOrName: string): Bank | undefined;
}

const banksDirectory = fileURLToPath(new URL('../../data/banks', import.meta.url));

const code = z.string().check(z.regex(/^[0-9A-Z]{2,10}$/));

const banksFile = z.object({
  country: z.string().check(z.regex(/^[A-Z]{2}$/)),
  currency: z.string().check(z.regex(/^[A-Z]{3}$/)),
  source: z.string().check(z.minLength(1)),
  banks: z.array(
    z.object({
      code,
      name: z.string().check(z.minLength(1)),
      nubanCode: z.optional(z.string().check(z.regex(/^(\d{3}|\d{5})$/))),
      providerCode: z.optional(code),
    }),
  ),
});

/** @throws when a file is not of this shape */
export function createBanks(): Banks {
  const byCountry = new Map<string, readonly Bank[]>();
  for (const name of readdirSync(banksDirectory)) {
    const content: unknown = JSON.parse(readFileSync(join(banksDirectory, name), 'utf8'));
    const { country, currency, banks } = banksFile.parse(content);
    byCountry.set(
      country,
      banks.map((bank) => ({ ...bank, country, currency })),
    );
  }
  const all = [...byCountry.values()].flat();

  const match = (banks: readonly Bank[], codeOrName: string): Bank | undefined => {
    const text = codeOrName.toLowerCase();
    const coded = banks.filter((bank) => bank.code.toLowerCase() === text);
    const found = coded.length > 0 ? coded : banks.filter((bank) => bank.name.toLowerCase() === text);
    return found.length === 1 ? found[0] : undefined;
  };
  return {
    list: (country) => byCountry.get(country) ?? [],
    find: (country, codeOrName) => match(byCountry.get(country) ?? [], codeOrName),
    findAnywhere: (codeOrName) => match(all, codeOrName),
  };
}
