/** Texts that do not fit and are cut: the whole is shown on hover and on focus. */

const focusable = 'a[href], button, input, select, summary, [tabindex]';
/** The parts of a cell that are cut on their own. */
const parts = '.tag, code, small';

const overflows = (one: Element) => one.scrollWidth > one.clientWidth;
const isCut = (cell: Element) => overflows(cell) || [...cell.querySelectorAll(parts)].some(overflows);

/** With the keyboard. A part with something else to reach needs no place of its own. */
function reachable(one: HTMLElement, isNeeded: boolean): void {
  if (isNeeded && !one.querySelector(focusable)) one.tabIndex = 0;
  else one.removeAttribute('tabindex');
}

/** Called after each drawing, and after each change of the width. */
export function markCuts(root: ParentNode): void {
  for (const row of root.querySelectorAll('tbody tr')) {
    const cells = [...row.querySelectorAll<HTMLElement>('td:is(.text, .hash, .status)')];
    const link = row.querySelector<HTMLElement>('a.row');
    // The link covers the row, so it is what the pointer is on; and with the focus on it, the row unfolds.
    const whole = cells.map((cell) => (isCut(cell) ? cell.innerText.trim() : ''));
    if (link) link.title = whole.filter((text) => text !== '').join('\n');
    else {
      cells.forEach((cell, index) => {
        cell.title = whole[index] ?? '';
        reachable(cell, cell.title !== '');
      });
    }
  }
  for (const box of root.querySelectorAll<HTMLElement>('.scroll')) reachable(box, overflows(box));
}
