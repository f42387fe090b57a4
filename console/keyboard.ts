/** The keys of the console. */

export interface KeyActions {
  showKeys(): void;
  openPalette(): void;
}

/** @param root the console's element */
export function press(event: KeyboardEvent, root: HTMLElement, { showKeys, openPalette }: KeyActions): void {
  const { key, altKey } = event;
  const hasCommand = event.ctrlKey || event.metaKey;
  if (key === 'k' && hasCommand && !altKey) {
    event.preventDefault();
    openPalette();
  }
  const target = event.composedPath()[0];
  const isTyping =
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement;
  if (isTyping || hasCommand || altKey) return;
  if (key === '/') {
    event.preventDefault();
    root.querySelector<HTMLInputElement>('input[type=search]')?.focus();
  }
  if (key === '?') showKeys();
  if (key === 'j' || key === 'k') step(root, key === 'j' ? 1 : -1);
}

/** To the next or the previous row that is a link. */
function step(root: HTMLElement, by: 1 | -1): void {
  const rows = [...root.querySelectorAll<HTMLElement>('main a.row')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
}
