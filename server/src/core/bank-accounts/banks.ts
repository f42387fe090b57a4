/** Lists of banks, one per country, from the files in `data/banks`. Each file names its source. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';

export type Banks = ReturnType<typeof createBanks>;

const banksDirectory = fileURLToPath(new URL('../../../data/banks', import.meta.url));

const code = z.string().check(z.regex(/^[0-9A-Z]{2,10}$/));

const listedBank = z.object({
  /** Unique within the country. In Nigeria it is the code of the Central Bank, for banks that have one. */
  code,
  name: z.string().check(z.minLength(1)),
  /** Nigeria only: the institution code for the check digit; absent if account numbers have no check digit. */
  nubanCode: z.optional(z.string().check(z.regex(/^(\d{3}|\d{5})$/))),
  /** The bank's code at the provider of account names, if it is not `code`. */
  providerCode: z.optional(code),
});

const banksFile = z.object({
  country: z.string().check(z.regex(/^[A-Z]{2}$/)),
  currency: z.string().check(z.regex(/^[A-Z]{3}$/)),
  source: z.string().check(z.minLength(1)),
  banks: z.array(listedBank),
});

/** A bank, with its country's code and currency. */
export type Bank = Readonly<
  z.infer<typeof listedBank> & Pick<z.infer<typeof banksFile>, 'country' | 'currency'>
>;

/** @throws if a file does not have this shape */
export function createBanks() {
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
    /** Sorted by name; empty if there is no list for the country. */
    list: (country: string): readonly Bank[] => byCountry.get(country) ?? [],
    /** Finds a bank of a country by its code or name, in any case. */
    find: (country: string, codeOrName: string): Bank | undefined =>
      match(byCountry.get(country) ?? [], codeOrName),
    /** Finds a bank of any country by its code or name, in any case, if only one bank matches. */
    findAnywhere: (codeOrName: string): Bank | undefined => match(all, codeOrName),
  };
}
