/** The steps before a shop goes live, on Home until all are done. */
import { html, nothing, type TemplateResult } from 'lit';
import type { goLive, GoLiveStep } from '../../src/contract/console-go-live.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { onServer } from '../command-line.js';
import { texts } from '../messages/go-live.js';
import type { View } from '../page.js';
import { copyable } from '../ui/copy.js';
import { section } from '../ui/details.js';

export type GoLive = ParsedData<typeof goLive.retrieve>;

/** A page of the console, or a command or a setting of the server. */
function doneIn(
  code: GoLiveStep,
  { session, mode }: View,
): { page: string } | { command: string } | { setting: string } {
  const { id } = session.merchant;
  const server = (command: string) => ({ command: onServer(command) });
  switch (code) {
    case 'webhook':
      return { page: 'developers' };
    case 'redirect_origins':
    case 'support_url':
      return { page: 'shop' };
    case 'fee':
      return server(`merchants update ${id} --fee-basis-points 0`);
    case 'public_key':
      return server(`keys create --merchant ${id} --kind public --mode ${mode}`);
    case 'deposit_keys':
      return server(`deposit-keys set --merchant ${id} --mode ${mode} --family FAMILY --xpub XPUB`);
    case 'treasury':
      return server(`deposit-keys set --merchant ${id} --mode ${mode} --family evm --treasury ADDRESS`);
    case 'live_network':
    case 'second_node':
      return { setting: 'NETWORKS_FILE' };
    case 'marker':
      return { setting: 'MARKER_DIRECTORY' };
  }
}

export function goLiveSection({ steps }: GoLive, view: View): TemplateResult | typeof nothing {
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return nothing;
  return section(
    texts.title,
    html`<p>${texts.done(done, steps.length)}</p>
      <ul class="steps">
        ${steps.map(
          ({ code, isDone }) =>
            html`<li class=${isDone ? 'done' : 'open'}>
              <span aria-label=${isDone ? texts.isDone : texts.isOpen} role="img">${isDone ? '✓' : '○'}</span>
              <div>${isDone ? texts.steps[code] : stepView(code, view)}</div>
            </li>`,
        )}
      </ul>`,
  );
}

function stepView(code: GoLiveStep, view: View): TemplateResult {
  const where = doneIn(code, view);
  if ('page' in where) return html`<a href=${view.link(where.page)}>${texts.steps[code]}</a>`;
  return html`${texts.steps[code]}
    <small>${'command' in where ? texts.operator : texts.setting}</small>
    ${copyable('command' in where ? where.command : where.setting, view)}`;
}
