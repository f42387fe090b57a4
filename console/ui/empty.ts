/** The hint of a list without records: what comes there, and a link to the next step. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View } from '../page.js';
import type { Query } from '../route.js';

export interface NextStep {
  readonly text: string;
  readonly page: string;
  readonly query?: Query;
  /** The call that the step needs, besides its page. */
  readonly permission?: string;
}

export function emptyHint(view: View, text: string, step?: NextStep): TemplateResult {
  const isAllowed =
    step && view.sees(step.page) && (step.permission === undefined || view.can(step.permission));
  return html`<p>${text}</p>
    ${isAllowed ? html`<a class="button" href=${view.link(step.page, undefined, step.query)}>${step.text}</a>` : nothing}`;
}
