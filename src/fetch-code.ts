/** Loads code on demand, also after it could not be loaded once. */

/** The files that Firefox has refused, each with the number of the address that it was asked at. */
const refused = new Map<string, number>();
/** One number for all files, so that those that import each other come from the same address. */
let address = 0;

/**
 * Loads code. Firefox answers each further import of a file that it could not load with the same failure, and loads
 * nothing (whatwg/html#6768): there, the second call asks for the file at another address.
 *
 * @param ask only imports
 */
export async function fetchCode<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const [, url] = /loading dynamically imported module: (\S+)/.exec(String(cause)) ?? [];
    // A page's import map has hashes of the addresses that it knows: another address would not be checked.
    if (!url || document.querySelector('[type=importmap]')) throw cause;
    if (refused.get(url) === address) address += 1;
    refused.set(url, address);
    if (address === 0) throw cause;
    return import(/* @vite-ignore */ addressOf(url, address)) as Promise<T>;
  }
}

/**
 * Writes letters of the folder, or in other builds of the file's name, as percent codes: servers read both the same way. With
 * another folder, what the file imports from it has another address too.
 */
function addressOf(url: string, number: number): string {
  const folder = url.lastIndexOf('chunks/');
  const start = folder < 0 ? url.lastIndexOf('/') + 1 : folder;
  const end = folder < 0 ? url.length : folder + 'chunks'.length;
  const name = url
    .slice(start, end)
    .replace(/\w/g, (letter, index: number) =>
      (number >> index) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
    );
  return url.slice(0, start) + name + url.slice(end);
}
