/** A button that starts an action on a page, and is disabled while one runs. */
import { html, nothing, type TemplateResult } from 'lit';
import type { View } from '../page.js';

export interface Button {
  readonly text: string;
  /** The call that the role must be allowed; otherwise the button is hidden. */
  readonly permission: string;
  readonly run: () => Promise<unknown>;
  /** The call needs a fresh sign-in, which is asked for first. */
  readonly isGuarded?: boolean;
  /** It has been started already: it stays where it is, with the focus, and does nothing. */
  readonly isHeld?: boolean;
  /** `main`: the purpose of the page or the row; `small`: in a row of a table. */
  readonly kind?: 'main' | 'small' | 'main small';
}

export function button(
  view: View,
  { text, permission, run, kind, isGuarded = false, isHeld = false }: Button,
): TemplateResult | typeof nothing {
  if (!view.can(permission)) return nothing;
  const start = async () => {
    if (isHeld) return;
    if (!isGuarded || (await view.prove())) await run();
  };
  return html`<button
    class=${kind ?? nothing}
    ?disabled=${view.isBusy}
    aria-disabled=${isHeld ? 'true' : nothing}
    @click=${() => void start()}
  >
    ${text}
  </button>`;
}
