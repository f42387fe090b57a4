/** Entries beyond the most important ones: in line on a wide screen, and behind a button where they do not fit. */
import { html, nothing, type TemplateResult } from 'lit';
import { common } from '../messages/common.js';

/** @param id of its own on the page */
export function more(
  id: string,
  entries: readonly unknown[],
  sign: unknown = html`<span aria-hidden="true">⋯</span>`,
  name: string | typeof nothing = common.moreActions,
): TemplateResult {
  return html`<button class="more small" popovertarget=${id} aria-label=${name}>${sign}</button>
    <div class="rest" id=${id} popover>${entries}</div>`;
}

/** The actions of a row. Its purpose has a button of the kind `main small`, and is the first. */
export function rowActions(id: string, entries: readonly unknown[]): TemplateResult | typeof nothing {
  const possible = entries.filter((one) => one !== nothing);
  if (possible.length === 0) return nothing;
  return html`<div class="actions">${possible.length === 1 ? possible : more(`more-${id}`, possible)}</div>`;
}
