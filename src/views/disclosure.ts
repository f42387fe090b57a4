/** A part that the payer can fold away. It stays as they left it, no matter what the payment does. */
import { html, type TemplateResult } from 'lit';
import type { Panel, ViewContext } from './view.js';

export function disclosure(
  panel: Panel,
  part: string,
  title: string,
  content: TemplateResult,
  { isOpen, setOpen }: ViewContext,
): TemplateResult {
  return html`<details
    part=${part}
    .open=${isOpen(panel)}
    @toggle=${({ currentTarget }: Event) => {
      if (currentTarget instanceof HTMLDetailsElement) setOpen(panel, currentTarget.open);
    }}
  >
    <summary>${title}</summary>
    ${content}
  </details>`;
}
