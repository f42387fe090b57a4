/** The command palette: pages, payments and actions by a few letters. Loaded when it is first opened. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { transactions } from '../src/contract/transactions.js';
import type { Mode } from './api.js';
import { amount } from './format.js';
import { texts } from './messages/palette.js';
import type { View } from './page.js';
import { places } from './pages.js';
import { refuseSecret } from './ui/refuse-secret.js';

interface Entry {
  readonly group: keyof typeof texts.groups;
  readonly label: string;
  readonly note?: string;
  readonly href: string;
}

/** The call that each page's action needs. */
const needed = {
  payments: 'payments.create',
  money: 'transfers.create',
  customers: 'customers.create',
  plans: 'paymentPlans.create',
  wallets: 'wallets.create',
  developers: 'apiKeys.create',
  team: 'team.invite',
} as const satisfies Record<keyof typeof texts.actions, string>;
const actionPages = Object.keys(needed).filter((name): name is keyof typeof needed => name in needed);

/** Keys are made here in test mode only. */
const isPossible = (page: keyof typeof needed, view: View) =>
  view.can(needed[page]) && (page !== 'developers' || view.mode === 'test');

function fixedEntries(view: View, other: Other | undefined): Entry[] {
  const pages = places.flatMap(({ name, label, permission }) =>
    label && view.can(permission) ? [{ group: 'page' as const, label, href: view.link(name) }] : [],
  );
  const actions = actionPages
    .filter((page) => isPossible(page, view))
    .map((page) => ({
      group: 'action' as const,
      label: texts.actions[page],
      href: view.link(page, undefined, { do: 'create' }),
    }));
  const label = other?.mode === 'test' ? texts.toTest : texts.toLive;
  return [...pages, ...actions, ...(other ? [{ group: 'action' as const, label, href: other.href }] : [])];
}

interface Other {
  readonly mode: Mode;
  readonly href: string;
}

/** Time after the last key before payments are searched, and the most that are shown. */
const pauseMs = 200;
const mostRecords = 6;

class ConsolePalette extends LitElement {
  static override readonly properties = {
    records: { state: true },
    text: { state: true },
    at: { state: true },
  };
  declare records: readonly Entry[];
  declare text: string;
  declare at: number;
  view: View | undefined;
  other: Other | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #search = new AbortController();

  constructor() {
    super();
    this.records = [];
    this.text = '';
    this.at = 0;
  }

  /** The document's style sheet reaches it. */
  protected override createRenderRoot(): this {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stop();
  }

  protected override firstUpdated(): void {
    this.querySelector('dialog')?.showModal();
  }

  protected override updated(): void {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  get #entries(): readonly Entry[] {
    if (!this.view) return [];
    const words = this.text.toLowerCase().split(/\s+/);
    const isMeant = ({ label }: Entry) => words.every((word) => label.toLowerCase().includes(word));
    return [...fixedEntries(this.view, this.other).filter(isMeant), ...this.records];
  }

  protected override render(): TemplateResult {
    const entries = this.#entries;
    const { at } = this;
    return html`<dialog class="palette" aria-label=${texts.title} @close=${() => this.remove()}>
      <input
        role="combobox"
        aria-label=${texts.title}
        aria-expanded="true"
        aria-controls="palette-results"
        aria-activedescendant=${entries[at] ? `palette-${at}` : nothing}
        aria-autocomplete="list"
        placeholder=${texts.hint}
        autocomplete="off"
        spellcheck="false"
        @input=${(event: Event) => this.#type(event)}
        @keydown=${(event: KeyboardEvent) => this.#press(event)}
      />
      <div role="listbox" id="palette-results" aria-label=${texts.results}>
        ${entries.map(
          ({ group, label, href, note = texts.groups[group] }, index) =>
            html`<a
              role="option"
              id="palette-${index}"
              aria-selected=${index === at}
              tabindex="-1"
              href=${href}
              @click=${() => this.remove()}
            >
              <span dir="auto">${label}</span> <small>${note}</small>
            </a>`,
        )}
      </div>
      <p role="status">${entries.length === 0 ? texts.nothing : nothing}</p>
    </dialog>`;
  }

  #type(event: Event): void {
    const input = event.currentTarget;
    if (!(input instanceof HTMLInputElement) || refuseSecret(input, 'hash')) return;
    this.text = input.value.trim();
    this.at = 0;
    this.#stop();
    if (this.text.length < 2 || !this.view?.can('transactions.list')) this.records = [];
    else this.#timer = setTimeout(() => void this.#find(this.text), pauseMs);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#search.abort();
  }

  async #find(search: string): Promise<void> {
    const { view } = this;
    if (!view) return;
    this.#search = new AbortController();
    const { signal } = this.#search;
    try {
      const { data } = await view.api(transactions.list, { query: { search, skip: mostRecords } }, signal);
      if (signal.aborted) return;
      this.records = data.map((one) => ({
        group: 'record',
        label: one.txRef ?? one.id,
        note: amount(one.baseAmount, one.baseCurrency),
        href: view.link('payment', one.id),
      }));
    } catch {
      // The page behind it shows problems with the server; pages and actions are still found.
      if (!signal.aborted) this.records = [];
    }
  }

  #press(event: KeyboardEvent): void {
    const entries = this.#entries;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0 && entries.length > 0) {
      event.preventDefault();
      this.at = (this.at + by + entries.length) % entries.length;
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const entry = entries[this.at];
    if (!entry) return;
    this.remove();
    this.view?.go(entry.href);
  }
}
customElements.define('console-palette', ConsolePalette);

export function openPalette(view: View, other: Other | undefined): void {
  if (document.querySelector('console-palette')) return;
  const palette = new ConsolePalette();
  palette.view = view;
  palette.other = other;
  document.body.append(palette);
}
