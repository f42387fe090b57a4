/** `<checkout-console>`: sign-in, the menu, the mode, and the page of the address. */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import {
  allows,
  changesPath,
  consoleStart,
  peopleApi,
  type ConsoleSession,
  type ConsoleStart,
} from '../src/contract/console-people.js';
import { drawOrAnew, ForeignDom } from '../src/foreign-dom.js';
import { CallFailure, createApi, type Mode } from './api.js';
import { readCounts, type Counts } from './attention.js';
import { followChanges, markOf, type Following } from './changes.js';
import { setCommandLine } from './command-line.js';
import { prove, withFreshSignIn, type SignInHost } from './fresh-sign-in.js';
import { press } from './keyboard.js';
import { common, shellTexts as texts } from './messages/common.js';
import type { Page, View } from './page.js';
import { signInByPasskey } from './passkeys.js';
import { partsOf, placeOf, places, type Place } from './pages.js';
import { formatRoute, parseRoute, type Query, type Route } from './route.js';
import { failureDialog, isSignedOut, messageOf, problemOf } from './problems.js';
import { searchRoute } from './search.js';
import {
  frame,
  keyboardDialog,
  loadingView,
  problemView,
  toastView,
  type Problem,
  type Shown,
  type Toast,
} from './shell-views.js';
import { signInView, takeToken, type SignIn } from './sign-in.js';
import { dialogView, type Dialog } from './ui/dialog.js';
import { markCuts } from './ui/whole.js';
import { describeZone, setShopZone } from './zone.js';

interface Question {
  readonly dialog: Dialog;
  readonly answer: (values: Readonly<Record<string, string>> | undefined) => void;
}

/** Duration of a notice, and of one whose action can be undone. */
const sayMs = 4_000;
const undoMs = 10_000;
/** The age of the numbers in the menu. */
const countMs = 30_000;

export class CheckoutConsole extends LitElement {
  static override readonly properties = {
    base: {},
    apiUrl: { attribute: 'api-url' },
    commandLine: { attribute: 'command-line' },
    session: { state: true },
    signIn: { state: true },
    shown: { state: true },
    busy: { state: true },
    toast: { state: true },
    counts: { state: true },
    aheadMs: { state: true },
    question: { state: true },
  };

  declare base: string;
  declare apiUrl: string;
  declare commandLine: string;
  declare session: ConsoleSession | undefined;
  declare signIn: SignIn | undefined;
  declare shown: Shown;
  declare busy: number;
  declare toast: Toast | undefined;
  /** Work that waits, by page. */
  declare counts: Counts;
  /** Time that the test clock is ahead, in whole minutes. */
  declare aheadMs: number;
  declare question: Question | undefined;

  #route: Route | undefined;
  #page: Page | undefined;
  #view: View | undefined;
  /** Aborted when the element is removed. */
  #connection = new AbortController();
  /** Aborted when the page is left. */
  #visit = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #following: Following | undefined;
  /** The server's mark of the first page's payment, before it was read. */
  #seen: string | undefined;
  /** True if something has changed since the page's data was requested. */
  #isStale = false;
  /** Counts the reads of pages' data, and the last one that has ended. */
  #reading = 0;
  #loaded = 0;
  #pressed: HTMLElement | undefined;
  #sayTimer: ReturnType<typeof setTimeout> | undefined;
  /** The mode whose numbers were read, and when. */
  #counted: { readonly mode?: Mode; readonly at: number } = { at: 0 };

  constructor() {
    super();
    this.base = '';
    this.apiUrl = '';
    this.commandLine = '';
    this.busy = 0;
    this.counts = {};
    this.aheadMs = 0;
    this.shown = { name: 'loading' };
    new ForeignDom(this, () => this.shown);
  }

  /** The document is the console's own: its style sheet and assistive technology reach everything. */
  protected override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    document.title = common.brand;
    setCommandLine(this.commandLine);
    addEventListener('popstate', () => this.#open(), { signal });
    addEventListener('hashchange', () => void this.#begin(), { signal });
    addEventListener('click', (event) => this.#openLink(event), { signal });
    addEventListener('resize', () => markCuts(this), { signal });
    addEventListener('keydown', (event) => this.#press(event), { signal });
    document.addEventListener('visibilitychange', () => this.#watch(), { signal });
    void this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connection.abort();
    this.#leave();
    clearTimeout(this.#sayTimer);
  }

  protected override update(changed: PropertyValues): void {
    drawOrAnew(this, () => super.update(changed));
  }

  protected override render(): TemplateResult {
    const { session, signIn, shown, question, toast } = this;
    const rest = html`${question ? dialogView(question.dialog, (values) => this.#answer(question, values)) : nothing}
    ${toastView(toast)}`;
    if (signIn) return html`${signInView(signIn, () => void this.#usePasskey())} ${rest}`;
    const route = this.#route;
    if (!session || !route) return html`<p class="wait" role="status">…</p>`;
    const isSeen = ({ permission }: Place) => allows(session, permission);
    const menu = places.filter((one) => one.label && !one.parent && isSeen(one));
    const page = placeOf(route.page);
    const entryOf = ({ name, label = '' }: Place) => ({
      label,
      href: formatRoute(this.base, route.mode, name),
    });
    return html`${frame({
      session,
      mode: route.mode,
      aheadMs: route.mode === 'test' ? this.aheadMs : 0,
      menu: menu.map((one) => ({
        ...entryOf(one),
        count: this.#countOf(one.name),
        isCurrent: one.name === route.page || one.name === page?.parent,
      })),
      parts: partsOf(page?.parent ?? '')
        .filter(isSeen)
        .map((one) => ({ ...entryOf(one), count: undefined, isCurrent: one.name === route.page })),
      partsLabel: placeOf(page?.parent ?? '')?.label ?? '',
      otherMode: this.#otherMode(route, session),
      query: route.query.get('q') ?? '',
      search: (text) => this.#go(searchRoute(this.base, route.mode, text)),
      signOut: (everywhere) => void this.#signOut(everywhere),
      zone: describeZone(Date.now() + (route.mode === 'test' ? this.aheadMs : 0)),
      content: this.#content(shown),
      isReading: shown.name === 'page' && shown.isOld === true,
    })}
    ${rest}`;
  }

  /** Of an entry of the menu, with the pages that belong to it; undefined for none. */
  #countOf(name: string): number | undefined {
    const own = Object.entries(this.counts).filter(([page]) => (placeOf(page)?.parent ?? page) === name);
    return own.length === 0 ? undefined : own.reduce((sum, [, count]) => sum + count, 0);
  }

  protected override updated(): void {
    this.#focusAgain();
    this.querySelector<HTMLDialogElement>('dialog:not([open])')?.showModal();
    markCuts(this);
  }

  #content(shown: Shown): TemplateResult {
    const view = this.#view;
    const place = placeOf(this.#route?.page ?? '');
    const home = formatRoute(this.base, this.#route?.mode ?? 'test', 'home');
    if (shown.name === 'problem') {
      return html`<h1>${shown.title ?? place?.label ?? texts.failed}</h1>
        ${problemView(shown, () => this.#open(), home)}`;
    }
    if (shown.name === 'loading' || !view || !this.#page) {
      return loadingView(place?.label ?? placeOf(place?.parent ?? '')?.label ?? common.loading);
    }
    return html`${shown.problem ? problemView(shown.problem, () => void this.#load(), home) : nothing}
      <h1 tabindex="-1">${this.#page.title(view, shown.data)}</h1>
      ${this.#page.render(shown.data, view)}`;
  }

  /** Signs in if the address has a link's token, and otherwise takes the session of the document, or fetches it. */
  async #begin(): Promise<void> {
    const { signal } = this.#connection;
    // The first list may be one of today, by the test clock.
    const hearClock = (at: number) => this.#hearClock('test', at);
    const api = createApi(this.apiUrl, 'test', hearClock);
    const token = takeToken();
    const start = this.#takeStart();
    if (token === undefined && start) {
      hearClock(Date.parse(start.at));
      this.#seen = start.seen;
      this.#enter(start.session);
      this.#open();
      return;
    }
    // Far from the server, it is faster to fetch the page's script and the session in parallel.
    placeOf(parseRoute(this.base, location)?.page ?? 'home')
      ?.load()
      .catch(() => undefined);
    try {
      if (token !== undefined) {
        this.signIn = { name: 'working' };
        this.#enter((await api(peopleApi.session.create, { body: { token } }, signal)).data);
      } else {
        this.#enter((await api(peopleApi.session.retrieve, {}, signal)).data);
      }
      this.signIn = undefined;
      this.#open();
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof CallFailure ? error.code : 'unexpected';
      if (code === 'session_required') this.signIn = { name: 'asking' };
      else if (token !== undefined && code === 'not_found') this.signIn = { name: 'ended' };
      else this.signIn = { name: 'failed', message: messageOf(error) };
    }
  }

  /** The session as the document has it, once: later it may have ended. */
  #takeStart(): ConsoleStart | undefined {
    const text = this.getAttribute('start');
    this.removeAttribute('start');
    // During an upgrade, the document may be of another version than this script.
    return text === null ? undefined : consoleStart.safeParse(JSON.parse(text)).data;
  }

  #enter(session: ConsoleSession): void {
    this.session = session;
    setShopZone(session.merchant.timeZone);
  }

  /** Shows the page of the address. */
  #open(): void {
    const { session } = this;
    if (!session) return;
    this.#leave();
    this.#visit = new AbortController();
    const found = parseRoute(this.base, location);
    if (!found || !session.modes.includes(found.mode)) {
      // Real money waits there for people who come by a link.
      const mode = session.modes.includes('live') ? 'live' : 'test';
      history.replaceState(null, '', formatRoute(this.base, mode, 'home'));
    }
    const route = parseRoute(this.base, location);
    if (!route) return;
    const asked = route.query.get('do');
    if (asked !== null) {
      // Started once: not again when the page is read again, or by Back.
      route.query.delete('do');
      history.replaceState(
        null,
        '',
        formatRoute(this.base, route.mode, route.page, route.id, Object.fromEntries(route.query)),
      );
    }
    const isOther =
      route.page !== this.#route?.page || route.id !== this.#route.id || route.mode !== this.#route.mode;
    this.#route = route;
    const place = placeOf(route.page);
    if (!place) {
      this.#fail({ name: 'problem', title: texts.notFoundTitle, text: texts.notFound, isFinal: true });
      return;
    }
    if (!allows(session, place.permission)) {
      const text = texts.mayNot(session.role);
      this.#fail({ name: 'problem', title: texts.mayNotTitle, text, isFinal: true });
      return;
    }
    if (isOther) this.shown = { name: 'loading' };
    else if (this.shown.name === 'page') this.shown = { ...this.shown, isOld: true };
    this.#view = this.#viewOf(route, session);
    void this.#show(place.load, isOther, asked);
  }

  async #show(
    load: () => Promise<{ readonly default: Page }>,
    isOther: boolean,
    asked: string | null,
  ): Promise<void> {
    const { signal } = this.#visit;
    try {
      const { default: page } = await load();
      if (signal.aborted) return;
      this.#page = page;
      // If the announcements are about the data, it is read first.
      if (!page.announced) void this.#follow();
      await this.#load();
      if (page.announced && this.#visit.signal === signal) void this.#follow();
      if (isOther) await this.#arrive(signal);
      const view = this.#view;
      if (asked !== null && view && !view.signal.aborted) await page.actions?.[asked]?.(view);
    } catch (error) {
      if (!signal.aborted) this.#fail({ name: 'problem', text: messageOf(error) });
    }
  }

  /** Shows a problem in place of a page. */
  #fail(problem: Problem): void {
    const title = problem.title ?? placeOf(this.#route?.page ?? '')?.label ?? texts.failed;
    document.title = `${title} · ${this.session?.merchant.name ?? ''}`;
    this.shown = problem;
  }

  /** Keyboards and screen readers continue at the new page's heading. */
  async #arrive(signal: AbortSignal): Promise<void> {
    await this.updateComplete;
    if (signal.aborted) return;
    scrollTo(0, 0);
    this.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  /** Reads the page's data. If reading it again fails, the earlier data stays. */
  async #load(): Promise<void> {
    const page = this.#page;
    const view = this.#view;
    if (!page || !view) return;
    const { signal } = view;
    // An answer overtaken by a later one is older than the page.
    this.#reading += 1;
    const reading = this.#reading;
    this.#isStale = false;
    const isLate = () => signal.aborted || reading !== this.#reading;
    let waitMs = page.everyMs;
    try {
      const data = await page.load(view);
      if (isLate()) return;
      this.shown = { name: 'page', data };
      if (page.counts) {
        this.counts = page.counts(data);
        this.#counted = { mode: view.mode, at: Date.now() };
      }
      document.title = `${page.title(view, data)} · ${this.session?.merchant.name ?? ''}`;
    } catch (error) {
      if (isLate()) return;
      if (isSignedOut(error)) {
        this.signIn = { name: 'asking' };
        return;
      }
      if (waitMs !== undefined && error instanceof CallFailure) {
        waitMs = Math.max(waitMs, (error.waitSeconds ?? 0) * 1000);
      }
      const problem = { name: 'problem', ...problemOf(error) } as const;
      const isMissing = error instanceof CallFailure && error.code === 'not_found';
      if (this.shown.name === 'page') this.shown = { name: 'page', data: this.shown.data, problem };
      else this.#fail(isMissing ? { ...problem, title: texts.missingTitle, isFinal: true } : problem);
    }
    this.#loaded = reading;
    void this.#count(view);
    if (waitMs !== undefined) this.#poll(waitMs);
  }

  /** Reads the numbers in the menu, at most every half minute, and at once after a change. */
  async #count(view: View, isAtOnce = false): Promise<void> {
    const { mode } = view;
    const isDue = isAtOnce || this.#counted.mode !== mode || Date.now() - this.#counted.at > countMs;
    if (!isDue || document.hidden || !view.can('home.retrieve')) return;
    if (this.#counted.mode !== mode) this.counts = {};
    this.#counted = { mode, at: Date.now() };
    try {
      this.counts = await readCounts(view.api, view.signal);
    } catch {
      // The page says what is wrong.
      this.#counted = { mode, at: 0 };
    }
  }

  /**
   * Reads the page again after a while: soon if it has changed in the meantime, and rarely if the server announces
   * changes.
   */
  #poll(delayMs: number): void {
    clearTimeout(this.#timer);
    if (document.hidden || this.signIn || this.#page?.everyMs === undefined) return;
    if (this.#isStale) return void this.#load();
    this.#timer = setTimeout(() => void this.#load(), Math.max(delayMs, this.#following?.waitMs ?? 0));
  }

  /** Listens to changes of the page, if the server sends them. A hidden page needs none, and takes no connection. */
  async #follow(): Promise<void> {
    const { signal } = this.#visit;
    const { shown } = this;
    const page = this.#page;
    const announced = shown.name === 'page' ? page?.announced?.(shown.data) : undefined;
    const seen = page?.changes === 'payment' ? this.#seen : await markOf(announced);
    if (signal.aborted) return;
    // Another payment has another one.
    this.#seen = undefined;
    const route = this.#route;
    this.#following?.end();
    this.#following = undefined;
    if (!route || !page?.changes || document.hidden || this.signIn) return;
    const query = new URLSearchParams({
      ...(page.changes === 'payment' && { payment: route.id ?? '' }),
      ...(seen !== undefined && { seen }),
    });
    const url = `${this.apiUrl}${changesPath}/${route.mode}?${query}`;
    this.#following = followChanges(url, (isChanged) => {
      this.#isStale ||= isChanged;
      // A read in progress is repeated once afterwards.
      if (this.#loaded === this.#reading) this.#poll(page.everyMs ?? 0);
    });
  }

  #watch(): void {
    void this.#follow();
    this.#poll(0);
  }

  #leave(): void {
    this.#visit.abort();
    this.#following?.end();
    this.#following = undefined;
    clearTimeout(this.#timer);
  }

  #viewOf(route: Route, session: ConsoleSession): View {
    const { signal } = this.#visit;
    const { mode } = route;
    const isBusy = () => this.busy > 0;
    return {
      api: createApi(this.apiUrl, mode, (at) => this.#hearClock(mode, at)),
      apiUrl: this.apiUrl,
      session,
      mode,
      id: route.id ?? '',
      query: route.query,
      now: () => Date.now() + (mode === 'test' ? this.aheadMs : 0),
      signal,
      can: (permission) => allows(session, permission),
      sees: (name) => allows(session, placeOf(name)?.permission ?? ''),
      parts: (name) => partsOf(name).flatMap((one) => (allows(session, one.permission) ? one.name : [])),
      link: (page, id, query) => formatRoute(this.base, mode, page, id, query),
      go: (href) => this.#go(href),
      replace: (href) => this.#go(href, true),
      filter: (query) => this.#filter(query),
      act: (run, done, undo) => this.#act(run, done, undo),
      prove: () => this.#prove(),
      get isBusy() {
        return isBusy();
      },
      ask: (dialog) => this.#ask(dialog),
      say: (text) => this.#say(text),
      redraw: () => this.requestUpdate(),
    };
  }

  #hearClock(mode: Mode, at: number): void {
    const aheadMs = Math.round((at - Date.now()) / 60_000) * 60_000;
    // Other clocks differ by seconds, and replies take some.
    this.aheadMs = mode === 'test' && aheadMs > 5 * 60_000 ? aheadMs : 0;
  }

  #otherMode({ mode, page }: Route, session: ConsoleSession): { mode: Mode; href: string } | undefined {
    const other = mode === 'test' ? 'live' : 'test';
    if (!session.modes.includes(other)) return undefined;
    // A record of one mode does not exist in the other.
    const place = placeOf(page);
    return {
      mode: other,
      href: formatRoute(this.base, other, place?.label ? page : (place?.parent ?? page)),
    };
  }

  #go(href: string, isReplaced = false): void {
    if (isReplaced) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
    this.#open();
  }

  #filter(query: Query): void {
    const route = this.#route;
    if (!route) return;
    // A new filter starts at its own first page.
    const next = { ...Object.fromEntries(route.query), page: undefined, ...query };
    this.#go(formatRoute(this.base, route.mode, route.page, route.id, next));
  }

  /** Links within the console change the page without loading a document. */
  #openLink(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
      return;
    const [link] = event.composedPath().filter((one) => one instanceof HTMLAnchorElement);
    if (!link || link.target || link.download || link.origin !== location.origin || link.hash) return;
    if (!link.pathname.startsWith(`${this.base}/`)) return;
    event.preventDefault();
    this.querySelector<HTMLElement>('.rest:popover-open')?.hidePopover();
    this.#go(link.href);
  }

  #press(event: KeyboardEvent): void {
    // A dialog reports its close in a later task: `question` would still be set for the next key.
    if (this.querySelector('dialog[open]')) return;
    press(event, this, {
      showKeys: () => void this.#ask(keyboardDialog),
      openPalette: () => void this.#openPalette(),
    });
  }

  async #openPalette(): Promise<void> {
    const [view, route, session] = [this.#view, this.#route, this.session];
    if (!view || !route || !session) return;
    const { openPalette } = await import('./palette.js');
    openPalette(view, this.#otherMode(route, session));
  }

  #ask(dialog: Dialog): Promise<Readonly<Record<string, string>> | undefined> {
    this.question?.answer(undefined);
    return new Promise((answer) => {
      this.question = { dialog, answer };
    });
  }

  /** A late answer to an earlier question does not close the one that is open. */
  #answer(question: Question, values: Readonly<Record<string, string>> | undefined): void {
    if (this.question !== question) return;
    this.question = undefined;
    question.answer(values);
  }

  /** A button that is disabled while its action runs loses the focus, which a dialog could not give back then. */
  #focusAgain(): void {
    const pressed = this.#pressed;
    if (this.busy > 0 || !pressed) return;
    this.#pressed = undefined;
    if (document.activeElement === document.body && pressed.isConnected) pressed.focus();
  }

  async #act<T>(run: () => Promise<T>, done?: string, undo?: () => Promise<unknown>): Promise<T | undefined> {
    const { activeElement } = document;
    if (activeElement instanceof HTMLButtonElement && !activeElement.closest('dialog'))
      this.#pressed = activeElement;
    this.busy += 1;
    try {
      const result = await withFreshSignIn(run, this.#signInHost);
      if (result === undefined) return undefined;
      if (done !== undefined) this.#say(done, undo);
      await this.#load();
      if (done !== undefined && this.#view) void this.#count(this.#view, true);
      return result.value;
    } catch (error) {
      await this.#tell(error);
      return undefined;
    } finally {
      this.busy -= 1;
    }
  }

  async #prove(): Promise<boolean> {
    try {
      return this.session !== undefined && (await prove(this.session, this.#signInHost));
    } catch (error) {
      await this.#tell(error);
      return false;
    }
  }

  get #signInHost(): SignInHost {
    const { apiUrl } = this;
    return {
      apiUrl,
      enter: (session) => this.#enter(session),
      ask: (dialog) => this.#ask(dialog),
      say: (text) => this.#say(text),
    };
  }

  /** Says why an action failed; a session that has ended needs a sign-in instead. */
  async #tell(error: unknown): Promise<void> {
    if (isSignedOut(error)) this.signIn = { name: 'asking' };
    else await this.#ask(failureDialog(error));
  }

  #say(text: string, undo?: () => Promise<unknown>): void {
    const end = () => {
      clearTimeout(this.#sayTimer);
      this.toast = undefined;
    };
    end();
    const undoNow = () => {
      end();
      if (undo) void this.#act(undo, texts.undone);
    };
    this.toast = { text, undo: undo && undoNow };
    this.#sayTimer = setTimeout(end, undo ? undoMs : sayMs);
  }

  async #signOut(everywhere: boolean): Promise<void> {
    const api = createApi(this.apiUrl, 'test');
    try {
      await api(peopleApi.session.remove, { body: { everywhere } });
    } catch (error) {
      if (!isSignedOut(error)) return void this.#ask(failureDialog(error));
    }
    this.#leave();
    this.session = undefined;
    this.#view = undefined;
    this.shown = { name: 'loading' };
    this.signIn = { name: 'asking' };
  }

  async #usePasskey(): Promise<void> {
    try {
      this.#enter(await signInByPasskey(createApi(this.apiUrl, 'test')));
      this.signIn = undefined;
      this.#open();
    } catch (error) {
      // The browser has shown the error, or the person has cancelled.
      this.signIn =
        error instanceof CallFailure ? { name: 'failed', message: error.message } : { name: 'asking' };
    }
  }
}
