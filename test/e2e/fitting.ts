/** Finds controls and words that do not fit on a page. */
import type { Page } from 'playwright-core';

/** Cut and covered controls, broken words, and whether the page scrolls sideways. Runs in the page. */
export function misfits(): string[] {
  const found: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
  const controls = 'a[href], button, input, select, textarea, summary';
  const isShown = (one: Element) =>
    one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) &&
    !one.closest('[inert], .skip, thead');
  for (const one of document.querySelectorAll<HTMLElement>(controls)) {
    if (!isShown(one)) continue;
    const name = `${one.localName} “${(one.innerText || one.getAttribute('name') || one.title).slice(0, 30)}”`;
    // The actions of a row are in view without scrolling its table.
    const table = one.closest('td.actions')?.closest('.scroll');
    if (!table) one.scrollIntoView({ block: 'center', inline: 'nearest' });
    else table.scrollIntoView({ block: 'start' });
    if (table) scrollBy(0, one.getBoundingClientRect().top - innerHeight / 2);
    const box = one.getClientRects()[0];
    if (!box) continue;
    const isRow = one.matches('td:first-child > a');
    const edge = table?.getBoundingClientRect() ?? { left: 0, right: innerWidth };
    if (!isRow && (box.left < edge.left - 1 || box.right > edge.right + 1))
      found.push(`${name} is cut by the edge`);
    if (one.matches('button, .button') && one.scrollWidth > one.clientWidth + 1) found.push(`${name} is cut`);
    // A table cell shows only a part of a long text.
    const shown = (isRow ? one.closest('td') : null)?.getBoundingClientRect() ?? box;
    const x = (Math.max(box.left, shown.left) + Math.min(box.right, shown.right)) / 2;
    const on = document.elementFromPoint(x, box.top + box.height / 2);
    if (!on || !(one.contains(on) || on.contains(one.closest('label')))) {
      found.push(`${name} is covered by ${on?.outerHTML.slice(0, 60) ?? 'nothing'}`);
    }
  }
  scrollTo(0, 0);
  const blockOf = (one: Element): Element =>
    getComputedStyle(one).display.startsWith('inline') && one.parentElement
      ? blockOf(one.parentElement)
      : one;
  const padding = (one: Element) => {
    const { paddingLeft, paddingRight } = getComputedStyle(one);
    return parseFloat(paddingLeft) + parseFloat(paddingRight);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent || parent.closest('code, pre, script, style, svg, noscript') || !isShown(parent)) continue;
    // A line may end after a hyphen or a slash.
    for (const { 0: word, index } of (node.textContent ?? '').matchAll(
      /[^\s\-/–—?…_]{2,24}(?![^\s\-/–—?…_])/g,
    )) {
      if (/[^\s\-/–—?…_]/.test((node.textContent ?? '')[index - 1] ?? ' ')) continue;
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const parts = [...range.getClientRects()];
      const lines = new Set(parts.map(({ top }) => Math.round(top / 4)));
      // A word that is longer than a whole line has to be broken.
      const block = blockOf(parent);
      const fits = parts.reduce((sum, { width }) => sum + width, 0) < block.clientWidth - padding(block);
      if (lines.size > 1 && fits) found.push(`“${word}” is broken`);
    }
  }
  return found;
}

export const misfitsOn = (page: Page): Promise<string[]> => page.evaluate(misfits);
