/**
 * The optional features of browsers. A browser that lacks one, or blocks it for a page, throws when it is read or called:
 * each is tried here, and its absence is a value that the callers can work with. The lint refuses these features in other files.
 */

/** @returns undefined if the browser refuses */
function tried<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

/** Values that could not be stored, for a tag that a framework renders again. Without a storage, all are forgotten after a reload. */
const fallback = new Map<string, string>();

export function loadItem(name: string): string | undefined {
  // The values that could not be stored are newer than the stored ones.
  return fallback.get(name) ?? tried(() => localStorage.getItem(name)) ?? undefined;
}

export function storeItem(name: string, text: string): void {
  fallback.set(name, text);
  tried(() => {
    localStorage.setItem(name, text);
    fallback.delete(name);
  });
}

export function removeItem(name: string): void {
  fallback.delete(name);
  tried(() => localStorage.removeItem(name));
}

/** The names of all items that a later visit can load. */
export function storedNames(): string[] {
  return tried(() => Object.keys(localStorage)) ?? [];
}

/** Like `storeItem`, but only for this tab, and forgotten if it could not be stored. */
export function storeForTab(name: string, text: string): void {
  tried(() => sessionStorage.setItem(name, text));
}

export function loadForTab(name: string): string | undefined {
  return tried(() => sessionStorage.getItem(name)) ?? undefined;
}

/** A channel to the browser's other tabs; undefined if there is none. */
export function openChannel(name: string): BroadcastChannel | undefined {
  return tried(() => new BroadcastChannel(name));
}

/** The locks of the browser's tabs. Browsers have them in secure contexts only. */
export function tabLocks(): LockManager | undefined {
  return tried(() => navigator.locks);
}

/** Rejects if the browser has no clipboard for the page. It may never settle. */
export async function writeClipboard(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

/** Runs a callback once the browser has nothing else to do: after a framework has hydrated the page. */
export function whenIdle(callback: () => void): void {
  // Safari has no idle callbacks.
  if (tried(() => requestIdleCallback(callback, { timeout: 1000 })) === undefined) setTimeout(callback, 300);
}

/** The same, after the next frame. A tab that nobody sees has none. */
export function whenPainted(callback: () => void): void {
  requestAnimationFrame(() => whenIdle(callback));
}

/** The currencies that `Intl` knows; empty in browsers before 2022. */
export function intlCurrencies(): readonly string[] {
  return tried(() => Intl.supportedValuesOf('currency')) ?? [];
}

/** The plural category of a number; `other` if the browser does not know the language's rules. */
export function pluralCategory(language: string, count: number): Intl.LDMLPluralRule {
  return tried(() => new Intl.PluralRules(language).select(count)) ?? 'other';
}

/** The language's name for itself; its tag if the browser does not know it. */
export function languageName(tag: string): string {
  return tried(() => new Intl.DisplayNames([tag, 'en'], { type: 'language' }).of(tag)) ?? tag;
}

/** The locale itself if `Intl` knows it; empty if not, or if it is no language tag. */
export function supportedLocales(tag: string): string[] {
  return tried(() => Intl.NumberFormat.supportedLocalesOf(tag)) ?? [];
}

/** Registers a service worker. Browsers have none over http, except on this machine, and some block it. */
export function registerWorker(url: string, scope: string): void {
  tried(() => void navigator.serviceWorker.register(url, { scope }).catch(() => undefined));
}

/** The names of all time zones; none if the browser does not list them. */
export function timeZones(): readonly string[] {
  return tried(() => Intl.supportedValuesOf('timeZone')) ?? [];
}
