/** Copies text to the clipboard. Falls back to a selection if the page may not use the clipboard API. */
import { writeClipboard } from '../platform.js';

/** Permission prompts that nobody sees never resolve, nor do some webviews. */
const patienceMs = 1_000;

/**
 * @param onLate called if the clipboard accepts the text after all, after the timeout
 * @returns true if it is copied
 */
export async function copyText(text: string, root: ShadowRoot, onLate: () => void): Promise<boolean> {
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const writing = writeClipboard(text).then(() => {
      if (isLate) onLate();
    });
    const patience = new Promise((_resolve, reject) => {
      timer = setTimeout(reject, patienceMs);
    });
    await Promise.race([writing, patience]);
    return true;
  } catch {
    // Refused, or not answered. A selection may still work.
  } finally {
    clearTimeout(timer);
  }
  isLate = true;
  return copyBySelection(text, root);
}

function copyBySelection(text: string, root: ShadowRoot): boolean {
  const focused = root.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  (root.querySelector('dialog[open]') ?? root).append(field);
  try {
    field.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without clipboard permission
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
