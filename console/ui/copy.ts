/** A value that a press copies, and links to other sites. */
import { html, nothing, svg, type TemplateResult } from 'lit';
import { writeClipboard } from '../../src/platform.js';
import { common } from '../messages/common.js';
import type { View } from '../page.js';

const icon = html`<svg viewBox="0 0 16 16" aria-hidden="true">
  ${svg`<path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" fill="none" stroke="currentColor" stroke-width="1.3"></path>`}
</svg>`;

const copyOf = (value: string, view: Pick<View, 'say'>) => async () => {
  try {
    await writeClipboard(value);
    view.say(common.copied);
  } catch {
    view.say(common.notCopied);
  }
};

/** For a value of several lines, which is next to it. */
export const copyButton = (value: string, view: Pick<View, 'say'>, text: string) =>
  html`<button type="button" class="small" @click=${copyOf(value, view)}>${text}</button>`;

export function copyable(value: string, view: Pick<View, 'say'>, shown: unknown = value): TemplateResult {
  return html`<span class="copyable"
    ><code translate="no">${shown}</code
    ><button
      type="button"
      class="small"
      aria-label=${common.copyOf(value)}
      title=${common.copy}
      @click=${copyOf(value, view)}
    >
      ${icon}
    </button></span
  >`;
}

/** An address in blocks of four characters, which people compare one by one. Copying it copies no spaces. */
export function blocks(address: string): TemplateResult {
  const parts = address.match(/.{1,4}/gs) ?? [];
  return html`<code class="address blocks" translate="no"
    >${parts.map((part) => html`<span>${part}</span>`)}</code
  >`;
}

/**
 * Explorers' addresses come from the server's configuration, and merchants' from merchants: only http and https become
 * links.
 */
export function outside(url: string | undefined, text: unknown): unknown {
  if (!url || !/^https?:\/\//.test(url)) return nothing;
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">${text} ↗</a>`;
}

/** The first and last characters; the whole text on hover. */
export function short(value: string, start = 8, end = 6): TemplateResult | string {
  if (value.length <= start + end + 1) return value;
  return html`<span title=${value} translate="no">${value.slice(0, start)}…${value.slice(-end)}</span>`;
}
