/** `<checkout-console>`: sign-in, the menu, the mode, and the page of the address. */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import {
  allows,
  consoleStart,
  peopleApi,
  type ConsoleSession,
  type ConsoleStart,
} from '../src/contract/console-people.js';
import { drawOrAnew, ForeignDom } from '../src/foreign-dom.js';
import { CallFailure, createApi, type Mode } from './api.js';
import { readCounts, type Counts } from './attention.js';
import { setCommandLine } from './command-line.js';
import { prove, withFreshSignIn, type SignInHost } from './fresh-sign-in.js';
import { press } from './keyboard.js';
import { common, shellTexts as texts } from './messages/common.js';
import type { Page, View } from './page.js';
import { signInByPasskey } from './passkeys.js';
import { partsOf, placeOf, places, type Place } from './pages.js';
import { formatRoute, parseRoute, type Query, type Route } from './route.js';
import { failureDialog, isSignedOut, messageOf } from './problems.js';
import { searchRoute } from './search.js';
import {
  initial,
  isCountDue,
  isOtherPage,
  reduce,
  type Action,
  type Open,
  type Question,
  type ShellState,
} from './shell-state.js';
import { frame, loadingView, problemView, toastView } from './shell-views.js';
import { signInView, takeToken, type SignIn } from './sign-in.js';
import { dialogView, type Dialog } from './ui/dialog.js';
import { markCuts } from './ui/whole.js';
import { Visit, type VisitHost } from './visit.js';
import { describeZone, setShopZone } from './zone.js';

/** Duration of a notice, and of one whose action can be undone. */
const sayMs = 4_000;
const undoMs = 10_000;

export class CheckoutConsole extends LitElement {
  static override readonly properties = {
    base: {},
    apiUrl: { attribute: 'api-url' },
    commandLine: { attribute: 'command-line' },
    state: { state: true },
  };

  declare base: string;
  declare apiUrl: string;
  declare commandLine: string;
  /** Changed only by `reduce`. */
  declare state: ShellState;

  /** Aborted when the element is removed. */
  #connection = new AbortController();
  /** The visit to the page at the current address, while it is open. */
  #visit: Visit | undefined;
  /** The server's mark of the first page's payment, before it was read. */
  #seen: string | undefined;
  #pressed: HTMLElement | undefined;
  #sayTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.base = '';
    this.apiUrl = '';
    this.commandLine = '';
    this.state = initial;
    new ForeignDom(this, () => this.#open?.content ?? this.state.screen);
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
    addEventListener('popstate', () => this.#openAddress(), { signal });
    addEventListener('hashchange', () => void this.#begin(), { signal });
    addEventListener('click', (event) => this.#openLink(event), { signal });
    addEventListener('resize', () => markCuts(this), { signal });
    addEventListener('keydown', (event) => this.#press(event), { signal });
    document.addEventListener('visibilitychange', () => this.#visit?.watch(), { signal });
    void this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connection.abort();
    this.#visit?.end();
    clearTimeout(this.#sayTimer);
  }

  #dispatch(action: Action): void {
    this.state = reduce(this.state, action);
  }

  get #open(): Open | undefined {
    const { screen } = this.state;
    return screen.name === 'open' ? screen : undefined;
  }

  protected override update(changed: PropertyValues): void {
    drawOrAnew(this, () => super.update(changed));
  }

  protected override render(): TemplateResult {
    const { screen, question, toast } = this.state;
    const rest = html`${question ? dialogView(question.dialog, (values) => this.#answer(question, values)) : nothing}
    ${toastView(toast)}`;
    switch (screen.name) {
      case 'starting':
        return html`<p class="wait" role="status">…</p>`;
      case 'signing-in':
        return html`${signInView(screen.signIn, () => void this.#usePasskey())} ${rest}`;
      case 'open':
        return html`${this.#frame(screen)} ${rest}`;
      default:
        return screen satisfies never;
    }
  }

  #frame(open: Open): TemplateResult {
    const { session, route, content, menu } = open;
    const isSeen = ({ permission }: Place) => allows(session, permission);
    const shown = places.filter((one) => one.label && !one.parent && isSeen(one));
    const page = placeOf(route.page);
    const aheadMs = route.mode === 'test' ? this.state.aheadMs : 0;
    const entryOf = ({ name, label = '' }: Place) => ({
      label,
      href: formatRoute(this.base, route.mode, name),
    });
    return frame({
      session,
      mode: route.mode,
      aheadMs,
      menu: shown.map((one) => ({
        ...entryOf(one),
        count: countOf(menu.counts, one.name),
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
      zone: describeZone(Date.now() + aheadMs),
      content: this.#content(open),
      isReading: content.name === 'page' && content.isOld === true,
    });
  }

  protected override updated(): void {
    const title = this.#open && this.#title(this.#open);
    if (title !== undefined) document.title = title;
    this.#focusAgain();
    this.querySelector<HTMLDialogElement>('dialog:not([open])')?.showModal();
    markCuts(this);
  }

  /** The tab's title. The previous one stays while a page loads. */
  #title({ session, route, content }: Open): string | undefined {
    const view = this.#visit?.view;
    const failed = placeOf(route.page)?.label ?? texts.failed;
    const of = (title: string) => `${title} · ${session.merchant.name}`;
    if (content.name === 'problem') return of(content.title ?? failed);
    return content.name === 'page' && view ? of(content.page.title(view, content.data)) : undefined;
  }

  #content({ route, content }: Open): TemplateResult {
    const view = this.#visit?.view;
    const place = placeOf(route.page);
    const home = formatRoute(this.base, route.mode, 'home');
    if (content.name === 'problem') {
      return html`<h1>${content.title ?? place?.label ?? texts.failed}</h1>
        ${problemView(content, () => this.#openAddress(), home)}`;
    }
    if (content.name === 'loading' || !view) {
      return loadingView(place?.label ?? placeOf(place?.parent ?? '')?.label ?? common.loading);
    }
    const { page, data, problem } = content;
    return html`${problem ? problemView(problem, () => void this.#visit?.read(), home) : nothing}
      <h1 tabindex="-1">${page.title(view, data)}</h1>
      ${page.render(data, view)}`;
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
      return;
    }
    // Far from the server, it is faster to fetch the page's script and the session in parallel.
    placeOf(parseRoute(this.base, location)?.page ?? 'home')
      ?.load()
      .catch(() => undefined);
    try {
      if (token !== undefined) {
        this.#showSignIn({ name: 'working' });
        this.#enter((await api(peopleApi.session.create, { body: { token } }, signal)).data);
      } else {
        this.#enter((await api(peopleApi.session.retrieve, {}, signal)).data);
      }
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof CallFailure ? error.code : 'unexpected';
      if (code === 'session_required') this.#showSignIn({ name: 'asking' });
      else if (token !== undefined && code === 'not_found') this.#showSignIn({ name: 'ended' });
      else this.#showSignIn({ name: 'failed', message: messageOf(error) });
    }
  }

  /** The session as the document has it, once: later it may have ended. */
  #takeStart(): ConsoleStart | undefined {
    const text = this.getAttribute('start');
    this.removeAttribute('start');
    // During an upgrade, the document may be of another version than this script.
    return text === null ? undefined : consoleStart.safeParse(JSON.parse(text)).data;
  }

  #showSignIn(signIn: SignIn): void {
    this.#visit?.end();
    this.#visit = undefined;
    this.#dispatch({ type: 'sign-in-shown', signIn });
  }

  /** Opens the page of the address with a session. */
  #enter(session: ConsoleSession): void {
    setShopZone(session.merchant.timeZone);
    this.#openAddress(session);
  }

  /** Shows the page of the address, if somebody is signed in. */
  #openAddress(session = this.#open?.session): void {
    if (!session) return;
    const { route, asked } = this.#takeRoute(session);
    const { screen } = this.state;
    const isOther = isOtherPage(screen, route);
    this.#visit?.end();
    this.#visit = new Visit(this.#visitHost, (signal) => this.#viewOf(route, session, signal), this.#seen);
    this.#seen = undefined;
    this.#dispatch({ type: 'opened', session, route });
    const place = placeOf(route.page);
    if (place && allows(session, place.permission)) {
      void this.#show(this.#visit, place.load, isOther, asked);
    }
  }

  /** The address as a page, and the action that it starts. */
  #takeRoute({ modes }: ConsoleSession): { readonly route: Route; readonly asked: string | null } {
    let route = parseRoute(this.base, location);
    if (!route || !modes.includes(route.mode)) {
      // Real money waits there for people who come by a link.
      const mode = modes.includes('live') ? 'live' : 'test';
      route = { mode, page: 'home', id: undefined, query: new URLSearchParams() };
      history.replaceState(null, '', formatRoute(this.base, mode, 'home'));
    }
    const asked = route.query.get('do');
    if (asked !== null) {
      // Started once: not again when the page is read again, or by Back.
      route.query.delete('do');
      const { mode, page, id, query } = route;
      history.replaceState(null, '', formatRoute(this.base, mode, page, id, Object.fromEntries(query)));
    }
    return { route, asked };
  }

  async #show(
    visit: Visit,
    load: () => Promise<{ readonly default: Page }>,
    isOther: boolean,
    asked: string | null,
  ): Promise<void> {
    const { signal } = visit;
    try {
      const { default: page } = await load();
      if (signal.aborted) return;
      await visit.start(page);
      if (isOther) await this.#arrive(signal);
      // A page that leads on to another, as the settings do, takes the action along.
      const view = this.#visit?.view;
      if (asked !== null && view && !view.signal.aborted) await page.actions?.[asked]?.(view);
    } catch (error) {
      const problem = { name: 'problem', text: messageOf(error) } as const;
      if (!signal.aborted) this.#dispatch({ type: 'failed', problem });
    }
  }

  /** Keyboards and screen readers continue at the new page's heading. */
  async #arrive(signal: AbortSignal): Promise<void> {
    await this.updateComplete;
    if (signal.aborted) return;
    scrollTo(0, 0);
    this.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  get #visitHost(): VisitHost {
    return {
      apiUrl: this.apiUrl,
      contentOf: () => this.#open?.content,
      dispatch: (action) => this.#dispatch(action),
      count: (view) => void this.#count(view),
      askToSignIn: () => this.#showSignIn({ name: 'asking' }),
    };
  }

  /** Reads the numbers in the menu, at most every half minute, and at once after a change. */
  async #count(view: View, isAtOnce = false): Promise<void> {
    const open = this.#open;
    const { mode } = view;
    const now = Date.now();
    if (!open || !(isAtOnce || isCountDue(open, mode, now))) return;
    if (document.hidden || !view.can('home.retrieve')) return;
    this.#dispatch({ type: 'counting', mode, now });
    try {
      this.#dispatch({ type: 'counted', counts: await readCounts(view.api, view.signal) });
    } catch {
      // The page says what is wrong.
      this.#dispatch({ type: 'counting-failed', mode });
    }
  }

  #viewOf(route: Route, session: ConsoleSession, signal: AbortSignal): View {
    const { mode } = route;
    const isBusy = () => this.state.busy > 0;
    return {
      api: createApi(this.apiUrl, mode, (at) => this.#hearClock(mode, at)),
      apiUrl: this.apiUrl,
      session,
      mode,
      id: route.id ?? '',
      query: route.query,
      now: () => Date.now() + (mode === 'test' ? this.state.aheadMs : 0),
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
    const isAhead = mode === 'test' && aheadMs > 5 * 60_000;
    this.#dispatch({ type: 'clock-heard', aheadMs: isAhead ? aheadMs : 0 });
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
    this.#openAddress();
  }

  #filter(query: Query): void {
    const route = this.#open?.route;
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
    // A dialog reports its close in a later task: the question would still be open for the next key.
    if (this.querySelector('dialog[open]')) return;
    press(event, this, {
      showKeys: () => void this.#showKeys(),
      openPalette: () => void this.#openPalette(),
    });
  }

  async #showKeys(): Promise<void> {
    const { keyboardDialog } = await import('./keyboard-dialog.js');
    // Another question may be open by now, and asking would answer it.
    if (!this.querySelector('dialog[open]')) await this.#ask(keyboardDialog);
  }

  async #openPalette(): Promise<void> {
    const view = this.#visit?.view;
    const open = this.#open;
    if (!view || !open) return;
    const { openPalette } = await import('./palette.js');
    openPalette(view, this.#otherMode(open.route, open.session));
  }

  #ask(dialog: Dialog): Promise<Readonly<Record<string, string>> | undefined> {
    this.state.question?.answer(undefined);
    return new Promise((answer) => {
      this.#dispatch({ type: 'asked', question: { dialog, answer } });
    });
  }

  #answer(question: Question, values: Readonly<Record<string, string>> | undefined): void {
    this.#dispatch({ type: 'answered', question });
    question.answer(values);
  }

  /** A button that is disabled while its action runs loses the focus, which a dialog could not give back then. */
  #focusAgain(): void {
    const pressed = this.#pressed;
    if (this.state.busy > 0 || !pressed) return;
    this.#pressed = undefined;
    if (document.activeElement === document.body && pressed.isConnected) pressed.focus();
  }

  async #act<T>(run: () => Promise<T>, done?: string, undo?: () => Promise<unknown>): Promise<T | undefined> {
    const { activeElement } = document;
    if (activeElement instanceof HTMLButtonElement && !activeElement.closest('dialog'))
      this.#pressed = activeElement;
    this.#dispatch({ type: 'action-started' });
    try {
      const result = await withFreshSignIn(run, this.#signInHost);
      if (result === undefined) return undefined;
      if (done !== undefined) this.#say(done, undo);
      await this.#visit?.read();
      if (done !== undefined && this.#visit) void this.#count(this.#visit.view, true);
      return result.value;
    } catch (error) {
      await this.#tell(error);
      return undefined;
    } finally {
      this.#dispatch({ type: 'action-ended' });
    }
  }

  async #prove(): Promise<boolean> {
    try {
      const session = this.#open?.session;
      return session !== undefined && (await prove(session, this.#signInHost));
    } catch (error) {
      await this.#tell(error);
      return false;
    }
  }

  get #signInHost(): SignInHost {
    const { apiUrl } = this;
    return {
      apiUrl,
      enter: (session) => {
        setShopZone(session.merchant.timeZone);
        this.#dispatch({ type: 'session-read', session });
      },
      ask: (dialog) => this.#ask(dialog),
      say: (text) => this.#say(text),
    };
  }

  /** Says why an action failed; a session that has ended needs a sign-in instead. */
  async #tell(error: unknown): Promise<void> {
    if (isSignedOut(error)) this.#showSignIn({ name: 'asking' });
    else await this.#ask(failureDialog(error));
  }

  #say(text: string, undo?: () => Promise<unknown>): void {
    const end = () => {
      clearTimeout(this.#sayTimer);
      this.#dispatch({ type: 'toast', toast: undefined });
    };
    end();
    const undoNow = () => {
      end();
      if (undo) void this.#act(undo, texts.undone);
    };
    this.#dispatch({ type: 'toast', toast: { text, undo: undo && undoNow } });
    this.#sayTimer = setTimeout(end, undo ? undoMs : sayMs);
  }

  async #signOut(everywhere: boolean): Promise<void> {
    const api = createApi(this.apiUrl, 'test');
    try {
      await api(peopleApi.session.remove, { body: { everywhere } });
    } catch (error) {
      if (!isSignedOut(error)) return void this.#ask(failureDialog(error));
    }
    this.#showSignIn({ name: 'asking' });
  }

  async #usePasskey(): Promise<void> {
    try {
      this.#enter(await signInByPasskey(createApi(this.apiUrl, 'test')));
    } catch (error) {
      // The browser has shown the error, or the person has cancelled.
      this.#showSignIn(
        error instanceof CallFailure ? { name: 'failed', message: error.message } : { name: 'asking' },
      );
    }
  }
}

/** The count of a menu entry, with the pages that belong to it; undefined if none of them has one. */
function countOf(counts: Counts, name: string): number | undefined {
  const own = Object.entries(counts).filter(([page]) => (placeOf(page)?.parent ?? page) === name);
  return own.length === 0 ? undefined : own.reduce((sum, [, count]) => sum + count, 0);
}
