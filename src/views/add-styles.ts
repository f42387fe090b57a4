/** Adds the styles of code that was loaded later to those of the checkout. */
import type { CSSResult } from 'lit';

/** Repeating it changes nothing. In browsers without style sheets from scripts, the later parts have no styles. */
export function addStyles(root: ShadowRoot | null, { styleSheet }: CSSResult): void {
  if (!root || !styleSheet || root.adoptedStyleSheets.includes(styleSheet)) return;
  // Older browsers have a list that cannot be extended.
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, styleSheet];
}
