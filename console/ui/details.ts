/** A record's facts, as names and values. */
import { html, nothing, type TemplateResult } from 'lit';
import { isValue } from '../format.js';

/** Facts that are undefined, null or empty are left out. */
export function details(facts: readonly (readonly [name: string, value: unknown])[]): TemplateResult {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return html`<dl class="details">
    ${known.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd translate=${isValue(value) ? 'no' : nothing}>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** A part of a page under its own heading. */
export function section(title: string, content: unknown, actions: unknown = nothing): TemplateResult {
  return html`<section class="panel">
    <header>
      <h2>${title}</h2>
      ${actions === nothing ? nothing : html`<div class="actions">${actions}</div>`}
    </header>
    ${content}
  </section>`;
}

/** A short word with a colour; the word is enough without it. */
export function tag(text: string, tone: 'good' | 'bad' | 'caution' | 'plain' = 'plain'): TemplateResult {
  return html`<span class="tag ${tone}">${text}</span>`;
}
