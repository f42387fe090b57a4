/** The icon next to the heading: shows the payment's outcome, or that it is pending. */
import { html, type TemplateResult } from 'lit';

const paths = {
  success: 'm6 12.5 4 4 8-8.5',
  failure: 'M12 6v7.5m0 4v.01',
  calm: 'M7 12h10',
  waiting: 'M12 6.5V12l3.5 2',
};

export function badge(kind: keyof typeof paths): TemplateResult {
  return html`<svg part="badge" class="badge ${kind}" viewBox="0 0 24 24" aria-hidden="true">
    <path d=${paths[kind]} />
  </svg>`;
}
