/** Actions that only the server's command line can do, each with the command to copy. */
import { html, type TemplateResult } from 'lit';
import { onServer } from '../command-line.js';
import type { View } from '../page.js';
import { copyable } from './copy.js';

export function commands(
  view: View,
  list: readonly (readonly [what: string, command: string])[],
): TemplateResult {
  return html`<dl class="commands">
    ${list.map(
      ([what, command]) =>
        html`<div>
          <dt>${what}</dt>
          <dd>${copyable(onServer(command), view)}</dd>
        </div>`,
    )}
  </dl>`;
}
