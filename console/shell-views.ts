/** The frame of a page: the head with search and mode, the menu, and the content shown in place of a page. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ConsoleSession } from '../src/contract/console-people.js';
import type { Mode } from './api.js';
import { common, shellTexts as texts } from './messages/common.js';
import type { Problem, Toast } from './shell-state.js';
import { more } from './ui/more.js';
import { refuseSecret } from './ui/refuse-secret.js';

export interface Frame {
  readonly session: ConsoleSession;
  readonly mode: Mode;
  readonly aheadMs: number;
  readonly menu: readonly {
    readonly label: string;
    /** Of things that wait; undefined for none. */
    readonly count: number | undefined;
    readonly href: string;
    readonly isCurrent: boolean;
  }[];
  /** The pages that belong together with this one, which have a menu of their own. */
  readonly parts: Frame['menu'];
  readonly partsLabel: string;
  readonly otherMode: { readonly mode: Mode; readonly href: string } | undefined;
  readonly query: string;
  readonly search: (text: string) => void;
  readonly signOut: (everywhere: boolean) => void;
  /** The zone of all times and days. */
  readonly zone: string;
  readonly content: TemplateResult;
  /** The rows in view are being replaced. */
  readonly isReading: boolean;
}

export function frame(options: Frame): TemplateResult {
  const {
    session,
    mode,
    aheadMs,
    menu,
    parts,
    partsLabel,
    otherMode,
    query,
    search,
    signOut,
    zone,
    content,
    isReading,
  } = options;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).querySelector('input');
    if (input && !refuseSecret(input, 'hash')) search(input.value.trim());
  };
  return html`<a class="skip" href="#content" @click=${focusContent}>${common.skip}</a>
    <div class="frame ${mode}">
      <aside class="mode" aria-label=${texts.mode}>
        <strong>${mode === 'test' ? texts.test : texts.live}</strong>
        ${aheadMs > 0 ? html`<b>${texts.clock(aheadMs)}</b>` : nothing}
        ${mode === 'test' ? html`<span class="hint">${texts.testHint}</span>` : nothing}
        ${
          otherMode
            ? html`<a href=${otherMode.href}>${otherMode.mode === 'test' ? texts.toTest : texts.toLive}</a>`
            : html`<span class="other">${mode === 'test' ? texts.noLive : texts.noTest}</span>`
        }
      </aside>
      <header class="head">
        <b class="shop" title=${session.merchant.name}>${session.merchant.name}</b>
        <form role="search" @submit=${submit}>
          <input
            type="search"
            name="q"
            aria-label=${texts.searchHint}
            placeholder=${texts.searchHint}
            .value=${query}
            autocomplete="off"
            spellcheck="false"
          />
        </form>
        <details class="person">
          <summary><span>${session.person.email}</span></summary>
          <div>
            <p><small>${session.role}</small></p>
            <button @click=${() => signOut(false)}>${texts.signOut}</button>
            <button @click=${() => signOut(true)}>${texts.signOutEverywhere}</button>
          </div>
        </details>
      </header>
      <nav class="menu" aria-label=${common.menu}>
        ${menu.slice(0, inView).map(entry)}
        ${
          menu.length > inView
            ? more('more-menu', menu.slice(inView).map(entry), common.more, nothing)
            : nothing
        }
      </nav>
      <main id="content" tabindex="-1" aria-busy=${isReading}>
        ${
          parts.length > 1
            ? html`<nav class="parts" aria-label=${partsLabel}>${parts.map(entry)}</nav>`
            : nothing
        }
        ${content}
        <p class="zone"><small>${common.timesIn(zone)}</small></p>
      </main>
    </div>`;
}

/** The entries of the menu that a narrow screen shows without opening the rest. */
const inView = 4;

const entry = ({ label, count, href, isCurrent }: Frame['menu'][number]) =>
  html`<a
    href=${href}
    aria-current=${isCurrent ? 'page' : nothing}
    aria-label=${count === undefined ? nothing : texts.waiting(label, count)}
    >${label}${count === undefined ? nothing : html` <span class="count">${count > 99 ? '99+' : count}</span>`}</a
  >`;

export const toastView = (toast: Toast | undefined) =>
  html`<p class="toast" role="status" ?data-empty=${!toast}>
    ${toast?.text}
    ${toast?.undo ? html`<button class="small" @click=${toast.undo}>${texts.undo}</button>` : nothing}
  </p>`;

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** The heading of a page, and rows without words, until its data is there. It shows only if that takes a moment. */
export const loadingView = (title: string) =>
  html`<div class="wait" role="status">
    <p class="title">${title}</p>
    <p class="announced">${common.loading}</p>
    <div class="blank" aria-hidden="true">${Array.from({ length: 8 }, () => html`<i></i>`)}</div>
  </div>`;

export function problemView(shown: Problem, retry: () => void, home: string): TemplateResult {
  return html`<div class="problem" role="alert">
    <p>${shown.text}</p>
    ${shown.requestId ? html`<small>${texts.requestId(shown.requestId)}</small>` : nothing}
    ${
      shown.isFinal
        ? html`<a class="button" href=${home}>${texts.toHome}</a>`
        : html`<button @click=${retry}>${common.retry}</button>`
    }
  </div>`;
}
