/** Keeps a value's own direction inside right-to-left text. */
import { html, type TemplateResult } from 'lit';

/**
 * Amounts, hashes and names in Latin letters go from left to right, prices in an Arabic locale too: "49.90 US$". Text
 * with Arabic letters, such as a date, goes from right to left. Parts without words are not for translators: the space in an amount
 * is one that does not break.
 */
export function isolate(value: string): TemplateResult {
  return html`<bdi
    dir=${/[\u0620-\u064a]/.test(value) ? 'auto' : 'ltr'}
    translate=${value.includes(' ') ? 'yes' : 'no'}
    >${value}</bdi
  >`;
}
