/** Puts text on the clipboard, also where a page has no permission for the modern way. */

/** @returns whether it worked; where it did not, the text can still be selected by hand */
export async function copyText(text: string, root: ShadowRoot): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, root);
  }
}

function copyBySelection(text: string, root: ShadowRoot): boolean {
  const focused = root.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  root.append(field);
  try {
    field.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- all there is without a permission for the clipboard
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
