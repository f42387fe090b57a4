/** A button that begins something on a page, and rests while something runs. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View } from '../page.js';

export interface Button {
  readonly text: string;
  /** The call that the role must be allowed; otherwise the button is hidden. */
  readonly permission: string;
  readonly run: () => Promise<unknown>;
  /** `main`: what the page, or the row, is for; `small`: in a row of a table. */
  readonly kind?: 'main' | 'small' | 'main small';
}

export function button(view: View, { text, permission, run, kind }: Button): TemplateResult | typeof nothing {
  if (!view.can(permission)) return nothing;
  return html`<button class=${kind ?? nothing} ?disabled=${view.isBusy} @click=${() => void run()}>
    ${text}
  </button>`;
}
