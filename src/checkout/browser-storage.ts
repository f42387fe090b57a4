/**
 * The browser's local storage, or memory if it is full or forbidden: the checkout works then, but forgets after a
 * reload.
 */

/** Values that could not be stored, for a tag that a framework renders again. */
const fallback = new Map<string, string>();

export function loadItem(name: string): string | undefined {
  try {
    // The values that could not be stored are newer than the stored ones.
    return fallback.get(name) ?? localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function storeItem(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
    fallback.delete(name);
  } catch {
    fallback.set(name, text);
  }
}

export function removeItem(name: string): void {
  fallback.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // Storage is forbidden, so nothing was stored.
  }
}
